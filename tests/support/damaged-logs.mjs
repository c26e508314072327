// The answers of services over damaged logs. `tests/fixtures/damaged-logs.json` has the logs, and the expected answers
// of each service that reads them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { source } from './source.mjs';

/**
 * @typedef {import('statepad').SessionService} SessionService
 * @typedef {{ revision: number, state: object, events: string[] } | string | null} SessionTold
 * @typedef {{ sessions: string[], corrupt: string[], total: number } | string} ListTold
 * @typedef {{ state: object | string | null, list: ListTold }} UserTold
 *
 * @typedef {object} Told all that a service tells of a log; an error as its code
 * @property {Record<string, SessionTold>} sessions
 * @property {object | string | null} app
 * @property {ListTold} list
 * @property {Record<string, UserTold>} users
 *
 * @typedef {string | { [member: string]: unknown, like?: string } | null} Given a record of a case
 * @typedef {Partial<Told> & { name: string, records: Given[], all?: string }} Case
 */

const {
  records: known,
  sound,
  cases,
} = JSON.parse(readFileSync(new URL('../fixtures/damaged-logs.json', import.meta.url), 'utf8'));
// The fixture says what a log looks like, and the source which fingerprint that has.
const { LAYOUT } = await source('stores/journal/version.ts');
known.version.layout = LAYOUT;

/** All logs: their names, their records as texts, and what is wanted of those who read them. */
export const damagedLogs = cases.map((/** @type {Case} */ { name, records, ...wanted }) => {
  const all = wanted.all === undefined ? merged(sound, wanted) : everywhere(sound, wanted.all);
  return { name, records: records.map(textOf), wanted: { told: all, written: wantedOfWrites(all, wanted.all) } };
});

/**
 * The answers for the sound log, with those that a case replaces.
 *
 * @param {Told} usual @param {Partial<Told>} wanted
 */
function merged(usual, { sessions, users, ...others }) {
  const ofUsers = Object.entries(usual.users).map(([id, user]) => [id, { ...user, ...users?.[id] }]);
  return {
    ...usual,
    ...others,
    sessions: { ...usual.sessions, ...sessions },
    users: Object.fromEntries(ofUsers),
  };
}

/**
 * The same code in the place of every answer.
 *
 * @param {Told} sound @param {string} code
 */
function everywhere({ sessions, users }, code) {
  /** @template V @param {object} values @param {V} value @returns {Record<string, V>} */
  const all = (values, value) => Object.fromEntries(Object.keys(values).map((name) => [name, value]));
  return { sessions: all(sessions, code), app: code, list: code, users: all(users, { state: code, list: code }) };
}

/**
 * The expected outcomes of writes to sessions with these answers.
 *
 * @param {Told} told @param {string | undefined} all
 */
function wantedOfWrites({ sessions, app, users }, all) {
  const said = Object.entries(sessions).map(([name, session]) => {
    if (session === null || typeof session === 'string') {
      const code = session ?? 'SESSION_NOT_FOUND';
      const isShared = [app, users[name.split('/')[0]].state].includes(code);
      const more = { create: code, remove: all ?? null, anew: isShared ? code : 0 };
      return [name, { append: code, update: code, ...(code === 'STORE_CORRUPT' && more) }];
    }
    return [name, { append: 'later', update: 'object' }];
  });
  return Object.fromEntries(said);
}

/**
 * A record is known by its name, or like one of these but for some members (those that are null are gone).
 *
 * @param {Given} given
 */
function textOf(given) {
  if (typeof given === 'string') {
    return JSON.stringify(known[given]);
  }
  const { like, is, ...members } = given ?? {};
  if (given === null || is !== undefined) {
    return JSON.stringify(is ?? null);
  }
  const changed = { ...known[like ?? ''], ...members };
  return JSON.stringify(changed, (name, value) => (name !== '' && value === null ? undefined : value));
}

/**
 * Callbacks over records, as texts.
 *
 * @param {string[]} records
 */
export function keeping(records) {
  return {
    persist: async (/** @type {readonly object[]} */ changes) =>
      void records.push(...changes.map((change) => JSON.stringify(change))),
    restore: () => records.map((record) => JSON.parse(record)),
  };
}

const APP = { appName: 'app' };
const USERS = ['ana', 'bob'];
const SESSIONS = ['ana/s1', 'ana/s2', 'ana/fork', 'bob/s1'];
/** @param {string} name */
const keyOf = (name) => {
  const [userId, sessionId] = name.split('/');
  return { ...APP, userId, sessionId };
};

/**
 * The value of a promise; the code of an error.
 *
 * @template T
 * @param {() => Promise<T>} ask @returns {Promise<NonNullable<T> | string | null>}
 */
async function orCode(ask) {
  try {
    return (await ask()) ?? null;
  } catch (error) {
    const { code } = /** @type {{ code?: string }} */ (error);
    assert.ok(code, String(error));
    return code;
  }
}

/** @param {object | string | null} values */
const plain = (values) => (typeof values === 'string' ? values : { ...values });

/**
 * Everything that a service tells of a log. What is missing is `null`; what cannot be told is the code of its error.
 *
 * @param {SessionService} service
 */
export async function told(service) {
  /** @type {Told['sessions']} */
  const sessions = {};
  for (const name of SESSIONS) {
    const found = await orCode(() => service.getSession(keyOf(name)));
    sessions[name] =
      found === null || typeof found === 'string'
        ? found
        : { revision: found.revision, state: { ...found.state }, events: found.events.map(({ id }) => id) };
  }
  /** @param {{ userId?: string }} request */
  const listed = async (request) => {
    const page = await orCode(() => service.listSessions({ ...APP, order: 'asc', ...request }));
    if (page === null || typeof page === 'string') return String(page);
    return {
      sessions: page.sessions.map(({ userId, id }) => `${userId}/${id}`),
      corrupt: (page.corrupt ?? []).map(({ userId, sessionId }) => `${userId}/${sessionId}`),
      total: page.totalItems,
    };
  };
  /** @type {Told['users']} */
  const users = {};
  for (const userId of USERS) {
    users[userId] = {
      state: plain(await orCode(() => service.getUserState({ ...APP, userId }))),
      list: await listed({ userId }),
    };
  }
  return { sessions, app: plain(await orCode(() => service.getAppState(APP))), list: await listed({}), users };
}

/**
 * Writes to all sessions: those that are sound take an event; those that are not refuse it, can be deleted, and their
 * ids are free then. Answers with what was said.
 *
 * @param {SessionService} service
 */
export async function written(service) {
  /** @type {Record<string, Record<string, unknown>>} */
  const said = {};
  for (const name of SESSIONS) {
    const key = keyOf(name);
    const event = { id: 'later', timestamp: 20, actions: { stateDelta: { later: 1 } } };
    const { sessionId: id, ...user } = key;
    const append = await orCode(async () => (await service.appendEvent({ session: { ...user, id }, event })).id);
    const update = await orCode(async () => typeof (await service.updateState(key, () => ({ again: 1 }))));
    said[name] = { append, update };
    if (append === 'STORE_CORRUPT') {
      said[name].create = await orCode(async () => (await service.createSession(key)).revision);
      said[name].remove = await orCode(() => service.deleteSession(key));
      said[name].anew = await orCode(async () => (await service.createSession({ ...key, state: { n: 1 } })).revision);
    }
  }
  return said;
}
