// The log of a scope as an inner store has it, in plain text again, and compared with what is sealed in it.

import { StoreError } from '../../store/store-error.js';
import { isSealed } from './cipher.js';
import { isStampOf, type Stamp } from './stamp.js';
import { titleOf, type Home, type Records } from './records.js';
import type { LogEntry, LogWrite, ScopeLog } from '../../store/contract.js';

/**
 * Opens a part of a log. Throws `corrupt` also for an entry that names another change as the writer of a value,
 * for two changes of one session in the wrong order, and for a value before that is not the one that was written last.
 */
export async function openLog(records: Records, log: ScopeLog, home: Home): Promise<ScopeLog> {
  const opened = await Promise.all(log.entries.map((entry) => openEntry(records, entry, home)));
  checkChain(log.entries, home);
  checkOrder(opened, home);
  return { ...log, entries: opened.map(({ entry }) => entry) };
}

/** An entry, and the change that wrote its values, if it wrote any that are encrypted. */
interface OpenedEntry {
  readonly entry: LogEntry;
  readonly stamp: Stamp | undefined;
}

async function openEntry(records: Records, entry: LogEntry, home: Home): Promise<OpenedEntry> {
  const opened = await Promise.all(entry.writes.map((write) => records.openWrite(write, home)));
  for (const { stamp } of opened) {
    if (stamp !== undefined && !isStampOf(stamp, entry)) {
      refuse(entry, home, 'names another change as the writer of a value');
    }
  }
  const stamp = opened.find((write) => write.stamp !== undefined)?.stamp;
  return { entry: { ...entry, writes: opened.map(({ write }) => write) }, stamp };
}

/** The value before a write is the one that the last write of that name has left. */
function checkChain(entries: readonly LogEntry[], home: Home): void {
  const last = new Map<string, LogWrite>();
  for (const entry of entries) {
    for (const write of entry.writes) {
      const before = last.get(write.name);
      const isKnown = before !== undefined && (isSealed(before.to) || isSealed(write.from));
      if (isKnown && before.to !== write.from) {
        refuse(entry, home, 'does not follow the previous one');
      }
      last.set(write.name, write);
    }
  }
}

/** Positions grow, and with them the revisions of each session. */
function checkOrder(opened: readonly OpenedEntry[], home: Home): void {
  const revisions = new Map<string, number>();
  let pos = 0;
  for (const { entry, stamp } of opened) {
    if (entry.pos <= pos) {
      refuse(entry, home, 'is not in its place');
    }
    pos = entry.pos;
    if (stamp?.by !== undefined) {
      const { userId, sessionId, created, rev } = stamp.by;
      const session = JSON.stringify([userId, sessionId, created]);
      if (rev <= (revisions.get(session) ?? -1)) {
        refuse(entry, home, 'is not in the order of its session');
      }
      revisions.set(session, rev);
    }
  }
}

function refuse({ pos }: LogEntry, home: Home, what: string): never {
  throw new StoreError('corrupt', `the change ${pos} of ${titleOf(home)} ${what}`);
}
