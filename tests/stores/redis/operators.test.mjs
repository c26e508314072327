// Operators as the script of the store in Redis resolves them: numbers are written as JSON.stringify writes them, and
// texts of values are never parsed.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { redisStore } from 'statepad/stores/redis';
import { startRedis, whyNoRedis } from '../../support/redis.mjs';
import { openIoredis } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { append, assertSame, context, create, keyOf, numbers, update, values } from './words.mjs';

const why = whyNoRedis();
const { cases } = JSON.parse(readFileSync(new URL('../../cases/operators.json', import.meta.url), 'utf8'));

const buffer = new DataView(new ArrayBuffer(8));
/** The double next to a positive one, up or down. */
function next(number, by) {
  buffer.setFloat64(0, number);
  buffer.setBigInt64(0, buffer.getBigInt64(0) + BigInt(by));
  return buffer.getFloat64(0);
}

/** Doubles that are hard to write: those around powers of two and ten, short decimals, and any. */
function hardDoubles(random) {
  const found = [0, 5e-324, Number.MAX_VALUE, Number.MAX_SAFE_INTEGER];
  const around = (number) => [-2, -1, 0, 1, 2].map((by) => next(number, by));
  for (let exponent = -1074; exponent <= 1023; exponent++) found.push(...around(2 ** exponent));
  for (let exponent = -323; exponent <= 308; exponent++) found.push(...around(Number(`1e${exponent}`)));
  for (let count = 0; count < 10_000; count++) {
    buffer.setUint32(0, random(2 ** 32));
    buffer.setUint32(4, random(2 ** 32));
    found.push(Math.abs(buffer.getFloat64(0)));
    // With some digits, and small or large.
    found.push(Number(`${random(10 ** (1 + random(9)))}e${random(40) - 20}`), random(2 ** 32) * random(2 ** 21));
    found.push(random(2 ** 31) / 2 ** random(60), Math.floor(2 ** 53 / 2 ** random(12)) * 2 ** random(20));
  }
  return [...new Set(found.filter(Number.isFinite))].map((number, index) => (index % 2 === 0 ? number : -number));
}

