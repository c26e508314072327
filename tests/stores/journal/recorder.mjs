// Two functions that keep records in a list, and words for changes.

import { context } from './support.mjs';

export const session = (sessionId, appName = 'x', userId = 'u') => ({ appName, userId, sessionId });

/** The ids of records, and the kinds of removals. The record of the version is checked elsewhere. */
export const idsOf = (records) =>
  records.filter(({ kind }) => kind !== 'version').map(({ id, kind }) => (kind.startsWith('remove') ? kind : id));

/** Two functions over a list, which can be told to fail, with the calls that were made. */
export function recorder() {
  const medium = {
    log: [],
    batches: [],
    restored: 0,
    fail: [],
    persist: async (records) => {
      medium.batches.push(idsOf(records));
      await null;
      const fail = medium.fail.shift();
      fail?.before?.(records);
      medium.log.push(...JSON.parse(JSON.stringify(records)).slice(0, fail?.keep));
      fail?.after?.(records);
    },
    restore: () => {
      medium.restored += 1;
      return medium.log.values();
    },
  };
  return medium;
}

/** The outcomes of changes that are made at once. */
export const all = (store, changes) =>
  Promise.all(changes.map((change) => store.commit(change, context).catch((error) => error)));
