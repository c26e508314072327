// The translation of the client's errors by the store in Redis: those after which surely nothing was written, and
// those of unknown outcome. Without a server.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { redisStore } from 'statepad/stores/redis';
import { append, context, create, keyOf, update, values } from './words.mjs';

const isStoreError = ({ name }) => name === 'StoreError';

/** A client that answers every command with this error. */
function failing(error) {
  const fail = async () => {
    throw error;
  };
  return { defineCommand() {}, eval: fail, evalsha: fail };
}

for (const [text, code] of [
  ["OOM command not allowed when used memory > 'maxmemory'.", 'unavailable'],
  ['ERR Error running script (call to f_0): @user_script:7: @user_script: 7: -OOM command not allowed', 'unavailable'],
  ["READONLY You can't write against a read only replica.", 'unavailable'],
  ['LOADING Redis is loading the dataset in memory', 'unavailable'],
  ["MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", 'unavailable'],
  [
    'MISCONF Redis is configured to save RDB snapshots, but it is currently not able to persist on disk.',
    'unavailable',
  ],
  ['TRYAGAIN Multiple keys request during rehashing of slot', 'unavailable'],
  ['CLUSTERDOWN The cluster is down', 'unavailable'],
  ['BUSY Redis is busy running a script.', 'unavailable'],
  ['ERR Script killed by user with SCRIPT KILL...', 'unavailable'],
  ['NOAUTH Authentication required.', 'unavailable'],
  ['Too many Cluster redirections. Last error: MOVED', 'unavailable'],
  ['ERR max daily request limit exceeded. Limit: 10000, Usage: 10000.', 'unavailable'],
  ['ERR Protocol error: invalid bulk length', 'rejected'],
  ['ERR string exceeds maximum allowed size (512MB)', 'rejected'],
  ['ERR max request size exceeded. Limit: 1048576 bytes, Actual: 2000000 bytes', 'rejected'],
  ['WRONGTYPE Operation against a key holding the wrong kind of value', 'rejected'],
]) {
  test(`nothing is written, and that is certain: ${text}`, async () => {
    const store = redisStore(failing(new Error(text)));
    await assert.rejects(store.commit(create('c', keyOf('s')), context), { name: 'StoreError', code });
    const upstash = redisStore(failing(new Error(`Command failed: ${text}`)));
    await assert.rejects(upstash.commit(create('c', keyOf('s')), context), { name: 'StoreError', code });
  });
}

test('one that is too big tells how big it is, and how big it may be', async () => {
  const error = new Error(
    'ERR max request size exceeded. Limit: 1048576 bytes, Actual: 2000000 bytes, command was: ["eval"]',
  );
  await assert.rejects(redisStore(failing(error)).commit(create('c', keyOf('s')), context), {
    limit: 1_048_576,
    size: 2_000_000,
  });
});

// Texts that are only noted as parts of others until somebody reads them: they take no memory.
const half = 'x'.repeat(2 ** 28);
const longest = 'x'.repeat(2 ** 29 - 24);
const tooLong = () => half + half;
const noScript = () => {
  throw new Error('NOSCRIPT No matching script.');
};

for (const [name, client] of Object.entries({
  'of ioredis': { defineCommand() {}, eval: tooLong, evalsha: tooLong },
  'of ioredis, once the script is sent along': { defineCommand() {}, eval: tooLong, evalsha: async () => noScript() },
  'of redis': { eval: tooLong, evalSha: async () => tooLong() },
  'of upstash': { createScript() {}, eval: tooLong, evalsha: async () => tooLong() },
})) {
  test(`a command that is too long for a client ${name} is rejected: it never left the process`, async () => {
    const rejected = ({ code, size, message }) =>
      code === 'rejected' && size > 0 && /^the client cannot send \d+ bytes or more at once$/.test(message);
    const change = update('u', { appName: 'app' }, { app: values({ a: 1 }) });
    const store = redisStore({ isOpen: true, ...client });
    await assert.rejects(store.commit(change, context), rejected);
    const other = update('v', { appName: 'other' }, { app: values({ a: 1 }) });
    const answers = await store.commitMany([change, other], context);
    assert.deepEqual(
      answers.map((error) => isStoreError(error) && error.code),
      ['rejected', 'rejected'],
    );
  });
}

