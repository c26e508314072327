// Stores that are broken in guards, and in how a change is made whole.

import { alone, canonical, changing, context, mapDeltas, without } from './ways.mjs';

const SCOPES = ['app', 'user', 'session'];

/** A store whose guards become others. */
const guarding = (map) => changing(({ guard, ...change }) => ({ ...change, ...(guard && { guard: map(guard) }) }));

const pause = () => new Promise((done) => setTimeout(done, 1));

export const brokenGuards = {
  'ignores guards': changing(without('guard')),
  ...Object.fromEntries(
    ['created', 'rev', 'pos', 'keys'].map((part) => [`ignores guard.${part}`, guarding(without(part))]),
  ),
  ...Object.fromEntries(
    SCOPES.map((scope) => [
      `ignores guard.keys.${scope}`,
      guarding((guard) => (guard.keys ? { ...guard, keys: without(scope)(guard.keys) } : guard)),
    ]),
  ),
  'ignores guard.keys.*.unset': guarding((guard) =>
    guard.keys
      ? {
          ...guard,
          keys: mapDeltas(guard.keys, without('unset')),
        }
      : guard,
  ),
  'ignores guard.pos.user': guarding((guard) => (guard.pos ? { ...guard, pos: without('user')(guard.pos) } : guard)),
  'ignores the guards of creations': changing((change) =>
    change.kind === 'create' ? without('guard')(change) : change,
  ),
  'ignores the guards of updates': changing((change) =>
    change.kind === 'update' ? without('guard')(change) : change,
  ),
  'compares objects whatever the order of their members': (store) => {
    const sorted = (deltas) =>
      mapDeltas(deltas, ({ set, ...rest }) => ({
        ...rest,
        ...(set && { set: Object.fromEntries(Object.entries(set).map(([name, value]) => [name, canonical(value)])) }),
      }));
    return changing((change) => ({
      ...change,
      delta: sorted(change.delta),
      ...(change.guard?.keys && { guard: { ...change.guard, keys: sorted(change.guard.keys) } }),
    }))(store);
  },
  'does not tell the actual revision': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch((error) => {
        throw Object.create(error, { actual: { value: undefined } });
      }),
  }),
  'takes every refusal for a conflict': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch((error) => {
        throw Object.create(error, { code: { value: 'conflict' } });
      }),
  }),
  'writes app and user before it looks at the guard': (store) => ({
    commit: (change) =>
      store.commit(change, context).catch(async (error) => {
        await store.commit(alone(change, without('session')(change.delta)), context);
        throw error;
      }),
  }),
  'looks at the revision and then writes': (store) => ({
    commit: async (change) => {
      const { rev, ...guard } = change.guard ?? {};
      const loaded = rev === undefined ? null : await store.load(change.key, {}, context);
      await pause();
      // A change that is refused is refused for the right reason.
      return store.commit({ ...change, guard: loaded?.rev === rev ? guard : (change.guard ?? {}) }, context);
    },
  }),
  'writes the scopes one after the other': (store) => ({
    commit: async (change) => {
      const { app, ...rest } = change.delta;
      if (change.kind !== 'append' || app === undefined) {
        return store.commit(change, context);
      }
      const committed = await store.commit({ ...change, delta: rest }, context);
      await pause();
      const { pos } = committed.duplicate ? committed : await store.commit(alone(change, { app }), context);
      return { ...committed, pos };
    },
  }),
};
