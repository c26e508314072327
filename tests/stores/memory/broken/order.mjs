// Stores that look at two reasons in the wrong order: one for each pair that a case is about.

import { StoreError } from 'statepad';
import { context, refusing } from './ways.mjs';

const conflict = (more) => new StoreError('conflict', 'it is otherwise', more);

/** The value under a name of the app. */
const ofApp = async (store, { key }, name) => (await store.loadScope({ app: key.appName }, context)).state[name];
const session = (store, { key }, last = 0) => store.load(key, { events: { last } }, context);
const isAnother = (loaded, { guard }) => guard?.created !== undefined && guard.created !== loaded.created;

/** The token of a session, as the refusal of one that none is at tells it. */
const token = (store, { key }) =>
  store.lease(key, { holder: '', ttl: 1, fence: -1 }, context).catch(({ actual = 0 }) => actual);

/** A test for each reason, and its refusal. `notes` has the ids of committed changes and the calls of refused ones. */
const REASONS = {
  'the same event written before': {
    holds: async (store, change) => {
      const loaded = await session(store, change, Infinity);
      return loaded?.events.some(({ id }) => id === change.id) && !isAnother(loaded, change);
    },
  },
  'the same one made before': { holds: (_, { id }, { committed }) => committed.has(id) },
  'the session that it made': {
    holds: async (store, change) => (await session(store, change))?.created === change.id,
  },
  'the removed session that it made': {
    holds: async (store, change, { committed }) =>
      committed.has(change.id) && (await session(store, change))?.created !== change.id,
  },
  'an earlier refusal of its call': {
    holds: (_, { id, call = id }, { refusals }) => refusals.has(call),
    refusal: () => conflict(),
  },
  'a session that is there': {
    holds: async (store, change) => (await session(store, change)) !== null,
    refusal: () => new StoreError('exists', 'it is there'),
  },
  'a session that is not there': {
    holds: async (store, change) => (await session(store, change)) === null,
    refusal: () => new StoreError('not-found', 'it is not there'),
  },
  'another session than it names': {
    holds: async (store, change) => {
      const loaded = await session(store, change);
      return loaded !== null && isAnother(loaded, change);
    },
    refusal: () => new StoreError('not-found', 'it is another one'),
  },
  'another token': {
    holds: async (store, change) =>
      change.guard?.fence !== undefined && change.guard.fence !== (await token(store, change)),
    refusal: async (store, change) => new StoreError('fenced', 'overtaken', { actual: await token(store, change) }),
  },
  'another revision': {
    holds: async (store, change) =>
      change.guard?.rev !== undefined && change.guard.rev !== ((await session(store, change))?.rev ?? 0),
    refusal: async (store, change) => conflict({ actual: (await session(store, change))?.rev ?? 0 }),
  },
  'another position': {
    holds: async (store, { key, guard }) => {
      const app = guard?.pos?.app;
      return app !== undefined && app !== (await store.loadScope({ app: key.appName }, context)).pos;
    },
    refusal: () => conflict(),
  },
  'another value': {
    holds: async (store, change) => {
      const expected = change.guard?.keys?.app?.set?.a;
      return expected !== undefined && expected !== (await ofApp(store, change, 'a'));
    },
    refusal: () => conflict(),
  },
  'an operator that does not fit': {
    holds: async (store, change) =>
      change.operators?.app?.a?.increment !== undefined && typeof (await ofApp(store, change, 'a')) === 'string',
    refusal: () => new StoreError('rejected', 'no number', { key: 'a', scope: 'app' }),
  },
};

const guards = [
  ['another token'],
  ['another revision'],
  ['another position', 'another value'],
  ['an operator that does not fit'],
];

/** The right order for each kind of change. Of those in one list only one can hold, or be told. */
const ORDERS = {
  append: [
    ['the same event written before'],
    ['an earlier refusal of its call'],
    ['a session that is not there', 'another session than it names'],
    ...guards,
  ],
  create: [
    ['the session that it made', 'the removed session that it made'],
    ['an earlier refusal of its call'],
    ['a session that is there'],
    ...guards,
  ],
  update: [['the same one made before'], ['an earlier refusal of its call'], ...guards.slice(2)],
};

