// The log of app and user values, as the SQLite stores read and trim it.

import { defined } from '../../model/defined.js';
import { scopeTitle } from '../../store/refusals.js';
import * as sql from './log-statements.js';
import { checkVersion } from './open.js';
import { findToWrite, readScope } from './read.js';
import { numberIn, textIn } from './rows.js';
import { hintOf } from '../shared/keys.js';
import { parseValue } from '../shared/values.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { LogEntry, LogQuery, LogWrite, ScopeLog, ScopeName } from '../../store/contract.js';

/** See `SessionStore.readLog`. */
export function readLog(driver: SqlDriver, scope: ScopeName, query: LogQuery): ScopeLog {
  const { n } = readScope(driver, scope);
  const { pos, base } = placeOf(driver, n);
  const [text, values] = sql.readEntries(n, base, query);
  return { pos, base, entries: entriesIn(driver.all(text, values), query, scopeTitle(scope)) };
}

/** See `SessionStore.trimLog`. */
export function trimLog(driver: SqlDriver, scope: ScopeName, upTo: number): number {
  const { app, user, version } = findToWrite(driver, hintOf(scope), null, null);
  checkVersion(version);
  const { n } = scope.user === undefined ? app : user;
  const { pos, base } = placeOf(driver, n);
  const end = Math.min(Math.floor(upTo), pos);
  const [row = {}] = driver.all(sql.COUNT_ENTRIES, [n, base, end]);
  driver.run(sql.TRIM_LOG, [n, end]);
  if (end > base) {
    driver.run(sql.SET_BASE, [end, n]);
  }
  return numberIn(row, 'entries');
}

/** The position of a scope, and the base of its log. */
function placeOf(driver: SqlDriver, n: number): Pick<ScopeLog, 'pos' | 'base'> {
  const [row] = driver.all(sql.READ_BASE, [n]);
  return row === undefined ? { pos: 0, base: 0 } : { pos: numberIn(row, 'pos'), base: numberIn(row, 'base') };
}

/** The entries in rows of `statepad_log`, in their order. With a name, those that write it alone. */
export function entriesIn(rows: readonly SqlRow[], { name }: LogQuery, whose: string): LogEntry[] {
  const entries: LogEntry[] = [];
  let [begun, from]: [SqlRow[], number] = [[], 0];
  const end = (): void => {
    const writes = writesIn(begun, whose);
    if (begun.length > 0 && (name === undefined || writes.length > 0)) {
      entries.push({ pos: from, ...headIn(begun), writes });
    }
  };
  for (const row of rows) {
    const pos = numberIn(row, 'pos');
    if (pos !== from) {
      end();
      [begun, from] = [[], pos];
    }
    begun.push(row);
  }
  end();
  return entries;
}

/** The writer and the time of an entry. Of one that is in parts, one row says who. */
function headIn(rows: readonly SqlRow[]): Pick<LogEntry, 'time' | 'by'> {
  const row = rows.find(({ session }) => session !== null) ?? rows[0] ?? {};
  const time = numberIn(row, 'time');
  if (row['session'] === null) {
    return { time };
  }
  const by = { userId: textIn(row, 'user'), sessionId: textIn(row, 'session') };
  return { time, by: row['event'] === null ? by : { ...by, eventId: textIn(row, 'event') } };
}

/** Two rows of one name are one write, which was made where the second one is. */
function writesIn(rows: readonly SqlRow[], whose: string): LogWrite[] {
  const writes = new Map<string, LogWrite>();
  for (const row of rows.filter(({ name }) => name !== null)) {
    const name = textIn(row, 'name');
    const first = writes.get(name);
    const from = first?.from === undefined ? valueIn(row, 'before', name, whose) : first.from;
    const to = valueIn(row, 'value', name, whose);
    writes.delete(name);
    writes.set(name, defined({ name, from, to }));
  }
  return [...writes.values()];
}

function valueIn(row: SqlRow, column: string, name: string, whose: string) {
  return row[column] === null ? undefined : parseValue(name, textIn(row, column), whose);
}
