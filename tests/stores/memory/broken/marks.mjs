// Stores that are broken in marks, and in what they tell of the changes of others.

import { changing, committing, context, inOrder, loading, mapDeltas, without } from './ways.mjs';

/** A store that is told something else of what its caller knows. */
const asksWith = (map) => (store) => ({
  load: (key, { known, ...query }) => store.load(key, { ...query, ...(known && { known: map(known) }) }, context),
});

/** A store that tells what others have done to a scope otherwise. */
const telling = (map) => (store) => {
  const told = (answer) => (answer?.changed ? { ...answer, changed: mapDeltas(answer.changed, map) } : answer);
  return {
    ...committing(told)(store),
    ...loading(told)(store),
  };
};

export const brokenMarks = {
  // Marks.
  'tells no marks': loading(without('marks')),
  'tells no last event': loading(without('last')),
  'tells the first event for the last': loading((loaded) => ({
    ...loaded,
    last: loaded.events[0]?.id ?? loaded.last,
  })),
  'tells no ids of events': loading((loaded) => ({ ...loaded, events: loaded.events.map(without('id')) })),
  'does not say what was before': committing(without('before')),
  ...Object.fromEntries(
    ['session', 'app', 'user'].map((part) => [
      `does not say what ${part} was before`,
      committing((committed) => ({ ...committed, before: without(part)(committed.before) })),
    ]),
  ),
  'takes the id of an event for the mark': changing((change) =>
    change.kind === 'append' ? without('call')(change) : change,
  ),
  'does not compare marks': asksWith((known) => without('marks')(known)),
  'does not compare the last event': asksWith((known) => without('last')(known)),
  'looks for a known event in all sessions': (store) => {
    const seen = new Set();
    return {
      commit: async (change) => {
        const committed = await store.commit(change, context);
        seen.add(JSON.stringify([committed.rev, change.id]));
        return committed;
      },
      load: (key, query) => {
        const { known = {} } = query;
        const isSeen = seen.has(JSON.stringify([known.rev, known.last]));
        return store.load(key, isSeen ? { ...query, known: without('last')(known) } : query, context);
      },
    };
  },
  'never says that a session has diverged': loading(without('diverged')),
  'says that every session has diverged': loading((loaded) => ({ ...loaded, diverged: true })),
  'leaves its mark where it changes nothing': changing((change) => ({
    ...change,
    delta: mapDeltas(change.delta, (given) => (JSON.stringify(given) === '{}' ? { unset: ['nothing'] } : given)),
  })),
  // The changes of others.
  'never tells what others have done': (store) => ({
    ...committing(without('changed'))(store),
    ...asksWith((known) => without('pos')(known))(store),
  }),
  'forgets what others have done to all scopes when the values of one are removed': (store) => {
    let isForgotten = false;
    return {
      removeScope: async (scope) => {
        await store.removeScope(scope, context);
        isForgotten = true;
      },
      load: (key, query) =>
        store.load(
          key,
          isForgotten && query.known ? { ...query, known: without('pos')(query.known) } : query,
          context,
        ),
    };
  },
  'tells only what was set': telling(without('unset')),
  'tells only what was deleted': telling(without('set')),
  'does not tell which names are new': telling(({ set, unset }) => ({
    set,
    unset: unset.filter((name) => !(name in set)),
  })),
  'tells new names sorted': telling(({ set, unset }) => ({ set: inOrder(set), unset })),
  'tells what the change itself does': committing((committed, { delta: { app } }) =>
    committed.changed?.app && app
      ? {
          ...committed,
          changed: {
            ...committed.changed,
            app: { set: { ...committed.changed.app.set, ...app.set }, unset: committed.changed.app.unset },
          },
        }
      : committed,
  ),
  'tells only of the app': committing((committed) =>
    committed.changed
      ? {
          ...committed,
          changed: without('user')(committed.changed),
        }
      : committed,
  ),
  'does not compare the mark of where a scope is when changes go together': (store) => ({
    commitMany: async (changes) => {
      const now = async (scope, { pos = {}, marks = {} }, part) => {
        const { pos: at, mark } = await store.loadScope(scope, context);
        return pos[part] === at && marks[part] !== undefined ? { ...marks, [part]: mark } : marks;
      };
      const asked = changes.map(async ({ known, ...change }) => {
        const { appName: app, userId: user } = change.key;
        const marks = known && (await now({ app }, known, 'app'));
        return known
          ? { ...change, known: { ...known, marks: await now({ app, user }, { ...known, marks }, 'user') } }
          : change;
      });
      return store.commitMany(await Promise.all(asked), context);
    },
  }),
};
