// A journal without what has been deleted.

import { JournalReader } from './journal-read.js';
import { lineOf } from './journal-lines.js';
import { nameOf } from './journal-tables.js';
import { isEmpty } from './values.js';
import type { LogRecord, Records } from './callbacks.js';

/**
 * The lines of a journal without the sessions that have been removed, with new numbers. What those have changed in the state of
 * their app and user stays. `undefined` when there is nothing to leave out, or when something is damaged: then all of it is needed.
 */
export async function compactedLines(read: () => Records<string>): Promise<AsyncGenerator<string> | undefined> {
  const records = (): ReturnType<JournalReader['read']> => new JournalReader().read(read(), { missing: 0 });
  /** By its name, when a session was removed for the last time. */
  const ends = new Map<string, number>();
  let count = 0;
  for await (const record of records()) {
    if (record.kind === 'corrupt') {
      return undefined;
    }
    count += 1;
    if (record.kind === 'remove') {
      ends.set(nameOf(record.key), count);
    }
  }
  return ends.size === 0 ? undefined : lines();

  async function* lines(): AsyncGenerator<string> {
    let [place, number] = [0, 0];
    for await (const record of records()) {
      place += 1;
      const kept = place > (ends.get(nameOf(record.key)) ?? 0) ? (record as LogRecord) : restOf(record as LogRecord);
      if (kept !== undefined) {
        number += 1;
        yield lineOf(number, kept);
      }
    }
  }
}

/** What a record of a session that is gone has changed besides. */
function restOf(record: LogRecord): LogRecord | undefined {
  if (!('delta' in record) || (isEmpty(record.delta.app) && isEmpty(record.delta.user))) {
    return undefined;
  }
  const { id, time, key, delta, guard } = record;
  const { appName, userId } = key;
  const shared = { ...(delta.app && { app: delta.app }), ...(delta.user && { user: delta.user }) };
  const home = { appName, ...(userId !== undefined && { userId }) };
  return { id, kind: 'update', key: home, time, delta: shared, ...(guard?.pos && { guard: { pos: guard.pos } }) };
}
