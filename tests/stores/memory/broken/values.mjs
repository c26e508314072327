// Stores that are broken in values, events and positions.

import {
  canonical,
  changing,
  committing,
  context,
  each,
  inOrder,
  loading,
  mapDeltas,
  filtered,
  mapped,
  showing,
  values,
  without,
} from './ways.mjs';

/** A store whose deltas become others. */
const delta = (map) => changing((change) => ({ ...change, delta: mapDeltas(change.delta, map) }));

/** A store whose values are read as if they had been written otherwise. */
const eachValue = (map) => values((state) => mapped(state, (value) => map(value)));

/** A store that confuses names. */
const confusingNames = (write) =>
  delta(({ set = {}, unset = [] }) => ({
    set: Object.fromEntries(Object.entries(set).map(([name, value]) => [write(name), value])),
    unset: unset.map(write),
  }));

export const brokenValues = {
  // Deltas.
  'forgets what is unset': delta(without('unset')),
  'forgets what is unset when it sets something': delta(({ set, unset }) => (set ? { set } : { unset })),
  'forgets a user delta': changing((change) => ({ ...change, delta: without('user')(change.delta) })),
  'takes null for a deletion': delta(({ set = {}, unset = [] }) => {
    const nulls = Object.keys(set).filter((name) => set[name] === null);
    return {
      set: filtered(set, (name) => !nulls.includes(name)),
      unset: [...unset, ...nulls],
    };
  }),
  'moves an overwritten name to the end': delta(({ set = {}, unset = [] }) => ({
    set,
    unset: [...unset, ...Object.keys(set)],
  })),
  'sorts names': values(inOrder),
  'loses __proto__': values(without('__proto__')),
  'cuts names': confusingNames((name) => name.slice(0, 1_000)),
  'takes names in any case': confusingNames((name) => name.toLowerCase()),
  'normalizes names': confusingNames((name) => name.normalize()),
  'takes a NUL for the end': confusingNames((name) => name.split('\0')[0]),
  'merges values': (store) => ({
    commit: async (change) => {
      const { state } = await store.loadScope({ app: change.key.appName }, context);
      const merge = ({ set = {}, ...rest }) => ({
        ...rest,
        set: mapped(set, (value, name) =>
          value?.constructor === Object && state[name]?.constructor === Object ? { ...state[name], ...value } : value,
        ),
      });
      return store.commit(
        { ...change, delta: { ...change.delta, ...(change.delta.app && { app: merge(change.delta.app) }) } },
        context,
      );
    },
  }),
  'writes all values of the app as it knows them': each((store) => {
    const known = new Map();
    return {
      commit: async (change) => {
        const { appName } = change.key;
        const { state } = await store.loadScope({ app: appName }, context);
        const own = known.get(appName) ?? { ...state };
        known.set(appName, own);
        const { set = {}, unset = [] } = change.delta.app ?? {};
        Object.assign(own, set);
        unset.forEach((name) => delete own[name]);
        const app = { set: own, unset: Object.keys(state).filter((name) => !(name in own)) };
        return store.commit({ ...change, delta: { ...change.delta, ...(change.delta.app && { app }) } }, context);
      },
    };
  }),
  // Values and events.
  'keeps fourteen digits': eachValue((value) => (typeof value === 'number' ? Number(value.toPrecision(14)) : value)),
  'makes an empty object an array': eachValue((value) => (JSON.stringify(value) === '{}' ? [] : value)),
  'sorts the members of values': eachValue(canonical),
  'loses NUL in values': eachValue((value) => JSON.parse(JSON.stringify(value).replaceAll('\\u0000', ''))),
  'cuts values': eachValue((value) => (typeof value === 'string' ? value.slice(0, 500_000) : value)),
  'gives values a prototype': (store) => ({
    loadScope: async (scope) => {
      const { pos, state } = await store.loadScope(scope, context);
      return { pos, state: { ...state } };
    },
  }),
  'writes events anew': showing(({ rev, data }) => ({ rev, data: JSON.stringify(JSON.parse(data)) })),
  'trims events': showing(({ rev, data }) => ({ rev, data: data.trim() })),
  // Positions.
  'has no positions': committing((committed) => ({ ...committed, pos: { app: 0, user: 0 } })),
  'loads no positions': loading((loaded) => ({ ...loaded, pos: { app: 0, user: 0 } })),
  'counts empty deltas': delta((given) => (JSON.stringify(given) === '{}' ? { unset: ['nothing'] } : given)),
  'tells the position of the app for that of the user': committing((committed) => ({
    ...committed,
    pos: { app: committed.pos.app, user: committed.pos.app },
  })),
  'deletes a scope without counting it': (store) => {
    const missing = new Map();
    const id = ({ app, user }) => JSON.stringify([app, user]);
    return {
      removeScope: async (scope) => {
        await store.removeScope(scope, context);
        missing.set(id(scope), (missing.get(id(scope)) ?? 0) + 1);
      },
      loadScope: async (scope) => {
        const { pos, state } = await store.loadScope(scope, context);
        return { pos: pos - (missing.get(id(scope)) ?? 0), state };
      },
    };
  },
  'deletes the sessions with a scope': (store) => ({
    removeScope: async (scope) => {
      await store.removeScope(scope, context);
      const { rows } = await store.list({ ...scope, descending: false }, context);
      await Promise.all(rows.map(({ key }) => store.remove(key, context)));
    },
  }),
};
