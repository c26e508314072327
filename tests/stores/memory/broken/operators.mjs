// Stores that are broken in operators.

import { StoreError } from 'statepad';
import { changing, committing, context, loading, mapDeltas, without } from './ways.mjs';

/** Maps each operator of a change. */
const mapOperators = (change, map) =>
  change.operators
    ? {
        ...change,
        operators: mapDeltas(change.operators, (ofScope, scope) =>
          Object.fromEntries(Object.entries(ofScope).map(([name, each]) => [name, map(each, scope, name)])),
        ),
      }
    : change;

/** A store that is given other operators. */
const operating = (map) => changing((change) => mapOperators(change, map));

/** A store that refuses operators otherwise. */
const misfitting = (map) => (store) => ({
  commit: (change) =>
    store.commit(change, context).catch((error) => {
      throw error.key === undefined ? error : map(error);
    }),
});

/** The value under a name, before the change. */
async function valueOf(store, key, scope, name) {
  const { appName: app, userId: user } = key;
  if (scope === 'session') {
    return (await store.load(key, {}, context))?.state.session[name];
  }
  return (await store.loadScope(scope === 'app' ? { app } : { app, user }, context)).state[name];
}

/** A store that makes values of operators beforehand, by itself, and sets them. */
const resolving = (resolve) => (store) => ({
  commit: async (change) => {
    const delta = { ...change.delta };
    const operators = {};
    for (const [scope, ofScope] of Object.entries(change.operators ?? {})) {
      for (const [name, operator] of Object.entries(ofScope)) {
        const value = resolve(operator, await valueOf(store, change.key, scope, name));
        if (value === undefined) {
          operators[scope] = { ...operators[scope], [name]: operator };
        } else {
          operators[scope] = {
            ...operators[scope],
            [name]: { compareAndSet: await expecting(store, change, scope, name, value) },
          };
        }
      }
    }
    return store.commit({ ...change, delta, ...(change.operators && { operators }) }, context);
  },
});

/** Sets a value whatever is there. */
async function expecting(store, { key }, scope, name, value) {
  const expected = await valueOf(store, key, scope, name);
  return { ...(expected !== undefined && { expected }), value };
}

/** A store that answers some changes with the values of now in the place of what their operators came to. */
const answeringNow = (isMeant) => (store) => ({
  commit: async (change) => {
    const committed = await store.commit(change, context);
    if (!isMeant(committed, change) || !committed.results) {
      return committed;
    }
    const results = {};
    for (const [scope, values] of Object.entries(committed.results)) {
      results[scope] = {};
      for (const name of Object.keys(values)) {
        results[scope][name] = await valueOf(store, change.key, scope, name);
      }
    }
    return { ...committed, results };
  },
});

const decimal = (number) => Number(number.toFixed(10));

