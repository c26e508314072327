// The changes of others to scopes since a position, in D1: the changes since then and the values under the names that
// they concern are read in one statement, as they are before anything is written.

import { packRow, portionsOf, rowsAs } from './rows.js';
import { query, type D1Query } from './client.js';
import { changesIn, deltaOf, entryOf, namesSince, type ScopeChange } from '../../sqlite-core/entries.js';
import { entryIn, numberIn, textIn, type Entry } from '../../sqlite-core/rows.js';
import { jsonColumn } from '../../sqlite-core/statements.js';
import { fromColumn, toColumn } from '../../shared/column-text.js';
import { changedOf } from '../../shared/parts.js';
import { namesIn } from '../../shared/values.js';
import { TOLD } from '../../sqlite-core/schema.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { Committed, Delta, Known, Pos } from '../../../store/contract.js';

/** The position of a caller in a scope. */
export interface KnownScope {
  /** The name of the scope in the tables. */
  readonly scope: string;
  readonly pos: number;
  readonly mark: string;
}

/** A text of `recent` or `statepad_changes` as a JSON list. */
export const ITEMS = (entries: string): string => `'[' || substr(${entries}, 2) || ']'`;

/** The positions of the caller in its scopes, as far as it has said them with marks. */
export function knownScopes(
  { pos = {}, marks = {} }: Pick<Known, 'pos' | 'marks'>,
  app: string,
  user: string | undefined,
): KnownScope[] {
  const at = (scope: string | undefined, at: number | undefined, mark: string | undefined): KnownScope[] =>
    scope === undefined || mark === undefined || !Number.isSafeInteger(at) ? [] : [{ scope, pos: at as number, mark }];
  return [...at(app, pos.app, marks.app), ...at(user, pos.user, marks.user)];
}

/**
 * The statements that read it; none when nothing is known. `written` are names that may be written before it is told,
 * by their scopes.
 */
export function toldQueries(
  known: readonly KnownScope[],
  written: readonly { scope: string; delta: Delta }[] = [],
): D1Query[] {
  const places = new Map(
    known.map(({ scope, pos, mark }) => [JSON.stringify([scope, pos, mark]), packRow([scope, pos, toColumn(mark)])]),
  );
  const names = written.flatMap(({ scope, delta }) => namesIn(delta).map((name) => packRow([scope, toColumn(name)])));
  const portions = names.length === 0 ? [[]] : portionsOf(names);
  return portionsOf([...places.values()]).flatMap((rows) =>
    portions.map((portion) =>
      query((all) => {
        const tables = [
          rowsAs('known', ['scope', 'pos', 'mark'], rows, all),
          ...(portion.length > 0 ? [rowsAs('ours', ['scope', 'name'], portion, all)] : []),
        ];
        return `WITH ${tables.join(', ')}, ${CHUNK}, named AS MATERIALIZED (
        SELECT DISTINCT chunk.n, chunk.scope, name.value AS name
          FROM chunk, json_each(${ITEMS('chunk.entries')}) AS item, json_each(item.value) AS name
          WHERE name.key > 0 AND chunk.pos - json_array_length(${ITEMS('chunk.entries')}) + 1 + item.key > chunk.since
        ${portion.length > 0 ? 'UNION SELECT told.n, told.scope, ours.name FROM ours CROSS JOIN told ON told.scope = ours.scope' : ''}
      )
      SELECT scope, pos, entries, NULL AS name, NULL AS value, NULL AS born, NULL AS nth FROM chunk
      UNION ALL
      SELECT named.scope, NULL, NULL, v.name, v.value, v.born, v.nth
        FROM named CROSS JOIN statepad_values AS v ON v.owner = named.n AND v.name = named.name`;
      }),
    ),
  );
}

/**
 * The texts with the changes of scopes since what is `known`. CROSS JOIN keeps SQLite from beginning with the other
 * table.
 */
