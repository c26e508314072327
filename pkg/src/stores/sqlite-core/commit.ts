// Committing to SQLite tables, within a transaction: reads the rows that a change needs, checks it, and writes it.

import { isStoreError } from '../../store/store-error.js';
import { isRememberedRefusal } from '../../store/refusals.js';
import { ScopeHistory } from './changed.js';
import { headOf, LogWrites } from './log-writes.js';
import { checkVersion } from './open.js';
import { entryOf, RECENT } from './entries.js';
import type { DeltaRows } from './delta-rows.js';
import { findToWrite, readScope, type KeyRows, type RowsForWrite, type ScopeRow, type SessionRow } from './read.js';
import { removeRow } from './remove.js';
import { numberIn } from './rows.js';
import * as sql from './statements.js';
import { Target } from './target.js';
import { ValueWrites } from './value-writes.js';
import { toColumn } from '../shared/column-text.js';
import { answerTo, decideCommit } from '../shared/decide.js';
import { callOf } from '../shared/keys.js';
import { REMEMBERED_MS } from '../shared/limits.js';
import type { ResolvedChange } from '../shared/operators.js';
import { outcomeOf, type Outcome } from '../shared/outcome.js';
import { beforeOf } from '../shared/parts.js';
import { isEmpty } from '../shared/values.js';
import type { SqlDriver } from './driver.js';
import type { SharedScope } from '../../model/scope.js';
import type { Change, Committed, Delta, Pos, ScopeName } from '../../store/contract.js';

/**
 * Commits a change. Throws when the database fails; a refusal is an answer, as the transaction may have to remember
 * it. `history` is that of the transaction; `hasLog` says whether writes to scopes are logged.
 */
export function commitChange(
  driver: SqlDriver,
  change: Change,
  hasLog: boolean,
  history = new ScopeHistory(driver),
): Outcome {
  const rows = outcomeOf(() => findFor(driver, change));
  if (isStoreError(rows)) {
    return rows;
  }
  const target = new Target(driver, rows, hasLog);
  const outcome = outcomeOf(() => decide(change, target, history));
  if (!isStoreError(outcome)) {
    // Nothing is written so far. A failure from here on undoes all.
    return 'rev' in outcome ? outcome : write(driver, change, outcome, target, history, hasLog);
  }
  if (isRememberedRefusal(change, outcome)) {
    driver.run(sql.FORGET_CALLS, [Date.now() - REMEMBERED_MS]);
    driver.run(sql.ADD_CALL, [callColumn(change), Date.now(), digestColumn(change)]);
  }
  return outcome;
}

/** See `callOf`; as columns hold it. */
function callColumn(change: Change): string {
  return toColumn(callOf(change));
}

/** The digest of a change, as columns hold it. */
function digestColumn({ digest }: Change): string | null {
  return digest === undefined ? null : toColumn(digest);
}

function findFor(driver: SqlDriver, change: Change): RowsForWrite {
  const { id, kind, key } = change;
  const rows = findToWrite(driver, key, kind === 'append' ? toColumn(id) : null, callColumn(change));
  checkVersion(rows.version);
  return rows;
}

/** The deltas of a change, or the answer to a duplicate. Throws a refusal. Writes nothing. */
function decide(change: Change, target: Target, history: ScopeHistory): Committed | ResolvedChange {
  const { app, user, session } = target.rows;
  const decision = decideCommit(change, target);
  if (decision.duplicate === undefined) {
    return decision;
  }
  const answer = answerTo(decision, { app: app.pos, user: user.pos }, tell(change, target.rows, history));
  // The session of a creation may have been removed, and another one be there.
  const isOther = change.kind === 'create' && session?.created !== change.id;
  return isOther ? answer : { ...answer, ...endOf(change, session?.expires) };
}

/** The answer's part about the end of the session. */
function endOf({ kind }: Change, expires: number | undefined): Pick<Committed, 'expires'> {
  return kind === 'update' || expires === undefined ? {} : { expires };
}

/** The answer's part about the scopes as they were before the change: to be called before anything is written. */
function tell(
  change: Change,
  { app, user, session }: KeyRows,
  history: ScopeHistory,
): Pick<Committed, 'before' | 'changed'> {
  const before = beforeOf(app.mark, user.mark, session?.last);
  return change.known === undefined ? { before } : { ...history.changed(app, user, change.known), before };
}

