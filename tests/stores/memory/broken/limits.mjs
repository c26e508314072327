// Stores that are broken in the limits of what they hold.

import { StoreError } from 'statepad';
import { changing, context, each, filtered, refusing, reopening, without } from './ways.mjs';

const encoder = new TextEncoder();
const bytes = (text) => encoder.encode(text).length;
/** The size of values, by a function that counts a name and the text of its value. */
const sizeOf = (values, count) => Object.entries(values).reduce((sum, [name, value]) => sum + count(name, value), 0);
const inBytes = (name, value) => bytes(name) + bytes(JSON.stringify(value));

/** A store whose changes have other limits. `map` gets the change, too. */
const limiting = (map) =>
  changing(({ limits, ...change }) => ({ ...change, ...(limits && { limits: map(limits, change) }) }));

/** A store that allows so much more than it is told. */
const more = (name, difference) =>
  limiting((limits) => (limits[name] === undefined ? limits : { ...limits, [name]: limits[name] + difference }));

const beyond = (details) => new StoreError('limit', 'it is too much', details);

/** A store that counts the first values of a session otherwise. */
const counting = (count) => (store) => ({
  commit: async (change) => {
    const { kind, delta, limits: { state, ...limits } = {} } = change;
    if (kind !== 'create' || state === undefined) {
      return await store.commit(change, context);
    }
    const size = sizeOf(delta.session?.set ?? {}, count);
    if (size > state) {
      throw beyond({ exceeded: 'state', size, limit: state, scope: 'session' });
    }
    return await store.commit({ ...change, limits }, context);
  },
});

/** A store that refuses some changes before it looks at anything else. */
const refusingFirst = (refuse) => (store) => ({
  commit: async (change) => {
    const error = await refuse(change, store);
    if (error) {
      throw error;
    }
    return await store.commit(change, context);
  },
});

/** A store that refuses what exceeds limits otherwise. */
const refusingBeyond = (map) =>
  refusing(async (error, change, store) => (error.code === 'limit' ? await map(error, change, store) : error));

/** The refusal without some of its details. */
const saying = (...members) =>
  refusingBeyond((error) => beyond(filtered({ ...error }, (name) => members.includes(name))));

const NAMES = ['exceeded', 'size', 'limit', 'scope', 'key'];

