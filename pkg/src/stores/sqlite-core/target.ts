// The app, the user and the session of a change, in SQLite tables, as they are before it.

import { defined } from '../../model/defined.js';
import { readLease } from './lease.js';
import { DeltaRows } from './delta-rows.js';
import { numberOf, recordIn, resultsOf, textIn } from './rows.js';
import * as sql from './statements.js';
import { toColumn } from '../shared/column-text.js';
import { callOf } from '../shared/keys.js';
import { parseValue } from '../shared/values.js';
import type { SqlDriver, SqlRow } from './driver.js';
import type { RowsForWrite, SessionRow } from './read.js';
import type { ScopeSizes, Size } from '../shared/growth.js';
import type { CallRecord, CommitFacts, CommitContent } from '../shared/decide.js';
import type { Change, Delta } from '../../store/contract.js';
import type { SharedScope, StoredScope } from '../../model/scope.js';
import type { Json } from '../../model/types.js';

/** The target of a change: the rows read for it at once, and those that are looked up only where they count. */
export class Target implements CommitFacts, ScopeSizes {
  readonly session: SessionRow | undefined;
  readonly rows: RowsForWrite;
  readonly #driver: SqlDriver;
  readonly #hasLog: boolean;
  readonly #written: Partial<Record<StoredScope, DeltaRows>> = {};

  constructor(driver: SqlDriver, rows: RowsForWrite, hasLog: boolean) {
    this.#driver = driver;
    this.#hasLog = hasLog;
    this.rows = rows;
    this.session = rows.session;
  }

  get sizes(): ScopeSizes {
    return this;
  }

  size(scope: StoredScope): Size {
    return this.rows.sizes[scope];
  }

  bytesOf(scope: StoredScope, name: string): number | undefined {
    // By its columns, as deltas read it: a text is run in one way alone.
    const row = this.#driver.first(sql.READ_SIZE, [this.rows[scope]?.n ?? 0, toColumn(name)]);
    return row && numberOf(row[0], 'size');
  }

  growth(scope: StoredScope, delta: Delta): Size {
    return this.rowsOf(scope, delta).growth;
  }

  /** The rows that the change writes to a scope: made once, before anything is written. */
  rowsOf(scope: StoredScope, delta: Delta): DeltaRows {
    const isLogged = this.#hasLog && scope !== 'session';
    return (this.#written[scope] ??= new DeltaRows(this.#driver, this.rows[scope]?.n ?? 0, delta, isLogged));
  }

  contentOf({ id, kind, key }: Change): CommitContent | undefined {
    const { app, user, session, eventData } = this.rows;
    if (kind === 'append') {
      return eventData === undefined
        ? undefined
        : { data: eventData, ...resultsIn(this.#first(sql.READ_RESULTS, session?.n ?? 0, id)) };
    }
    const update = this.#first(sql.FIND_UPDATE, (key.userId === undefined ? app : user).n, id);
    return update && { ...resultsIn(update), ...recordIn(update) };
  }

  creationOf(): CallRecord {
    return this.#digestOf(this.session);
  }

  tombstoneOf({ id }: Change): CallRecord | undefined {
    const { expired } = this.rows;
    if (expired?.created === id) {
      return this.#digestOf(expired);
    }
    const [row] = this.#driver.all(sql.FIND_CREATION, [toColumn(id)]);
    return row && recordIn(row);
  }

  refusalOf(change: Change): CallRecord | undefined {
    return this.rows.isRefused ? recordIn(this.#driver.all(sql.FIND_CALL, [toColumn(callOf(change))])[0]) : undefined;
  }

  fence(): number {
    return this.session === undefined ? 0 : readLease(this.#driver, this.session.n).fence;
  }

  pos(scope: SharedScope): number {
    return this.rows[scope].pos;
  }

  holds(scope: StoredScope, { set = {}, unset = [] }: Delta): boolean {
    return (
      unset.every((name) => this.#column(scope, name) === undefined) &&
      Object.keys(set).every((name) => this.#column(scope, name) === sql.jsonColumn(set[name]))
    );
  }

  value(scope: StoredScope, name: string): Json | undefined {
    const row = this.#row(scope, name);
    return row === undefined ? undefined : parseValue(name, textIn(row, 'value'), `the ${scope}`);
  }

  #digestOf(session: SessionRow | undefined): CallRecord {
    return recordIn(this.#driver.all(sql.READ_DIGEST, [session?.n ?? 0])[0]);
  }

  #column(scope: StoredScope, name: string): unknown {
    return this.#row(scope, name)?.['value'];
  }

  #row(scope: StoredScope, name: string): SqlRow | undefined {
    return this.#first(sql.READ_VALUE, this.rows[scope]?.n ?? 0, name);
  }

  #first(statement: string, owner: number, name: string): SqlRow | undefined {
    return this.#driver.all(statement, [owner, toColumn(name)])[0];
  }
}

/** The results of the operators in the row of a committed change. */
function resultsIn(row: SqlRow | undefined): CommitContent {
  const results = resultsOf(row?.['results']);
  return defined({ results });
}