test('an event that is as long as a text can be is rejected, and nothing is sent', async () => {
  const sent = async () => assert.fail('something is sent');
  const store = redisStore({ defineCommand() {}, eval: sent, evalsha: sent });
  const { event, ...change } = append('e', keyOf('s'));
  const long = { ...change, event: { ...event, data: longest } };
  const rejected = { name: 'StoreError', code: 'rejected', size: longest.length };
  await assert.rejects(store.commit(long, context), rejected);
});

test('a change with more names than a call may have arguments is rejected, and nothing is sent', async () => {
  const sent = async () => assert.fail('something is sent');
  const store = redisStore({ defineCommand() {}, eval: sent, evalsha: sent });
  const names = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`n${index}`, 1]));
  const change = update('u', { appName: 'app' }, { app: values(names) });
  await assert.rejects(
    store.commit(change, context),
    ({ code, size, message }) => code === 'rejected' && size > 600_000 && /change fewer names/.test(message),
  );
});

test('a command that is too long for the client is beyond a limit for the caller of the service', async () => {
  const store = { ...redisStore({ defineCommand() {}, eval: tooLong, evalsha: tooLong }), open: async () => {} };
  const service = new SessionService({ store });
  const creation = service.createSession({ appName: 'app', userId: 'user', state: { a: 1 } });
  await assert.rejects(creation, ({ code, size }) => code === 'LIMIT_EXCEEDED' && size > 0);
  await service.close();
});

for (const text of [
  'Command timed out',
  'Connection is closed.',
  'Socket closed unexpectedly',
  'read ECONNRESET',
  'fetch failed',
  'Reached the max retries per request limit (which is 20).',
  'ERR DB capacity quota exceeded',
  'ERR something that nobody has seen, command was: ["eval", "OOM command not allowed", "WRONGTYPE", "\nREADONLY "]',
]) {
  test(`what became of a change is not known: ${JSON.stringify(text)}`, async () => {
    const error = new Error(text);
    const store = redisStore(failing(error));
    await assert.rejects(store.commit(create('c', keyOf('s')), context), (thrown) => thrown === error);
    await assert.rejects(store.commitMany([create('c', keyOf('s'))], context), (thrown) => thrown === error);
  });
}

test('of a batch over several apps, one that is certain to have failed does not hide what became of the others', async () => {
  const client = {
    defineCommand() {},
    eval: async () => assert.fail(),
    evalsha: async (_, count, ...rest) => {
      if (rest[0].includes('{down}')) throw new Error('CLUSTERDOWN The cluster is down');
      if (rest[0].includes('{lost}')) throw new Error('Connection is closed.');
      return [['written', 0, 1, 0]];
    },
  };
  const store = redisStore(client);
  const changeOf = (appName) => update(appName, { appName }, { app: values({ a: 1 }) });
  const answers = await store.commitMany(['up', 'down'].map(changeOf), context);
  assert.deepEqual(answers[0], { rev: 0, prev: null, pos: { app: 1, user: 0 }, before: {} });
  assert.equal(isStoreError(answers[1]) && answers[1].code, 'unavailable');
  await assert.rejects(store.commitMany(['up', 'lost'].map(changeOf), context), { message: 'Connection is closed.' });
});

test('a store that cannot listen is only without hints', async () => {
  const subscriber = {
    defineCommand() {},
    on: () => {
      throw new Error('no ear');
    },
    off() {},
    subscribe: () => new Promise(() => {}),
    unsubscribe: () => new Promise(() => {}),
  };
  for (const deaf of [subscriber, { ...subscriber, on() {} }]) {
    const store = redisStore(failing(new Error()), { subscriber: deaf });
    const stop = store.watch(() => {});
    store.watch(() => {})();
    stop();
    await store.close();
  }
});