if (why) {
  test('redis: operators', { skip: why });
} else {
  const { admin, withPrefix } = await serverForTests(startRedis);

  /** The texts under names of the app, without what stands before them. */
  const textsOf = async (prefix) => {
    const hash = await admin.hgetall(`${prefix}:{app}:app`);
    const names = Object.keys(hash).filter((name) => name.startsWith('='));
    return Object.fromEntries(names.map((name) => [name.slice(1), hash[name].slice(hash[name].indexOf(':') + 1)]));
  };
  const app = { appName: 'app' };
  /** Updates of many names at once, some thousand in each. */
  const updateAll = async (store, id, operators) => {
    for (let first = 0; first < operators.length; first += 2_000) {
      const some = Object.fromEntries(operators.slice(first, first + 2_000));
      await store.commit(update(`${id}${first}`, app, {}, { operators: { app: some } }), context);
    }
  };

  for (const { name, value, operator, result, fault } of cases) {
    test(`the script has the same rules: ${name}`, () =>
      withPrefix(async (prefix) => {
        const store = redisStore(admin, { prefix });
        const before = value === undefined ? {} : values({ n: value, other: 1 });
        await store.commit(update('before', app, { app: before }), context);
        const change = update('operator', app, {}, { operators: { app: { n: operator } } });
        if (fault === undefined) {
          const { results } = await store.commit(change, context);
          assert.equal((await textsOf(prefix)).n, result);
          assert.equal(JSON.stringify(results.app.n), result);
        } else {
          const code = fault === 'changed' ? 'conflict' : 'rejected';
          await assert.rejects(store.commit(change, context), { name: 'StoreError', code, key: 'n', scope: 'app' });
          assert.equal((await textsOf(prefix)).n, value === undefined ? undefined : JSON.stringify(value));
        }
      }));
  }

  test('thousands of doubles are written as JSON.stringify writes them, and so are their sums', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(admin, { prefix, log: false });
      const random = numbers(11);
      const doubles = hardDoubles(random);
      assert.ok(doubles.length > 40_000);
      await updateAll(
        store,
        'doubles',
        doubles.map((number, index) => [`n${index}`, { increment: number }]),
      );
      const written = await textsOf(prefix);
      doubles.forEach((number, index) => assert.equal(written[`n${index}`], JSON.stringify(number)));
      // To each, what is about as large; where that is not finite, nothing.
      const others = doubles.map((number) => {
        const other = number * (random(2 ** 20) / 2 ** (10 + random(12)) - 1);
        return Number.isFinite(number + other) ? other : 0;
      });
      await updateAll(
        store,
        'others',
        others.map((number, index) => [`n${index}`, { increment: number }]),
      );
      const sums = await textsOf(prefix);
      doubles.forEach((number, index) => {
        assert.equal(sums[`n${index}`], JSON.stringify(number + others[index]), `${number} + ${others[index]}`);
      });
    }));

  test('values and names of any characters come through operators as they are', () =>
    withPrefix(async (prefix) => {
      const [store, memory] = [redisStore(admin, { prefix }), memoryStore()];
      const hard = [
        '\0',
        '\n',
        '"',
        '\\',
        '\x7f',
        '\u2028',
        '\ufeff',
        '😀',
        '\ud800',
        'ÿ',
        '{}',
        '[]',
        '',
        '__proto__',
      ];
      const names = hard.filter((name) => name !== '\ud800');
      const items = [...hard, 1e21, -0, [], {}, [[]], [{}], null, { a: [1, { b: [] }] }, 12345678901234567000, 0.1];
      const key = keyOf('s');
      const both = async (action) => assertSame(...(await Promise.all([action(store), action(memory)])));
      await both((each) => each.commit(create('c', key), context));
      const all = (make) => Object.fromEntries(names.map((name, index) => [name, make(items[index % items.length])]));
      let count = 0;
      for (const operators of [
        all((item) => ({ setOnce: [item] })),
        all((item) => ({ append: [item, ...items] })),
        all(() => ({ append: [] })),
        all(() => ({ append: items })),
        all(() => ({ setOnce: 1 })),
      ]) {
        count += 1;
        const change = append(`e${count}`, key, {}, { operators: { app: operators, session: operators } });
        await both((each) => each.commit(change, context));
        await both((each) => each.commit(change, context));
      }
      const { state } = await memory.load(key, {}, context);
      const compare = all(() => 0);
      names.forEach((name) => (compare[name] = { compareAndSet: { expected: state.app[name], value: name } }));
      const change = append('swap', key, {}, { operators: { app: compare }, data: '@0,0{}\n=' });
      await both((each) => each.commit(change, context));
      await both((each) => each.load(key, { events: { from: 0 } }, context));
      await both((each) => each.commit({ ...change, event: { ...change.event, data: '' } }, context));
      await both((each) => each.readLog({ app: 'app' }, {}, context));
      for (const name of names) await both((each) => each.readLog({ app: 'app' }, { name, limit: 2 }, context));
    }));

  test('what is stored and is no value is corrupt to an increment, and nothing is written', () =>
    withPrefix(async (prefix) => {
      const store = redisStore(admin, { prefix });
      await store.commit(update('u', app, { app: values({ n: 1 }) }), context);
      for (const text of ['1.2.3', '-', '1e']) {
        await admin.hset(`${prefix}:{app}:app`, '=n', `1@1:${text}`);
        const change = update(`u${text}`, app, {}, { operators: { app: { n: { increment: 1 } } } });
        const code = text === '-' ? 'rejected' : 'corrupt';
        await assert.rejects(store.commit(change, context), { name: 'StoreError', code });
        assert.equal(await admin.hget(`${prefix}:{app}:app`, '=n'), `1@1:${text}`);
      }
    }));

  test('64 clients that increment one value of an app need no second try', () =>
    withPrefix(async (prefix) => {
      const clients = await Promise.all(Array.from({ length: 64 }, () => openIoredis(admin.options)));
      const stores = clients.map(({ client }) => redisStore(client, { prefix }));
      const answers = await Promise.all(
        stores.flatMap((store, index) =>
          Array.from({ length: 10 }, (_, count) =>
            store.commit(
              update(`u${index}-${count}`, app, {}, { operators: { app: { n: { increment: 1 } } } }),
              context,
            ),
          ),
        ),
      );
      const seen = answers.map(({ results }) => results.app.n).sort((a, b) => a - b);
      assert.deepEqual(
        seen,
        Array.from({ length: 640 }, (_, index) => index + 1),
      );
      await Promise.all(clients.map(({ end }) => end()));
    }));
}
