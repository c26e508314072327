// Compacting: the lines of a journal without deleted data.

import { defined } from '../../../model/defined.js';
import { newId } from '../../../model/ids.js';
import { JournalReader } from '../reader.js';
import { lineOf, versionLine } from '../lines.js';
import { callOf, keyText } from '../../shared/keys.js';
import { writerOf } from '../../shared/log-entries.js';
import { REMEMBERED_MS } from '../../shared/limits.js';
import { isEmpty } from '../../shared/values.js';
import { FORMAT } from '../version.js';
import type { Numbered, Records, Removal } from '../log-record.js';
import type { Change } from '../../../store/contract.js';

/**
 * The lines of a journal without the sessions that have been removed or have expired, with new numbers. The changes of those to the
 * state of their app and user stay, and for a while their creations do. `undefined` when there is nothing to leave
 * out, when something is damaged, as then all of it is needed, or when the journal is of another version, which stays
 * as it is until it is upgraded.
 */
export async function compactedLines(
  read: () => Records<string>,
  format = FORMAT,
): Promise<AsyncGenerator<string> | undefined> {
  /** The place of the last removal of each session, counted in records. */
  const ends = new Map<string, number>();
  /** The sessions that are there and end, by their names. */
  const ending = new Map<string, Removal & { readonly ends: number }>();
  const now = Date.now();
  const since = now - REMEMBERED_MS;
  let count = 0;
  let isOurs = false;
  for await (const record of new JournalReader(format).read(read(), { missing: 0 })) {
    if (record.kind === 'version') {
      isOurs = record.version === format.version && record.layout === format.layout;
      continue;
    }
    if (record.kind === 'corrupt') {
      return undefined;
    }
    count += 1;
    const name = keyText(record.key);
    if (record.kind === 'remove' && !isRemainder(record)) {
      ends.set(name, count);
      ending.delete(name);
    } else if (record.kind === 'create' && record.ends !== undefined) {
      ending.set(name, { ...expiredRemoval(record, now), ends: record.ends });
    } else if (record.kind === 'append' && record.ends !== undefined) {
      const session = ending.get(name);
      if (session !== undefined) {
        ending.set(name, { ...session, ends: record.ends });
      }
    }
  }
  const expired = [...ending].filter(([, session]) => session.ends <= now);
  expired.forEach(([name]) => ends.set(name, Infinity));
  return ends.size > 0 && isOurs ? lines() : undefined;

  async function* lines(): AsyncGenerator<string> {
    let [place, number] = [0, 0];
    yield versionLine(format, 0);
    for await (const record of new JournalReader(format).read(read(), { missing: 0 })) {
      if (record.kind === 'corrupt' || record.kind === 'version') {
        continue;
      }
      place += 1;
      const isForgotten = record.time < since && (record.kind === 'refusal' || isRemainder(record));
      const isOver = record.kind !== 'refusal' && place <= (ends.get(keyText(record.key)) ?? 0);
      const rest = isForgotten ? undefined : isOver ? restOf(record, since) : record;
      if (rest !== undefined) {
        number += 1;
        yield lineOf(number, rest, format);
      }
    }
    for (const [, { ends: _ends, ...removal }] of expired) {
      number += 1;
      yield lineOf(number, removal, format);
    }
  }
}

/** The removal of a session that has expired, as compacting leaves it: its creation stays known. */
function expiredRemoval({ id: created, key, digest }: Change, time: number): Removal {
  return { id: newId(), kind: 'remove', time, key, guard: { created }, ...defined({ digest }) };
}

/**
 * True for a record that compacting has left of a removal: there is nothing before it whose revision it could tell.
 */
function isRemainder(record: Numbered): boolean {
  return record.kind === 'remove' && record.guard?.rev === undefined;
}

/** The remainder of a record of a removed session: its changes of app and user state; a recent removal itself. */
function restOf(record: Numbered, since: number): Numbered | undefined {
  const { id, time, key } = record;
  if (record.kind === 'remove') {
    const created = record.guard?.created;
    return time < since || created === undefined
      ? undefined
      : defined({ id, kind: record.kind, time, key, guard: { created }, digest: record.digest });
  }
  if (!('delta' in record) || (isEmpty(record.delta.app) && isEmpty(record.delta.user))) {
    return undefined;
  }
  const { delta, guard } = record;
  const { appName, userId } = key;
  const shared = defined({ app: delta.app, user: delta.user });
  const home = defined({ appName, userId });
  const by = 'by' in record ? record.by : writerOf(record);
  // Its id is unique in its session alone; only its call is left on its scopes.
  return {
    id: newId(),
    call: callOf(record),
    kind: 'update',
    key: home,
    time,
    delta: shared,
    ...defined({ by, written: record.written }),
    ...(guard?.pos && { guard: { pos: guard.pos } }),
  };
}