/** Pairs that cannot hold at once, or are the same answer. */
const NO_PAIRS = [
  ['the same event written before', 'a session that is not there'],
  ['the same event written before', 'another session than it names'],
  ['the session that it made', 'a session that is there'],
  ['an earlier refusal of its call', 'another revision'],
  ['an earlier refusal of its call', 'another position'],
  ['an earlier refusal of its call', 'another value'],
];

/** A store that gives the loser for the answer where the winner counts, and the loser holds as well. */
const swapping = (kind, winner, loser) => (store) => {
  const notes = { committed: new Set(), refusals: new Set() };
  const isFirst = async (change) => {
    for (const reason of ORDERS[kind].flat()) {
      if (await REASONS[reason].holds(store, change, notes)) return reason === winner;
    }
    return false;
  };
  const note = (change, error) => {
    if (error === undefined) notes.committed.add(change.id);
    else if (change.attempt !== undefined) notes.refusals.add(change.call ?? change.id);
  };
  const commit = async (change) => {
    if (change.kind === kind && (await REASONS[loser].holds(store, change, notes)) && (await isFirst(change))) {
      throw await REASONS[loser].refusal(store, change);
    }
    try {
      const committed = await store.commit(change, context);
      note(change);
      return committed;
    } catch (error) {
      note(change, error);
      throw error;
    }
  };
  const commitMany = async (changes) => {
    const answers = [];
    for (const change of changes) answers.push(await commit(change).catch((error) => error));
    return answers;
  };
  return { commit, commitMany };
};

const TITLES = { append: 'an append', create: 'a creation', update: 'an update' };

const isPair = ([winner, loser]) => !NO_PAIRS.some(([one, other]) => one === winner && other === loser);
const pairsOf = (order) =>
  order
    .flatMap((winners, index) =>
      winners.flatMap((winner) =>
        order
          .slice(index + 1)
          .flat()
          .map((loser) => [winner, loser]),
      ),
    )
    .filter(isPair);

/** Each fault with its store, and the name of the case that finds it. */
export const swaps = Object.entries(ORDERS).flatMap(([kind, order]) =>
  pairsOf(order).map(([winner, loser]) => ({
    fault: `looks at ${loser} before ${winner}, of ${TITLES[kind]}`,
    make: swapping(kind, winner, loser),
    found: `of ${TITLES[kind]}, ${winner} counts before ${loser}`,
  })),
);

/** A store that names another of the operators that do not fit: of texts to which a number is to be added. */
const misnaming = (choose) =>
  refusing((error, change) => {
    const misfits =
      error.key === undefined ? [] : operatorsOf(change).filter(([, , { increment }]) => increment === 1);
    const [scope, key] = choose(misfits) ?? [];
    return scope === undefined ? error : new StoreError(error.code, error.message, { key, scope });
  });
const operatorsOf = ({ operators = {} }) =>
  ['app', 'user', 'session'].flatMap((scope) =>
    Object.entries(operators[scope] ?? {}).map(([name, operator]) => [scope, name, operator]),
  );

export const brokenOrder = {
  ...Object.fromEntries(swaps.map(({ fault, make }) => [fault, make])),
  'resolves the operators of the session before those of the user': misnaming((misfits) =>
    misfits.find(([scope]) => scope === 'session'),
  ),
  'resolves the operators of the user before those of the app': misnaming((misfits) =>
    misfits.find(([scope]) => scope === 'user'),
  ),
  'resolves operators in the order of names': misnaming(
    ([first, ...misfits]) =>
      first && [first, ...misfits].filter(([scope]) => scope === first[0]).sort(([, a], [, b]) => (a < b ? -1 : 1))[0],
  ),
};
