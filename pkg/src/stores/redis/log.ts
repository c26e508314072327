// The arguments and the answers of the script that reads the log of a scope.

import { sessionOf } from './keys.js';
import { textAfterSign, type List } from './hashes.js';
import { parseValue } from '../shared/values.js';
import type { LogEntry, LogQuery, LogWrite, ScopeLog } from '../../store/contract.js';

/** The most entries that one script looks at: Redis does nothing else meanwhile. */
const ENTRIES_AT_ONCE = 5_000;

/** Reads a part of a log by some scripts, one after the other. `ask` runs one. Throws `corrupt`. */
export async function readLogBy(
  ask: (args: readonly string[]) => Promise<unknown>,
  { after = 0, to = Infinity, name, limit = Infinity }: LogQuery,
  what: string,
): Promise<ScopeLog> {
  const entries: LogEntry[] = [];
  let position: number | undefined;
  let [base, from] = [0, after];
  for (;;) {
    const end = Math.min(to, position ?? Number.MAX_SAFE_INTEGER);
    const most = Math.min(limit, Number.MAX_SAFE_INTEGER) - entries.length;
    const args = [from, end, name === undefined ? '' : `=${name}`, most, ENTRIES_AT_ONCE];
    const [, pos, nextBase, reached, rows] = (await ask(args.map(String))) as List;
    position ??= Number(pos);
    // It may have been trimmed meanwhile.
    base = Math.min(Number(nextBase), position);
    from = Number(reached);
    entries.push(...(rows as readonly List[]).map((entry) => entryOf(entry, what)));
    if (from >= Math.min(to, position) || entries.length >= limit) {
      return { pos: position, base, entries: entries.filter((entry) => entry.pos > base) };
    }
  }
}

function entryOf([pos, time, member, event, writes]: List, what: string): LogEntry {
  const [key, eventId] = [textAfterSign(member), textAfterSign(event)];
  return {
    pos: Number(pos),
    time: Number(textAfterSign(time)),
    ...(key === '' ? {} : { by: { ...sessionOf(key), ...(eventId === '' ? {} : { eventId }) } }),
    writes: writesOf((writes as List).map(textAfterSign), what),
  };
}

function writesOf(texts: readonly string[], what: string): LogWrite[] {
  const writes: LogWrite[] = [];
  for (let index = 0; index < texts.length; index += 3) {
    const [field = '', from = '', to = ''] = texts.slice(index, index + 3);
    const name = field.slice(1);
    writes.push({
      name,
      ...(from === '' ? {} : { from: parseValue(name, from, what) }),
      ...(to === '' ? {} : { to: parseValue(name, to, what) }),
    });
  }
  return writes;
}