export const brokenOperators = {
  'ignores operators': changing(without('operators')),
  ...Object.fromEntries(
    ['app', 'user', 'session'].map((scope) => [
      `ignores operators of the ${scope}`,
      changing(({ operators, ...change }) => ({
        ...change,
        ...(operators && { operators: without(scope)(operators) }),
      })),
    ]),
  ),
  'ignores operators of creations': changing((change) =>
    change.kind === 'create' ? without('operators')(change) : change,
  ),
  'ignores operators of updates': changing((change) =>
    change.kind === 'update' ? without('operators')(change) : change,
  ),
  'does not answer results': committing(without('results')),
  'does not answer the results of updates': committing((committed, { kind }) =>
    kind === 'update' ? without('results')(committed) : committed,
  ),
  'does not answer the results of a duplicate': committing((committed) =>
    committed.duplicate ? without('results')(committed) : committed,
  ),
  'does not answer the results of an update that is sent again': committing((committed, { kind }) =>
    committed.duplicate && kind === 'update' ? without('results')(committed) : committed,
  ),
  'answers a duplicate with the values of now': answeringNow((committed) => committed.duplicate),
  'answers an update that is sent again with the values of now': answeringNow(
    ({ duplicate }, { kind }) => duplicate && kind === 'update',
  ),
  'answers an update that is sent again with the results of the one before it': (store) => {
    let last;
    return committing((committed, { kind }) => {
      if (kind !== 'update') return committed;
      const told = committed.duplicate && last ? { ...committed, results: last } : committed;
      last = committed.results;
      return told;
    })(store);
  },
  'answers results of what was set': committing((committed, { delta, kind }) =>
    kind === 'append' && delta.app?.set && !committed.results
      ? { ...committed, results: { app: delta.app.set } }
      : committed,
  ),
  'keeps no results beside events': loading((loaded) => ({
    ...loaded,
    events: loaded.events.map(without('results')),
  })),
  'keeps no results beside what sessions began with': loading((loaded) => ({
    ...loaded,
    events: loaded.events.map((event) => (event.rev === 0 ? without('results')(event) : event)),
  })),
  'resolves the operators of events when they are read': loading((loaded) => ({
    ...loaded,
    events: loaded.events.map((event) =>
      event.results?.session
        ? { ...event, results: { ...event.results, session: { ...event.results.session, ...loaded.state.session } } }
        : event,
    ),
  })),
  'writes results into the texts of events': loading((loaded) => ({
    ...loaded,
    events: loaded.events.map((event) =>
      event.results
        ? { ...event, data: JSON.stringify({ ...JSON.parse(event.data), results: event.results }) }
        : event,
    ),
  })),
  'forgets results when it is opened again': (store) => ({
    store,
    reopened: {
      ...store,
      ...loading((loaded) => ({ ...loaded, events: loaded.events.map(without('results')) }))(store),
    },
  }),
  'forgets the results of updates when it is opened again': (store) => ({
    store,
    reopened: {
      ...store,
      ...committing((committed, { kind }) =>
        committed.duplicate && kind === 'update' ? without('results')(committed) : committed,
      )(store),
    },
  }),
  'forgets the results of duplicates when it is opened again': (store) => ({
    store,
    reopened: {
      ...store,
      ...committing((committed) => (committed.duplicate ? without('results')(committed) : committed))(store),
    },
  }),
  // Each operator.
  'adds in decimals': resolving(({ increment }, current = 0) =>
    increment !== undefined && typeof current === 'number' && Number.isFinite(current + increment)
      ? decimal(current + increment)
      : undefined,
  ),
  'adds in whole numbers': resolving(({ increment }, current = 0) =>
    increment !== undefined && typeof current === 'number' && Number.isFinite(current + increment)
      ? Math.trunc(current + increment)
      : undefined,
  ),
  'adds to texts': resolving(({ increment }, current) =>
    increment !== undefined && typeof current === 'string' ? Number(current) + increment : undefined,
  ),
  'takes null for 0': resolving(({ increment }, current) =>
    increment !== undefined && current === null ? increment : undefined,
  ),
  'stays at the greatest number': resolving(({ increment }, current) =>
    increment !== undefined && typeof current === 'number' && !Number.isFinite(current + increment)
      ? Math.sign(increment) * Number.MAX_VALUE
      : undefined,
  ),
  'rejects what comes near the greatest number': (store) => ({
    commit: async (change) => {
      for (const [scope, ofScope] of Object.entries(change.operators ?? {})) {
        for (const [name, { increment }] of Object.entries(ofScope)) {
          const current = increment > 1e290 ? await valueOf(store, change.key, scope, name) : 0;
          if (current > 1.7e308) {
            throw new StoreError('rejected', 'too great', { key: name, scope });
          }
        }
      }
      return store.commit(change, context);
    },
  }),
  'appends lists item by item': operating((operator) =>
    operator.append ? { append: operator.append.flat() } : operator,
  ),
  'appends at the beginning': resolving(({ append }, current) =>
    append && Array.isArray(current) ? [...append, ...current] : undefined,
  ),
  'appends to what is no list': resolving(({ append }, current) =>
    append && current !== undefined && !Array.isArray(current) ? [current, ...append] : undefined,
  ),
  'takes null for an empty list': resolving(({ append }, current) =>
    append && current === null ? append : undefined,
  ),
  'appends nothing to nothing': operating((operator) =>
    operator.append?.length === 0 ? { setOnce: null } : operator,
  ),
  'sets once over null': resolving((operator, current) =>
    'setOnce' in operator && current === null ? operator.setOnce : undefined,
  ),
  'sets once over what is false': resolving((operator, current) =>
    'setOnce' in operator && !current ? operator.setOnce : undefined,
  ),
  'sets once again': resolving((operator) => ('setOnce' in operator ? operator.setOnce : undefined)),
  'sets whatever it compares with': resolving(({ compareAndSet }) => compareAndSet?.value),
  'takes null for nothing when it compares': resolving(({ compareAndSet }, current) =>
    compareAndSet && (compareAndSet.expected ?? null) === (current ?? null) ? compareAndSet.value : undefined,
  ),
  'sets objects that have the expected members in another order': resolving(({ compareAndSet }, current) => {
    const sorted = (value) => JSON.stringify(Object.entries(value ?? {}).sort());
    return typeof current === 'object' &&
      current !== null &&
      compareAndSet &&
      sorted(current) === sorted(compareAndSet.expected)
      ? compareAndSet.value
      : undefined;
  }),
  'compares numbers with texts': resolving(({ compareAndSet }, current) =>
    // eslint-disable-next-line eqeqeq
    compareAndSet && current !== undefined && compareAndSet.expected == current ? compareAndSet.value : undefined,
  ),
  // Operators that do not fit.
  'does not name what does not fit': misfitting(
    ({ code, message, scope }) => new StoreError(code, message, { scope }),
  ),
  'does not name the scope of what does not fit': misfitting(
    ({ code, message, key }) => new StoreError(code, message, { key }),
  ),
  'takes every misfit for a conflict': misfitting(
    ({ message, key, scope }) => new StoreError('conflict', message, { key, scope }),
  ),
  'takes every misfit for a bad change': misfitting(
    ({ message, key, scope }) => new StoreError('rejected', message, { key, scope }),
  ),
  'writes the rest of a change whose operator does not fit': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch(async (error) => {
        if (error.key !== undefined && change.kind === 'append') {
          const { app } = change.delta;
          await store.commit(
            {
              id: `rest ${Math.random()}`,
              kind: 'update',
              key: { appName: change.key.appName },
              time: 0,
              delta: { app },
            },
            context,
          );
        }
        throw error;
      }),
  }),
  'looks at operators before it looks at the guard': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch(async (error) => {
        if (error.code === 'conflict' && change.operators?.app?.n?.increment !== undefined) {
          const current = await valueOf(store, change.key, 'app', 'n');
          if (typeof current === 'string') {
            throw new StoreError('rejected', 'no number', { key: 'n', scope: 'app' });
          }
        }
        throw error;
      }),
  }),
  'takes every try whose operator does not fit for the first': (store) => ({
    commit: (change) => {
      const isOperated = change.operators !== undefined;
      return store.commit(isOperated ? without('attempt')(change) : change, context);
    },
  }),
  'forgets refusals of what it rejects': (store) => ({
    commit: (change) =>
      change.operators?.app?.n?.increment === undefined
        ? store.commit(change, context)
        : store.commit(without('attempt')(change), context),
  }),
  // Order, and others.
  'writes operators first': (store) => ({
    commit: async (change) => {
      if (change.kind !== 'append' || !change.operators?.app || !change.delta.app?.set) {
        return store.commit(change, context);
      }
      const moved = Object.fromEntries(Object.keys(change.delta.app.set).map((name) => [name, { setOnce: 0 }]));
      const set = change.delta.app.set;
      const committed = await store.commit(
        {
          ...change,
          delta: { ...change.delta, app: { unset: [...(change.delta.app.unset ?? []), ...Object.keys(set)] } },
          operators: {
            ...change.operators,
            app: {
              ...change.operators.app,
              ...Object.fromEntries(Object.keys(moved).map((name) => [name, { setOnce: set[name] }])),
            },
          },
        },
        context,
      );
      return {
        ...committed,
        results: {
          ...committed.results,
          app: Object.fromEntries(
            Object.entries(committed.results.app).filter(([name]) => name in change.operators.app),
          ),
        },
      };
    },
  }),
  'moves no position where an operator changes nothing': (store) => ({
    commit: async (change) => {
      const name = 'x';
      const current = change.operators?.app?.[name] && (await valueOf(store, change.key, 'app', name));
      return current !== undefined && 'setOnce' in change.operators.app[name]
        ? store.commit(without('operators')(change), context).then((committed) => ({
            ...committed,
            results: { app: { [name]: current } },
          }))
        : store.commit(change, context);
    },
  }),
  'resolves all operators of many against what was there before': (store) => ({
    commitMany: async (changes) => {
      const made = [];
      for (const change of changes) {
        const delta = { ...change.delta };
        for (const [scope, ofScope] of Object.entries(change.operators ?? {})) {
          for (const [name, { increment }] of Object.entries(ofScope)) {
            if (increment !== undefined && scope !== 'session') {
              const current = (await valueOf(store, change.key, scope, name)) ?? 0;
              delta[scope] = { ...delta[scope], set: { ...delta[scope]?.set, [name]: current + increment } };
            }
          }
        }
        made.push(delta === change.delta ? change : { ...without('operators')(change), delta });
      }
      return store.commitMany(made, context);
    },
  }),
  'tells others nothing of what operators came to': (store) => {
    const hidden = (changed) => changed && mapDeltas(changed, ({ set, unset }) => ({ set: without('n')(set), unset }));
    return {
      ...committing(({ changed, ...committed }) => ({ ...committed, ...(changed && { changed: hidden(changed) }) }))(
        store,
      ),
    };
  },
  'leaves no mark where operators alone write': changing((change) =>
    change.operators?.user && !change.delta.user ? { ...change, call: `${change.call} ` } : change,
  ),
};
