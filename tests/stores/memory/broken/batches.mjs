// Stores that are broken where many changes come at once.

import { context } from './ways.mjs';

export const brokenBatches = {
  'writes all or nothing of many': (store) => ({
    commitMany: async (changes) => {
      const answers = [];
      for (const change of changes) {
        answers.push(await store.commit(change, context));
      }
      return answers;
    },
  }),
  'answers many in another order': (store) => ({
    commitMany: async (changes) => (await store.commitMany(changes, context)).toReversed(),
  }),
  'writes the first fifty of many': (store) => ({
    commitMany: (changes) => store.commitMany(changes.slice(0, 50), context),
  }),
  'writes many backwards': (store) => ({
    commitMany: async (changes) => (await store.commitMany(changes.toReversed(), context)).toReversed(),
  }),
  'looks at all guards before it writes many': (store) => ({
    commitMany: async (changes) => {
      const before = new Map(
        await Promise.all(changes.map(async ({ key }) => [key, await store.loadScope({ app: key.appName }, context)])),
      );
      return store.commitMany(
        changes.map((change) => {
          const { guard, ...rest } = change;
          return guard?.pos?.app === undefined
            ? change
            : {
                ...rest,
                guard: {
                  ...guard,
                  pos: { app: guard.pos.app + (guard.pos.app === before.get(change.key).pos ? 0 : 1_000) },
                },
              };
        }),
        context,
      );
    },
  }),
};
