// Stores that are broken in the digests of requests.

import { StoreError } from 'statepad';
import { changing, context, each, without } from './ways.mjs';

/** A store that answers changes otherwise, one by one and many at once. Refusals are answers here. */
const answering = (map) => (store) => {
  const mapAll = async (answers, changes) =>
    Promise.all(answers.map((answer, index) => map(answer, changes[index], store)));
  return {
    commit: async (change) => {
      const [answer] = await mapAll([await store.commit(change, context).catch((error) => error)], [change]);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    commitMany: async (changes) => mapAll(await store.commitMany(changes, context), changes),
  };
};

/** The same answer with another digest, or with none. */
const withDigest = (answer, digest) => {
  if (answer instanceof StoreError) {
    const { code, message, actual, key, scope } = answer;
    const members = Object.entries({ actual, key, scope, digest }).filter(([, value]) => value !== undefined);
    return new StoreError(code, message, Object.fromEntries(members));
  }
  const rest = without('digest')(answer);
  return digest === undefined ? rest : { ...rest, digest };
};

/** A store whose digests become others, where there are any. */
const digesting = (map) =>
  answering((answer, change) =>
    answer.digest === undefined ? answer : withDigest(answer, map(answer.digest, change, answer)),
  );

const forgetting = (isForgotten) =>
  digesting((digest, change, answer) => (isForgotten(change, answer) ? undefined : digest));

export const brokenDigests = {
  'keeps no digests': changing(without('digest')),
  'keeps no digests of creations': forgetting(({ kind }) => kind === 'create'),
  'keeps no digests of updates': forgetting(({ kind }, answer) => kind === 'update' && answer.duplicate),
  'keeps no digests of updates of apps': forgetting(({ key }) => key.userId === undefined),
  'keeps no digests of refusals': forgetting((_, answer) => answer instanceof Error),
  'keeps no digests of creations that were refused': forgetting(
    ({ kind }, answer) => kind === 'create' && answer instanceof Error,
  ),
  'keeps no digests of appends that were refused': forgetting(
    ({ kind }, answer) => kind === 'append' && answer instanceof Error,
  ),
  'keeps no digests of changes that go together': (store) => ({
    commitMany: (changes) => store.commitMany(changes.map(without('digest')), context),
  }),
  'tells no digests of changes that go together': (store) => ({
    commitMany: forgetting(() => true)(store).commitMany,
  }),
  'loses the digest of a creation with its session': (store) => {
    const removed = new Set();
    return {
      remove: async (key, _, guard) => {
        removed.add((await store.load(key, {}, context))?.created);
        await store.remove(key, context, guard);
      },
      ...forgetting(({ id }) => removed.has(id))(store),
    };
  },
  'tells the digest of the session that is there': (store) => {
    const created = new Map();
    return answering(async (answer, change) => {
      if (change.kind === 'create' && !(answer instanceof Error) && !answer.duplicate) {
        created.set(change.id, change.digest);
      }
      const loaded = answer.duplicate && change.kind === 'create' ? await store.load(change.key, {}, context) : null;
      return loaded === null ? answer : withDigest(answer, created.get(loaded.created));
    })(store);
  },
  'tells the digest that comes with a change': digesting((_, { digest }) => digest),
  'takes on a digest that comes later': (store) => {
    const later = new Map();
    return answering((answer, { id, digest }) => {
      const isRepeated = !(answer instanceof Error) && answer.duplicate === true;
      if (!isRepeated || answer.digest !== undefined) return answer;
      later.set(id, later.get(id) ?? digest);
      return withDigest(answer, later.get(id));
    })(store);
  },
  'takes on the digest of a later refusal': (store) => {
    const latest = new Map();
    return answering((answer, { id, digest, attempt }) => {
      const told = answer instanceof Error && answer.digest !== undefined;
      const other = told ? withDigest(answer, latest.get(id) ?? answer.digest) : answer;
      if (answer instanceof Error && attempt !== undefined) latest.set(id, digest);
      return other;
    })(store);
  },
  'gives a refusal without a digest the next one': (store) => {
    const digests = new Map();
    return answering((answer, { id, digest, attempt }) => {
      if (!(answer instanceof Error) || attempt === undefined) return answer;
      const other = digests.has(id) && answer.digest === undefined ? withDigest(answer, digests.get(id)) : answer;
      if (digest !== undefined) digests.set(id, digest);
      return other;
    })(store);
  },
  'tells the digest of a change that is new': answering((answer, { digest }) =>
    answer instanceof Error || answer.duplicate ? answer : withDigest(answer, digest),
  ),
  'tells the digest of a change that is refused for the first time': answering((answer, { digest }) =>
    answer instanceof Error && answer.digest === undefined ? withDigest(answer, digest) : answer,
  ),
  'refuses a change that comes with another digest': answering((answer, { digest }) =>
    answer.duplicate && digest !== undefined && answer.digest !== undefined && answer.digest !== digest
      ? new StoreError('conflict', 'it was another request')
      : answer,
  ),
  'writes a change that comes with another digest': changing(({ digest, ...change }) =>
    change.kind === 'append' || digest === undefined
      ? change
      : { ...change, digest, id: `${change.id} ${digest}`, ...(change.call && { call: `${change.call} ${digest}` }) },
  ),
  'takes changes of one digest for one': (store) => {
    const ids = new Map();
    return changing((change) => {
      if (change.digest === undefined || change.kind !== 'update') return change;
      ids.set(change.digest, ids.get(change.digest) ?? change.id);
      return { ...change, id: ids.get(change.digest) };
    })(store);
  },
  'remembers the digest of a refused first try': (store) => {
    const first = new Map();
    return answering((answer, { id, digest }) => {
      if (answer instanceof Error) first.set(id, first.get(id) ?? digest);
      return answer.duplicate && first.get(id) !== undefined ? withDigest(answer, first.get(id)) : answer;
    })(store);
  },
  'cuts digests': changing((change) =>
    change.digest === undefined ? change : { ...change, digest: change.digest.slice(0, 128) },
  ),
  'takes an empty digest for none': changing((change) => (change.digest === '' ? without('digest')(change) : change)),
  'forgets digests when it is opened again': (store) => ({
    store,
    reopened: { ...store, ...forgetting(() => true)(store) },
  }),
  'keeps its digests to itself': each((store, which) => (which === 'first' ? {} : forgetting(() => true)(store))),
};