export const brokenLimits = {
  'has no limits': changing(without('limits')),
  ...Object.fromEntries(
    ['value', 'state', 'keys', 'events'].flatMap((name) => [
      [`has no limit of ${name}`, limiting(without(name))],
      [`takes one more than the limit of ${name}`, more(name, 1)],
      [`takes one less than the limit of ${name}`, more(name, -1)],
    ]),
  ),
  ...Object.fromEntries(
    NAMES.map((member) => [
      `does not say the ${member} of what exceeds a limit`,
      saying(...NAMES.filter((name) => name !== member)),
    ]),
  ),
  'has no limits among many': (store) => ({
    commitMany: (changes) => store.commitMany(changes.map(without('limits')), context),
  }),
  'writes nothing when one of many exceeds a limit': (store) => ({
    commitMany: async (changes) => {
      const answers = await store.commitMany(changes, context);
      const refused = answers.find(({ code }) => code === 'limit');
      return refused ? answers.map(() => refused) : answers;
    },
  }),
  'has no limits in updates': limiting((limits, { kind }) => (kind === 'update' ? {} : limits)),
  'has no limits in creations': limiting((limits, { kind }) => (kind === 'create' ? {} : limits)),
  'counts characters': counting((name, value) => name.length + JSON.stringify(value).length),
  'counts code points': counting((name, value) => [...name].length + [...JSON.stringify(value)].length),
  'counts no names': counting((_name, value) => bytes(JSON.stringify(value))),
  'counts the characters of names': counting((name, value) => name.length + bytes(JSON.stringify(value))),
  'counts no quotes and escapes': counting((name, value) =>
    typeof value === 'string' ? bytes(name) + 2 + bytes(value) : inBytes(name, value),
  ),
  'counts a lone surrogate as it would be encoded': counting((name, value) =>
    value === '\ud800' ? bytes(name) + 2 + bytes(value) : inBytes(name, value),
  ),
  'refuses what is beyond a limit although it does not grow': refusingFirst(
    async ({ key, limits: { state } = {} }, store) => {
      const loaded = state === undefined || !key.sessionId ? null : await store.load(key, {}, context);
      const size = loaded && sizeOf(loaded.state.session, inBytes);
      return size > state && beyond({ exceeded: 'state', size, limit: state, scope: 'session' });
    },
  ),
  'refuses any name beyond the limit of names, also one that is there': refusingFirst(
    async ({ key, delta, limits: { keys } = {} }, store) => {
      const loaded = keys === undefined || !key.sessionId ? null : await store.load(key, {}, context);
      const size = loaded && Object.keys(loaded.state.session).length + Object.keys(delta.session?.set ?? {}).length;
      return size > keys && beyond({ exceeded: 'keys', size, limit: keys, scope: 'session' });
    },
  ),
  'compares the values of a delta': refusingFirst(({ delta, limits: { value: limit } = {} }) =>
    Object.entries(delta.session?.set ?? {})
      .filter(([, value]) => bytes(JSON.stringify(value)) > limit)
      .map(([key, value]) =>
        beyond({ exceeded: 'value', size: bytes(JSON.stringify(value)), limit, scope: 'session', key }),
      )
      .at(0),
  ),
  'refuses a large value that an operator leaves as it is': refusingFirst(({ operators, limits: { value } = {} }) =>
    value === 1 && operators?.session?.s ? beyond({ exceeded: 'value', scope: 'session', key: 's' }) : undefined,
  ),
  'does not count what operators add': limiting((limits, { operators }) =>
    operators === undefined ? limits : without('state')(without('keys')(limits)),
  ),
  'compares the events with the limit in a creation': refusingFirst(
    ({ kind, limits: { events } = {} }) =>
      kind === 'create' && events === 0 && beyond({ exceeded: 'events', size: 1, limit: 0 }),
  ),
  'looks at the limits before all else': refusingFirst(
    ({ kind, limits: { events } = {} }) =>
      kind === 'append' && events === 0 && beyond({ exceeded: 'events', size: 1, limit: 0 }),
  ),
  'looks at the limits before the guard': refusing((error, { limits }) =>
    error.code === 'conflict' && limits?.events === 0 ? beyond({ exceeded: 'events', size: 1, limit: 0 }) : error,
  ),
  'looks at the limits before the operators': refusing((error, { limits }) =>
    error.code === 'rejected' && limits?.events === 0 ? beyond({ exceeded: 'events', size: 1, limit: 0 }) : error,
  ),
  'looks at the events last': refusingBeyond((error, { limits: { keys } }) =>
    error.exceeded === 'events' && keys === 0 ? beyond({ exceeded: 'keys', size: 1, limit: 0, scope: 'app' }) : error,
  ),
  'looks at the bytes before the names': refusingBeyond((error, { limits: { state } }) =>
    error.exceeded === 'keys' && state === 0
      ? beyond({ exceeded: 'state', size: 4, limit: 0, scope: error.scope })
      : error,
  ),
  'looks at the names before the values': refusingBeyond((error, { limits: { keys } }) =>
    error.exceeded === 'value' && keys === 0 ? beyond({ exceeded: 'keys', size: 3, limit: 0, scope: 'app' }) : error,
  ),
  'looks at the session before the app': refusingBeyond((error, { delta, limits: { keys } }) => {
    const size = Object.keys(delta.session?.set ?? {}).length;
    return error.scope === 'app' && size > keys
      ? beyond({ exceeded: 'keys', size, limit: keys, scope: 'session' })
      : error;
  }),
  'does not remember a call that exceeded a limit': changing(({ attempt, limits, ...change }) => ({
    ...change,
    ...(limits === undefined ? attempt && { attempt } : { limits }),
  })),
  'remembers a first call that exceeded a limit': changing((change) =>
    change.limits === undefined ? change : { attempt: 2, ...change },
  ),
  'has counted nothing when it is opened again': reopening(changing(without('limits'))),
  'does not count what another store writes': each((store, which) =>
    which === 'first' ? changing(without('limits'))(store) : {},
  ),
  'counts a removed session on': (store) => {
    const removed = new Set();
    return {
      remove: async (key, _context, guard) => {
        removed.add(JSON.stringify(key));
        await store.remove(key, context, guard);
      },
      ...limiting((limits, { kind, key }) =>
        kind === 'create' && removed.has(JSON.stringify(key)) && limits.keys !== undefined
          ? { ...limits, keys: limits.keys - 1 }
          : limits,
      )(store),
    };
  },
  'counts values on that were deleted with their scope': (store) => {
    let count = 0;
    return {
      removeScope: async (scope) => {
        count += 1;
        await store.removeScope(scope, context);
      },
      ...limiting((limits) => (limits.keys === undefined ? limits : { ...limits, keys: limits.keys - count }))(store),
    };
  },
};