export const CHUNK = `told AS MATERIALIZED (
    SELECT x.n, x.scope, min(known.pos) AS since FROM known CROSS JOIN statepad_scopes AS x ON x.scope = known.scope
      WHERE x.pos - known.pos BETWEEN 0 AND ${TOLD} GROUP BY x.n, x.scope
  ), chunk AS MATERIALIZED (
    SELECT told.n, told.scope, told.since, x.pos, x.recent AS entries
      FROM told CROSS JOIN statepad_scopes AS x ON x.n = told.n
    UNION ALL
    SELECT told.n, told.scope, told.since, c.pos, c.entries
      FROM told CROSS JOIN statepad_changes AS c ON c.owner = told.n AND c.pos >= told.since
  )`;

/** The positions of scopes while changes to them are gone through, one after the other. */
export class ToldScopes {
  readonly #changes = new Map<string, Map<number, ScopeChange>>();
  readonly #entries = new Map<string, Map<string, Entry>>();
  /** The positions of scopes that were moved. */
  readonly #places = new Map<string, { readonly pos: number; readonly mark: string }>();

  /** `rows` are the answers of {@link toldQueries}. */
  constructor(rows: readonly SqlRow[]) {
    for (const row of rows) {
      const scope = row['scope'] as string;
      if (typeof row['name'] === 'string') {
        const entry = entryIn(row);
        of(this.#entries, scope).set(entry.name, entry);
      } else {
        const changes = of(this.#changes, scope);
        changesIn(numberIn(row, 'pos'), textIn(row, 'entries')).forEach(([pos, change]) => changes.set(pos, change));
      }
    }
  }

  /** The position of a scope that was at `pos` and `mark` before all changes. */
  at(
    scope: string,
    pos: number,
    mark: string | undefined,
  ): { readonly pos: number; readonly mark: string | undefined } {
    return this.#places.get(scope) ?? { pos, mark };
  }

  /** The same for one scope. */
  #since({ scope, pos: since, mark }: KnownScope, pos: number, whose: string): Delta | undefined {
    if (since >= pos || pos - since > TOLD) {
      return undefined;
    }
    const names = namesSince(of(this.#changes, scope), since, toColumn(mark), pos);
    const entries = of(this.#entries, scope);
    return (
      names &&
      deltaOf(
        names,
        names.flatMap((name) => entries.get(fromColumn(name)) ?? []),
        since,
        whose,
      )
    );
  }

  /** The changes of an app and a user since a caller was there, up to their positions, as far as they are known. */
  changed(
    known: Pick<Known, 'pos' | 'marks'>,
    appScope: string,
    userScope: string | undefined,
    pos: Pos,
  ): Pick<Committed, 'changed'> {
    const had = knownScopes(known, appScope, userScope);
    const since = (scope: string | undefined, at: number, whose: string): Delta | undefined => {
      const place = had.find((each) => each.scope === scope);
      return place && this.#since(place, at, whose);
    };
    return changedOf(since(appScope, pos.app, 'the app'), since(userScope, pos.user, 'the user'));
  }

  /** A change of the scope brings it to `pos`. */
  move(scope: string, pos: number, mark: string, delta: Delta): void {
    const { set = {}, unset = [] } = delta;
    const [entries, changes] = [of(this.#entries, scope), of(this.#changes, scope)];
    changesIn(pos, entryOf(toColumn(mark), delta)).forEach(([at, change]) => changes.set(at, change));
    unset.forEach((name) => entries.delete(name));
    Object.keys(set).forEach((name, nth) => {
      const { born, nth: place } = entries.get(name) ?? { born: pos, nth };
      entries.set(name, { name, value: jsonColumn(set[name]), born, nth: place });
    });
    this.#places.set(scope, { pos, mark });
  }
}

function of<Key, Value>(maps: Map<string, Map<Key, Value>>, scope: string): Map<Key, Value> {
  let map = maps.get(scope);
  if (map === undefined) {
    map = new Map<Key, Value>();
    maps.set(scope, map);
  }
  return map;
}