/** Makes a change that is known to be new, and allowed. */
function write(
  driver: SqlDriver,
  change: Change,
  { delta, results }: ResolvedChange,
  target: Target,
  history: ScopeHistory,
  hasLog: boolean,
): Committed {
  const { id, kind, key, time, event } = change;
  const { appName, userId, sessionId } = key;
  const { rows } = target;
  const known = tell(change, rows, history);
  const report = results === undefined ? known : { ...known, results };
  const values = new ValueWrites();
  const isLogged = hasLog && !(isEmpty(delta.app) && isEmpty(delta.user));
  const log = isLogged ? new LogWrites(driver, headOf(change)) : undefined;
  const writes: Writes = { driver, call: callColumn(change), target, values, history, log };
  const sessions = kind === 'create' ? 1 : 0;
  const app = ensureScope(driver, rows.app, { app: appName });
  const user = userId === undefined ? rows.user : ensureScope(driver, rows.user, { app: appName, user: userId });
  const pos: Pos = {
    app: move(writes, app, 'app', delta.app, sessions),
    user: userId === undefined ? 0 : move(writes, user, 'user', delta.user, sessions),
  };
  log?.write();
  const cameTo = results === undefined ? null : JSON.stringify(results);
  const beside: Beside = [cameTo, ...(hasLog ? ([pos.app, pos.user] as const) : NO_POS)];
  if (kind === 'update' || userId === undefined || sessionId === undefined) {
    values.write(driver);
    driver.run(sql.FORGET_UPDATES, [Date.now() - REMEMBERED_MS]);
    const { n } = userId === undefined ? app : user;
    driver.run(sql.ADD_UPDATE, [n, toColumn(id), Date.now(), cameTo, digestColumn(change)]);
    return { rev: 0, prev: null, pos, ...report };
  }
  const own =
    delta.session === undefined || isEmpty(delta.session) ? NOTHING : target.rowsOf('session', delta.session);
  const { keys, bytes } = own.growth;
  if (kind === 'create') {
    if (rows.expired !== undefined) {
      removeRow(driver, rows.expired.n, app.n, user.n);
    }
    const names = [toColumn(appName), toColumn(userId), toColumn(sessionId)];
    const { ttl, at } = change.expires ?? {};
    const expires = ttl === undefined ? at : Date.now() + ttl;
    const ends = [ttl ?? null, expires ?? null];
    driver.run(sql.MAKE_SESSION, [...names, toColumn(id), time, keys, bytes, ...ends, digestColumn(change)]);
    if (event !== undefined || !isEmpty(delta.session)) {
      const [row = {}] = driver.all(sql.FIND_SESSION, names);
      const n = numberIn(row, 'n');
      values.add(n, 0, own);
      if (event !== undefined) {
        addEvent(driver, n, 0, sql.BEGINNING, event, beside);
      }
    }
    values.write(driver);
    return { rev: 0, prev: null, pos, ...report, ...endOf(change, expires) };
  }
  const { n, rev: prev, peak, expires: end } = rows.session as SessionRow;
  const rev = prev + 1;
  const expires = rows.ttl === undefined ? end : Date.now() + rows.ttl;
  if (rows.ttl === undefined) {
    if (keys === 0 && bytes === 0) {
      driver.run(sql.MOVE_SESSION, [rev, time, n]);
    } else {
      driver.run(sql.GROW_SESSION, [rev, time, keys, bytes, n]);
    }
  } else {
    driver.run(sql.MOVE_EXPIRY, [rev, time, keys, bytes, expires ?? null, n]);
  }
  addEvent(driver, n, rev, toColumn(id), event ?? { time, data: '' }, beside, peak);
  values.add(n, rev, own);
  values.write(driver);
  return { rev, prev, pos, ...report, ...endOf(change, expires) };
}

/** The columns beside an event: `results`, `app_pos`, `user_pos`. */
type Beside = readonly [string | null, number | null, number | null];

const NO_POS = [null, null] as const;

/** The rows of a delta that writes nothing. */
const NOTHING: Pick<DeltaRows, 'set' | 'unset' | 'growth'> = { set: [], unset: [], growth: { keys: 0, bytes: 0 } };

function addEvent(
  driver: SqlDriver,
  n: number,
  rev: number,
  id: string,
  { time, data }: { time: number; data: string },
  beside: Beside,
  peak = time,
): void {
  driver.run(sql.ADD_EVENT, [n, rev, n, id, time, Math.max(peak, time), toColumn(data), ...beside]);
}

/** The row of a scope, which is made when there is none yet. */
function ensureScope(driver: SqlDriver, row: ScopeRow, scope: ScopeName): ScopeRow {
  if (row.n !== 0) {
    return row;
  }
  const { app, user } = scope;
  const names = user === undefined ? [null, toColumn(app)] : [toColumn(app), toColumn(user)];
  driver.run(sql.MAKE_SCOPE, [sql.scopeColumn(app, user), ...names]);
  return readScope(driver, scope);
}

/**
 * The input of a change's writes: its call as columns hold it, its target and values, and what its transaction has
 * done before.
 */
interface Writes {
  readonly driver: SqlDriver;
  readonly call: string;
  readonly target: Target;
  readonly values: ValueWrites;
  readonly history: ScopeHistory;
  /** Absent if no log is kept, and if there is nothing for it. */
  readonly log: LogWrites | undefined;
}

/** Writes a change's part in a scope. Returns the position of the scope after it. */
function move(
  { driver, call, target, values, history, log }: Writes,
  { n, pos }: ScopeRow,
  scope: SharedScope,
  delta: Delta | undefined,
  sessions: number,
): number {
  if (delta === undefined || isEmpty(delta)) {
    if (sessions > 0) {
      driver.run(sql.COUNT_SESSIONS, [sessions, n]);
    }
    return pos;
  }
  const next = pos + 1;
  const entry = entryOf(call, delta);
  const written = target.rowsOf(scope, delta);
  const { keys, bytes } = written.growth;
  const moving = [next, call, entry, sessions, keys, bytes, Date.now(), n];
  driver.run(log === undefined ? sql.MOVE_UNLOGGED : sql.MOVE_SCOPE, moving);
  history.add(n, next, entry);
  if (next % RECENT.changes === 0 || entry.length > RECENT.characters) {
    driver.run(sql.KEEP_RECENT, [n]);
    driver.run(sql.CLEAR_RECENT, [n]);
  }
  values.add(n, next, written);
  log?.add(n, next, written.written());
  return next;
}
