// The past of app and user values across sessions, against a model of all that was written.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DELETED, increment } from 'statepad';
import { plain } from '../contract/read.mjs';
import { USER, setting } from './fixtures.mjs';

/**
 * @typedef {import('statepad').SessionService} SessionService
 * @typedef {Record<string, number | import('statepad').Deleted>} Delta
 * @typedef {{ userId: string, sessionId: string, eventId?: string }} By the session that wrote, and by which event
 * @typedef {{ position: number, key: string, by: By | undefined, from: number | undefined, to: number | undefined
 *   }} Write
 * @typedef {{ do: string, session?: string, delta?: Delta, counts?: boolean }} Step
 */

/** @type {readonly ['app', 'user']} */
const SHARED = ['app', 'user'];

/** @param {string} sessionId */
const keyOf = (sessionId) => ({ ...USER, sessionId });
/** @param {string} sessionId */
const name = (sessionId) => ({ ...USER, id: sessionId });

/** A model of all writes, which each step changes. */
class Model {
  /** @type {Record<'app' | 'user', Map<string, number>>} */
  scopes = { app: new Map(), user: new Map() };
  positions = { app: 0, user: 0 };
  /** @type {Record<'app' | 'user', Write[]>} */
  writes = { app: [], user: [] };
  /** @type {Map<string, { own: Delta, states: Delta[] }>} */
  sessions = new Map();

  /** @param {Delta} delta @param {By} [by] */
  write(delta, by) {
    for (const scope of SHARED) {
      const own = Object.entries(delta).filter(([key]) => key.startsWith(`${scope}:`));
      if (own.length > 0) {
        this.positions[scope] += 1;
        // Deletions come first.
        for (const [key, value] of own.sort(([, a], [, b]) => Number(b === DELETED) - Number(a === DELETED))) {
          const from = this.scopes[scope].get(key);
          const to = typeof value === 'number' ? value : undefined;
          if (from !== undefined || to !== undefined) {
            this.writes[scope].push({ position: this.positions[scope], key, by, from, to });
          }
          if (to === undefined) {
            this.scopes[scope].delete(key);
          } else {
            this.scopes[scope].set(key, to);
          }
        }
      }
    }
    if (by !== undefined) {
      const session = this.sessions.get(by.sessionId) ?? { own: {}, states: [] };
      this.sessions.set(by.sessionId, session);
      for (const [key, value] of Object.entries(delta)) {
        if (!key.includes(':')) {
          session.own[key] = value;
        }
      }
      session.states.push({ ...session.own, ...Object.fromEntries([...this.scopes.app, ...this.scopes.user]) });
    }
  }
}

const key = fc.constantFrom('app:a', 'app:__proto__', 'user:a', 'user:', 'n');
const delta = fc.dictionary(key, fc.oneof(fc.integer({ min: 0, max: 9 }), fc.constant(DELETED)), { maxKeys: 4 });
/** One thing that sessions of a user do. */
export const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('append'),
      session: fc.constantFrom('s', 't'),
      delta,
      counts: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('update'), delta }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remove'), session: fc.constantFrom('s', 't') }) },
);

/**
 * Runs steps over services in turn, and over the model.
 *
 * @param {SessionService[]} services @param {Step[]} steps
 */
async function run(services, steps) {
  const model = new Model();
  let count = 0;
  for (const { do: what, session = '', delta: written = {}, counts = false } of steps) {
    const service = services[(count += 1) % services.length];
    if (what === 'update') {
      const own = Object.fromEntries(Object.entries(written).filter(([name]) => name.includes(':')));
      await service.updateState(USER, () => own);
      model.write(own);
    } else if (what === 'remove') {
      await service.deleteSession(keyOf(session));
      model.sessions.delete(session);
    } else if (model.sessions.has(session)) {
      const set = Object.fromEntries(
        Object.entries(written).filter(([name, value]) => name !== 'n' || value !== DELETED),
      );
      const counted = counts ? { 'user:count': increment(2) } : {};
      const event = setting({ ...set, ...counted }, { id: `e${count}` });
      await service.appendEvent({ session: name(session), event });
      const afterwards = (model.scopes.user.get('user:count') ?? 0) + 2;
      model.write(
        { ...set, ...(counts ? { 'user:count': afterwards } : {}) },
        { userId: USER.userId, sessionId: session, eventId: `e${count}` },
      );
    } else {
      const state = Object.fromEntries(Object.entries(written).filter(([, value]) => value !== DELETED));
      await service.createSession({ ...keyOf(session), state });
      model.write(state, { userId: USER.userId, sessionId: session });
    }
  }
  return model;
}

/**
 * Runs steps over services that share a store, and fails unless each of them tells of any session at any revision what
 * all sessions had written by then, and of each key all its writes.
 *
 * @param {SessionService[]} services @param {Step[]} steps
 */
export async function tellsThePast(services, steps) {
  const model = await run(services, steps);
  for (const service of services) {
    for (const [session, { states }] of model.sessions) {
      for (const [revision, state] of states.entries()) {
        const told = await service.stateAt(name(session), revision, { detailed: true });
        assert.deepEqual(plain(told), plain({ state, exact: true }));
      }
    }
    for (const [scope, writes] of Object.entries(model.writes)) {
      for (const key of [`${scope}:a`, `${scope}:count`, scope === 'app' ? 'app:__proto__' : 'user:']) {
        const { exact, steps: told } = await service.history({ ...USER, key });
        const expected = writes.filter((each) => each.key === key);
        assert.ok(exact);
        assert.deepEqual(
          told.map(({ position, by, from, to }) => plain({ position, by, from, to })),
          expected.map(({ position, by, from, to }) => plain({ position, by, from, to })),
        );
        for (const [session] of model.sessions) {
          const own = await service.history(name(session), key, { detailed: true });
          assert.ok(own.exact);
          for (const { event, from, to } of own.steps) {
            // Of a session that was made anew only the last one's writes are its own.
            const wrote = expected.filter(({ by }) => by?.sessionId === session && by.eventId === event?.id);
            assert.deepEqual(
              plain([from ?? null, to ?? null]),
              plain([wrote.at(-1)?.from ?? null, wrote.at(-1)?.to ?? null]),
            );
          }
        }
      }
    }
  }
}
