// The store in Postgres: its translation of the client's errors, and its refusals before it asks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { postgresStore } from 'statepad/stores/postgres';
import { context, create, keyOf, systemError } from './database.mjs';

const failing = (error) => ({ query: async () => Promise.reject(error) });
const sqlError = (code, message = `a message for ${code}`) =>
  Object.assign(new Error(message), { code, severity: 'ERROR' });
/** The outcomes of a commit, and of a load, when the client fails. */
async function outcomes(error) {
  const store = postgresStore(failing(error));
  const [commit, load] = [store.commit(create(), context), store.load(keyOf(), {}, context)];
  return [await commit.catch((error) => error), await load.catch((error) => error)];
}

/** The codes of errors after which nothing is written. The disk is full at 53100. */
const undone = [
  '40P01',
  '40001',
  '55P03',
  '57014',
  '53100',
  '53200',
  '53300',
  '53400',
  '57P03',
  '57P05',
  '25006',
  '28P01',
  '3D000',
];

for (const error of [
  ...undone.map((code) => sqlError(code)),
  systemError('ECONNREFUSED', 'connect'),
  systemError('ETIMEDOUT', 'connect'),
  systemError('ENOTFOUND', 'getaddrinfo'),
  new AggregateError([systemError('ECONNREFUSED', 'connect'), systemError('EHOSTUNREACH', 'connect')]),
  new Error('timeout exceeded when trying to connect'),
  new Error('timeout expired'),
  new Error('Connection terminated due to connection timeout'),
  new Error('Cannot use a pool after calling end on the pool'),
  new Error('Client has encountered a connection error and is not queryable'),
  new Error('Client was closed and is not queryable'),
]) {
  test(`nothing is written, and another try may do: ${error.message || error.errors[0].message}`, async () => {
    for (const thrown of await outcomes(error)) {
      assert.equal(thrown.name, 'StoreError');
      assert.equal(thrown.code, 'unavailable');
      assert.equal(thrown.cause, error);
    }
  });
}

for (const code of ['54000', '54001', '22P05', '22021', '42501', '42883', '3F000']) {
  test(`nothing is written, and never will be: ${code}`, async () => {
    for (const thrown of await outcomes(sqlError(code))) {
      assert.equal(thrown.name, 'StoreError');
      assert.equal(thrown.code, 'rejected');
    }
  });
}

for (const error of [
  sqlError('57P01'),
  sqlError('57P02'),
  sqlError('08006'),
  new Error('Connection terminated unexpectedly'),
  systemError('ECONNRESET', 'read'),
  systemError('EPIPE', 'write'),
  systemError('ETIMEDOUT', 'read'),
]) {
  test(`nobody knows what became of a change, and of a read one does: ${error.message}`, async () => {
    const [commit, load] = await outcomes(error);
    assert.equal(commit, error);
    assert.equal(load.code, 'unavailable');
  });
}

for (const error of [
  sqlError('XX000'),
  sqlError('23505'),
  new Error('Query read timeout'),
  new AggregateError([new Error('who knows')]),
  'a text',
  undefined,
]) {
  test(`what says nothing is passed on as it is: ${error?.message || error}`, async () => {
    assert.deepEqual(await outcomes(error), [error, error]);
  });
}

test('a statement is sent under a name only to clients that know names, and without one when the name is lost', async () => {
  const rows = [{ data: '[1,[]]' }];
  const asked = (more = {}) => {
    const queries = [];
    return { queries, query: async (...args) => (queries.push(args), { rows }), ...more };
  };
  const [plain, pool] = [asked(), asked({ totalCount: 0, waitingCount: 0 })];
  const [client, off] = [asked({ escapeIdentifier() {} }), asked({ escapeIdentifier() {} })];
  for (const each of [plain, pool, client]) await postgresStore(each).loadScope({ app: 'a' }, context);
  await postgresStore(off, { prepare: false }).loadScope({ app: 'a' }, context);
  for (const {
    queries: [[text, values]],
  } of [plain, off]) {
    assert.match(text, /^select/);
    assert.deepEqual(values, ['a']);
  }
  for (const {
    queries: [[query, ...rest]],
  } of [pool, client]) {
    assert.deepEqual(rest, []);
    assert.match(query.name, /^statepad_\w+$/);
    assert.deepEqual([query.text, query.values], plain.queries[0]);
  }

  for (const code of ['26000', '42P05']) {
    const lost = asked({ escapeIdentifier() {} });
    const { query } = lost;
    lost.query = async (...args) => {
      await query(...args);
      if (typeof args[0] === 'object') throw sqlError(code);
      return { rows };
    };
    const store = postgresStore(lost);
    for (let i = 0; i < 2; i++) assert.equal((await store.loadScope({ app: 'a' }, context)).pos, 1);
    assert.deepEqual(
      lost.queries.map(([first]) => typeof first),
      ['object', 'string', 'string'],
    );
  }
});

test('an id or a name that is too long for an index is refused, with its size, and the others are written', async () => {
  const sent = [];
  const store = postgresStore({
    query: async (text, values) => (sent.push(values), { rows: [{ answers: '[[0,0,0]]' }] }),
  });
  const [long, longest] = ['é'.repeat(1_301), 'é'.repeat(1_300)];
  for (const change of [
    create(long),
    create('c', {}, keyOf(long)),
    create('c', {}, keyOf('s', long)),
    create('c', {}, keyOf('s', 'u', long)),
    create('c', { user: { set: { [long]: 1 } } }),
  ]) {
    await assert.rejects(store.commit(change, context), {
      name: 'StoreError',
      code: 'rejected',
      size: 2_602,
      limit: 2_600,
    });
  }
  assert.deepEqual(sent, []);
  const [good, bad] = await store.commitMany([create(longest), create(long, {}, keyOf('t'))], context);
  assert.deepEqual([good.rev, bad.code], [0, 'rejected']);
});
