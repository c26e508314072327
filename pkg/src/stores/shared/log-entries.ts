// Entries of the log of a scope: made of a change, and chosen by a query.

import { defined } from '../../model/defined.js';
import type { Change, Delta, LogEntry, LogQuery, LogWrite } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** The session and the event that wrote a change; `undefined` for an update. */
export function writerOf({ kind, key, id, event }: Pick<Change, 'kind' | 'key' | 'id' | 'event'>): LogEntry['by'] {
  const { userId, sessionId } = key;
  if (userId === undefined || sessionId === undefined) {
    return undefined;
  }
  return kind === 'create' ? { userId, sessionId } : { userId, sessionId, eventId: event?.id ?? id };
}

/** The writes of a delta over the values before it. */
export function writesOf({ set = {}, unset = [] }: Delta, before: (name: string) => Json | undefined): LogWrite[] {
  const write = (name: string, to?: Json): LogWrite => {
    const from = before(name);
    return defined({ name, from, to });
  };
  const deleted = new Set(unset.filter((name) => !Object.hasOwn(set, name) && before(name) !== undefined));
  return [...[...deleted].map((name) => write(name)), ...Object.keys(set).map((name) => write(name, set[name]))];
}

/** The entries that a query asks for, of those given, which are all above the base and in their order. */
export function chooseEntries(
  entries: readonly LogEntry[],
  { after = 0, to = Infinity, name, limit = Infinity }: LogQuery,
): LogEntry[] {
  const chosen: LogEntry[] = [];
  for (const entry of entries) {
    if (entry.pos > to || chosen.length >= limit) {
      break;
    }
    const writes = name === undefined ? entry.writes : entry.writes.filter((write) => write.name === name);
    if (entry.pos > after && (name === undefined || writes.length > 0)) {
      chosen.push(writes === entry.writes ? entry : { ...entry, writes });
    }
  }
  return chosen;
}
