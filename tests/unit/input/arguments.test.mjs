// Wrong arguments, whatever they are, at every public entrance: each is told of with a StatepadError, and nothing
// else.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import {
  DELETED,
  InMemorySessionService,
  SessionService,
  StatepadError,
  Template,
  createEvent,
  createEventActions,
  injectSessionState,
  isFinalResponse,
  isStatepadError,
  isStoreError,
  ready,
} from 'statepad';
import { exportLines, openLines } from 'statepad/jsonl';
import { journalStore } from 'statepad/stores/journal';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, runs } from '../../support/fixtures.mjs';

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
/** Stands for one: the generator looks at its values. */
const REVOKED = Symbol('revoked');
class Instance {
  appName = 'app';
  get id() {
    return 's';
  }
}
/** Values that nobody means to pass, and any values at all. */
const junk = fc.oneof(
  fc.constantFrom(
    undefined,
    null,
    NaN,
    -1,
    0,
    0.5,
    1,
    2 ** 60,
    Infinity,
    '',
    'x',
    '\ud800',
    true,
    false,
    1n,
    Symbol('x'),
    Symbol.iterator,
    {},
    [],
    [null],
  ),
  fc.constantFrom(
    () => undefined,
    async () => 'x',
    new Map(),
    new Set(),
    new Date(0),
    new Date(NaN),
    /x/,
    new Error('x'),
    Promise.resolve(),
    new Uint8Array(2),
  ),
  fc.constantFrom(
    Object.create(null),
    new Instance(),
    runInNewContext('({})'),
    runInNewContext('[]'),
    runInNewContext('new Map()'),
    globalThis,
    Object(1),
    DELETED,
  ),
  fc.constantFrom(
    { parts: [null] },
    { parts: 7 },
    { aborted: true },
    { stateDelta: 7 },
    { state: null },
    { statepad: { deleted: 7 } },
    { then: 7 },
  ),
  fc.constant(REVOKED),
  fc.anything({
    maxDepth: 2,
    withBigInt: true,
    withDate: true,
    withMap: true,
    withNullPrototype: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
);

/**
 * Every list of arguments that differs from `valid` in one place: an argument, or a member of one, or of a member of
 * it.
 */
function damaged(valid) {
  const places = placesOf(valid, 3);
  return fc
    .tuple(fc.constantFrom(...places), junk, fc.boolean())
    .map(([place, value, isGone]) => replaced(valid, place, value, isGone));
}

function placesOf(value, depth) {
  if (depth === 0 || !isPlain(value)) {
    return [[]];
  }
  return Object.keys(value).flatMap((name) => [
    [name],
    ...placesOf(value[name], depth - 1).map((rest) => [name, ...rest]),
  ]);
}

function replaced(value, [name, ...rest], by, isGone) {
  if (name === undefined) {
    return by;
  }
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (isGone && rest.length === 0) {
    delete copy[name];
  } else {
    copy[name] = replaced(value[name], rest, by, isGone);
  }
  return copy;
}

const signal = new AbortController().signal;
const event = {
  id: 'e',
  invocationId: 'i',
  author: 'a',
  timestamp: 1,
  partial: false,
  branch: 'b',
  longRunningToolIds: ['x'],
  customMetadata: { statepad: { deleted: [] } },
  content: { role: 'model', parts: [{ text: 'x' }] },
  actions: { stateDelta: { x: { y: [1] }, z: DELETED }, artifactDelta: {}, requestedAuthConfigs: {} },
};
const adkContext = {
  invocationContext: { session: { state: { x: 1 } }, artifactService: { loadArtifact: async () => ({ text: 'x' }) } },
};
const medium = {
  append: async () => undefined,
  read: () => [],
  open: async () => undefined,
  close: async () => undefined,
  durability: 'disk',
};

/** By name: how it is called, and with which arguments it succeeds. */
const calls = {
  'new SessionService': [
    (...given) => new SessionService(...given),
    [
      {
        now: Date.now,
        store: memoryStore(),
        migrate: 'create',
        timeout: 1,
        retry: { attempts: 1, pause: 1 },
        cachedEvents: 1,
      },
    ],
  ],
  'new InMemorySessionService': [
    (...given) => new InMemorySessionService(...given),
    [{ persist: async () => undefined, restore: () => [] }],
  ],
  'new Template': [(...given) => new Template(...given), ['x {y}']],
  'Template.escape': [(...given) => Template.escape(...given), ['x']],
  'template.render': [
    (...given) => new Template('{x}{artifact.a?}').render(...given),
    [{ state: { x: 1 }, artifact: () => 'x' }],
  ],
  'template.renderAsync': [
    (...given) => new Template('{x}{artifact.a?}').renderAsync(...given),
    [{ state: { x: 1 }, artifact: async () => 'x' }],
  ],
  injectSessionState: [injectSessionState, ['{x}{artifact.a?}', { state: { x: 1 }, artifact: async () => 'x' }]],
  'injectSessionState of ADK': [injectSessionState, ['{x}{artifact.a?}', adkContext]],
  createEvent: [createEvent, [event]],
  createEventActions: [createEventActions, [event.actions]],
  isFinalResponse: [isFinalResponse, [event]],
  isStatepadError: [isStatepadError, [new StatepadError('CLOSED', 'x')]],
  isStoreError: [isStoreError, [new Error('x')]],
  ready: [ready, []],
  journalStore: [journalStore, [medium]],
  memoryStore: [memoryStore, []],
  openLines: [
    openLines,
    ['{"kind":"session","appName":"a","userId":"u","id":"s","timestamp":1,"state":{}}', { now: Date.now }],
  ],
  exportLines: [
    async (...given) => await Array.fromAsync(exportLines(...given)),
    [new SessionService(), { appName: 'a', userId: 'u' }, { signal }],
  ],
};
/** And the methods of a service that has the session. */
const methods = {
  createSession: [{ ...KEY, sessionId: undefined, state: { x: 1 }, signal }],
  getSession: [{ ...KEY, config: { numRecentEvents: 1, afterTimestamp: 1 }, signal }],
  getOrCreateSession: [{ ...KEY, state: { x: 1 }, signal }],
  listSessions: [{ appName: 'app', userId: 'u', limit: 1, page: 1, order: 'asc', signal }],
  listApps: [{ limit: 1, cursor: '["app"]', signal }],
  listUsers: [{ appName: 'app', limit: 1, cursor: '["u"]', signal }],
  deleteSession: [{ ...KEY, signal }],
  appendEvent: [{ session: { appName: 'app', userId: 'u', id: 's' }, event, expectedRevision: 0, signal }],
  getAppState: [{ appName: 'app', signal }],
  getUserState: [{ appName: 'app', userId: 'u', signal }],
  updateState: [KEY, () => ({ x: 2 }), { attempts: 2, author: 'a', invocationId: 'i', signal }],
  stateAt: [{ appName: 'app', userId: 'u', id: 's' }, 0, { signal }],
  history: [{ appName: 'app', userId: 'u', id: 's' }, 'x', { until: 0, last: 1, signal }],
  rewind: [
    { appName: 'app', userId: 'u', id: 's' },
    { before: 'i', signal },
  ],
  redo: [{ appName: 'app', userId: 'u', id: 's' }, { signal }],
  fork: [
    { appName: 'app', userId: 'u', id: 's' },
    { at: 0, sessionId: undefined, signal },
  ],
  lease: [
    { appName: 'app', userId: 'u', id: 's' },
    { ttl: 5, signal },
  ],
  withLease: [{ appName: 'app', userId: 'u', id: 's' }, () => 1, { ttl: 5, wait: 1, signal }],
  flush: [],
  close: [],
};
const synchronous = new Set([
  'new SessionService',
  'new InMemorySessionService',
  'new Template',
  'Template.escape',
  'template.render',
  'createEvent',
  'createEventActions',
  'isFinalResponse',
  'isStatepadError',
  'isStoreError',
  'journalStore',
  'memoryStore',
]);

/** Puts the revoked proxies in. */
function revived(value, depth = 5) {
  if (value === REVOKED) {
    return revoked();
  }
  if (depth === 0 || !isPlain(value)) {
    return value;
  }
  return Array.isArray(value)
    ? value.map((item) => revived(item, depth - 1))
    : Object.assign({}, ...Object.keys(value).map((name) => ({ [name]: revived(value[name], depth - 1) })));
}

const isPlain = (value) =>
  typeof value === 'object' &&
  value !== null &&
  [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value));

/** Fails unless a call succeeds, or fails as documented: at once, or by its promise. */
async function holds(name, call, given) {
  let answer;
  try {
    answer = call(...revived(given));
  } catch (error) {
    assert.ok(isStatepadError(error), error?.stack ?? String(error));
    assert.ok(synchronous.has(name), `${name} throws at once`);
    return;
  }
  try {
    await answer;
  } catch (error) {
    assert.ok(isStatepadError(error), error?.stack ?? String(error));
  }
}

/** Node 20 has no `Array.fromAsync`. */
Array.fromAsync ??= async (items) => {
  const all = [];
  for await (const item of items) {
    all.push(item);
  }
  return all;
};

/** One argument or member of a good call that is wrong, or nothing but wrong ones. */
const givenFor = (valid) =>
  valid.length === 0 ? fc.array(junk, { maxLength: 2 }) : fc.oneof(damaged(valid), fc.array(junk, { maxLength: 3 }));

/** Something to rewind, and something to redo. */
async function begin(service) {
  const session = { appName: KEY.appName, userId: KEY.userId, id: KEY.sessionId };
  for (const invocationId of ['i', 'j']) {
    await service.appendEvent({ session, event: { invocationId, author: 'a' } });
  }
  await service.rewind(session, { before: 'j' });
}

const numRuns = runs(300);
describe('whatever is given, only a StatepadError comes back', () => {
  for (const [name, [call, valid]] of Object.entries(calls)) {
    test(name, async () => {
      await holds(name, call, valid);
      const given = givenFor(valid);
      await fc.assert(
        fc.asyncProperty(given, async (all) => await holds(name, call, all)),
        { numRuns },
      );
    });
  }

  for (const [place, options] of Object.entries({
    'in memory': () => ({}),
    'over a store': () => ({ store: memoryStore(), retry: { attempts: 1 } }),
  })) {
    for (const [name, valid] of Object.entries(methods)) {
      test(`service.${name}, ${place}`, async () => {
        const open = async () => {
          const service = new SessionService(options());
          await service.createSession({ ...KEY, state: { x: 1 } });
          if (['rewind', 'redo'].includes(name)) {
            await begin(service);
          }
          return service;
        };
        const service = await open();
        await service[name](...valid);
        const given = givenFor(valid);
        await fc.assert(
          fc.asyncProperty(given, async (all) => {
            const fresh = await open();
            await holds(name, (...each) => fresh[name](...each), all);
            if (name !== 'deleteSession' && name !== 'close') {
              // It still works, and has the session that it had.
              assert.equal((await fresh.getSession(KEY)).id, 's');
            }
          }),
          { numRuns },
        );
      });
    }
  }

  test('service.invocation', async () => {
    const service = new SessionService();
    const session = await service.createSession(KEY);
    await fc.assert(
      fc.property(
        fc.oneof(damaged([session, { invocationId: 'i', author: 'a' }]), fc.array(junk, { maxLength: 3 })),
        (given) => {
          try {
            service.invocation(...revived(given));
          } catch (error) {
            assert.ok(isStatepadError(error), error?.stack);
          }
        },
      ),
      { numRuns },
    );
  });
});
