// Sizes and limits in D1.
//
// A batch that writes many changes would have to add up their sizes in the order in which it accepts them. So it only
// makes sure that no limit can be reached, whatever is there, and fails otherwise; it also fails where a session that
// has expired is in the way of a creation. Each change is then sent again, alone and with exact statements.

import { Bindings, query, type D1Query } from './client.js';
import { KINDS, TOUCH, type PackedChange } from './packed-change.js';
import { headAs, IS_SESSION, PENDING, TOUCHED } from './pending.js';
import { NOW } from './read.js';
import { removeExpiredQueries } from './remove.js';
import { packRow, rowsAs, type PackedRow } from './rows.js';
import type { StoreLimits } from '../../../store/contract.js';
import { toColumn } from '../../shared/column-text.js';
import type { SessionKey } from '../../../model/types.js';

/** The texts of the errors of a batch that a doubt makes fail: a row is inserted that the table does not take. */
const IN_DOUBT = ['statepad_meta.value', 'statepad_scopes.scope'].map(
  (column) => `NOT NULL constraint failed: ${column}`,
);

/** True for the error of a batch that has done nothing, as its changes have to be written one by one. */
export function isInDoubt(error: unknown): boolean {
  return error instanceof Error && IN_DOUBT.some((text) => error.message.includes(text));
}

/** The columns of what the scopes of a group may have before it, so that no limit is exceeded. */
const ROOM = ['scope', 'app', 'user', 'session', 'keys', 'bytes'] as const;

/** A condition under which a batch has to fail, and the tables that it needs besides `head`. */
interface Doubt {
  readonly tables: readonly string[];
  readonly condition: string;
}

/** The doubts about a group, if there can be any: see {@link isInDoubt}. */
function doubtOf(group: readonly PackedChange[], all: Bindings): Doubt | undefined {
  const rooms = roomsOf(group);
  const hasCreations = group.some(({ change }) => change.kind === 'create');
  if (rooms.length === 0 && !hasCreations) {
    return undefined;
  }
  const isBeyondRoom = (table: string, isOwner: string): string =>
    `EXISTS (SELECT 1 FROM room CROSS JOIN ${table} AS x ON ${isOwner} WHERE x.keys > room.keys OR x.bytes > room.bytes)`;
  const conditions = [
    ...(rooms.length > 0
      ? [
          'EXISTS (SELECT 1 FROM room WHERE room.keys < 0 OR room.bytes < 0)',
          isBeyondRoom('statepad_scopes', 'x.scope = room.scope'),
          isBeyondRoom('statepad_sessions', 'x.app = room.app AND x.user = room.user AND x.id = room.session'),
        ]
      : []),
    ...(hasCreations
      ? [
          `EXISTS (SELECT 1 FROM head CROSS JOIN statepad_sessions AS s ON ${IS_SESSION}
            WHERE head.kind = ${KINDS.create} AND s.expires <= ${NOW} AND s.created <> head.id)`,
        ]
      : []),
  ];
  return {
    tables: rooms.length > 0 ? [rowsAs('room', ROOM, rooms, all)] : [],
    condition: conditions.join(' OR '),
  };
}

/**
 * The statement, if any is needed, that makes a batch fail: for a group of appends. In the others the statement that
 * makes scopes does so, by {@link doubtfulScope}, as each statement of a batch costs time.
 */
export function checkDoubts(group: readonly PackedChange[]): D1Query[] {
  if (group.some(({ change }) => change.kind !== 'append') || doubtOf(group, new Bindings()) === undefined) {
    return [];
  }
  return [
    query((all) => {
      const { tables, condition } = doubtOf(group, all) as Doubt;
      return `WITH ${tables.join(', ')}
        INSERT INTO statepad_meta (name, value) SELECT 'in doubt', NULL WHERE ${condition}`;
    }),
  ];
}

/** The tables that a statement which makes scopes needs for doubts, and the rows that make it fail then. */
export function doubtfulScope(group: readonly PackedChange[], all: Bindings): [tables: string, rows: string] {
  const { tables = [], condition = 'false' } = doubtOf(group, all) ?? {};
  return [
    tables.map((table) => `, ${table}`).join(''),
    `UNION ALL SELECT NULL, NULL, NULL, NULL, 0, 0 WHERE ${condition}`,
  ];
}

/** The most that is there, in any order of the changes of a group. */
interface Room {
  readonly owner: readonly [scope: string | null, app: string | null, user: string | null, session: string | null];
  keys: number;
  bytes: number;
  keysLimit: number;
  bytesLimit: number;
}

function roomsOf(group: readonly PackedChange[]): PackedRow[] {
  const rooms = new Map<string, Room>();
  for (const { change, most, appScope, userScope } of group) {
    const { keys: keysLimit = Infinity, state: bytesLimit = Infinity }: StoreLimits = change.limits ?? {};
    const { appName, userId = '', sessionId = '' } = change.key;
    const session = [null, ...[appName, userId, sessionId].map(toColumn)] as unknown as Room['owner'];
    ([[appScope, null, null, null], [userScope ?? null, null, null, null], session] as Room['owner'][]).forEach(
      (owner, part) => {
        const { keys, bytes } = most[part] ?? { keys: 0, bytes: 0 };
        if (keys === 0) {
          return;
        }
        const name = JSON.stringify(owner);
        const room = rooms.get(name) ?? { owner, keys: 0, bytes: 0, keysLimit: Infinity, bytesLimit: Infinity };
        room.keys += keys;
        room.bytes += bytes;
        room.keysLimit = Math.min(room.keysLimit, keysLimit);
        room.bytesLimit = Math.min(room.bytesLimit, bytesLimit);
        rooms.set(name, room);
      },
    );
  }
  const left = (limit: number, most: number): number =>
    Number.isFinite(limit) ? Math.floor(limit) - most : Number.MAX_SAFE_INTEGER;
  return [...rooms.values()]
    .filter(({ keysLimit, bytesLimit }) => keysLimit !== Infinity || bytesLimit !== Infinity)
    .map(({ owner, keys, bytes, keysLimit, bytesLimit }) =>
      packRow([...owner, left(keysLimit, keys), left(bytesLimit, bytes)]),
    );
}

/** Removes sessions that have expired from the places of those that are created; `now` is the time by the clock. */
export function makeRoom(group: readonly PackedChange[], now: number): D1Query[] {
  return group.flatMap(({ change: { kind, key } }) =>
    kind === 'create' ? removeExpiredQueries(key as SessionKey, now) : [],
  );
}

/** True if sizes are to be compared with the limits of a change that is alone. */
export function isMeasured([packed]: readonly PackedChange[]): boolean {
  const { keys = Infinity, state = Infinity } = packed?.change.limits ?? {};
  return packed !== undefined && packed.touches.length > 0 && (keys !== Infinity || state !== Infinity);
}

const touchAs = (group: readonly PackedChange[], all: Bindings): string =>
  rowsAs(
    'touch',
    TOUCH,
    group.flatMap(({ touches }) => touches),
    all,
  );

/** The difference that the rows of a table `touch`, joined to the values `v` that are there, make to their owner. */
const growthOf = (touch: string): string =>
  `sum(${touch}.size IS NOT NULL) - count(v.name) AS more_keys,
    sum(coalesce(${touch}.length + ${touch}.size, 0)) - coalesce(sum(${touch}.length + v.size), 0) AS more_bytes`;

/** The sizes of the scopes of a change that is alone, by their parts, and how it makes them grow. Behind `head`. */
export function sizesAs(group: readonly PackedChange[], all: Bindings): string {
  return `${touchAs(group, all)}, owner AS MATERIALIZED (
      SELECT 0 AS part, x.n, x.keys, x.bytes FROM head JOIN statepad_scopes AS x ON x.scope = head.app_scope
      UNION ALL
      SELECT 1, x.n, x.keys, x.bytes FROM head JOIN statepad_scopes AS x ON x.scope = head.user_scope
      UNION ALL
      SELECT 2, s.n, s.keys, s.bytes FROM head JOIN statepad_sessions AS s ON ${IS_SESSION}
    ), size AS MATERIALIZED (
      SELECT touch.part, coalesce(owner.keys, 0) AS keys, coalesce(owner.bytes, 0) AS bytes, ${growthOf('touch')}
        FROM touch LEFT JOIN owner ON owner.part = touch.part
          LEFT JOIN statepad_values AS v ON v.owner = owner.n AND v.name = touch.name GROUP BY touch.part
    )`;
}

/** True if a row of {@link sizesAs} grows beyond the limits of the change. */
export function isBeyond([packed]: readonly PackedChange[], all: Bindings): string {
  const { keys = Infinity, state = Infinity } = packed?.change.limits ?? {};
  const grows = (limit: number, column: string): string[] =>
    Number.isFinite(limit) ? [`more_${column} > 0 AND ${column} + more_${column} > ${all.add(limit)}`] : [];
  return [...grows(keys, 'keys'), ...grows(state, 'bytes'), 'false'].join(' OR ');
}

/** Reads the rows of {@link sizesAs}. */
export function readSizes(group: readonly PackedChange[]): D1Query {
  return query((all) => `WITH ${headAs(group, all)}, ${sizesAs(group, all)} SELECT * FROM size`);
}

/**
 * Counts the changes of a group that are pending into the sizes of their scopes. To be run before values are written.
 */
export function countAll(group: readonly PackedChange[]): D1Query[] {
  const counted = (table: string, parts: string, isTouched: boolean): D1Query[] =>
    isTouched
      ? [
          query(
            (
              all,
            ) => `WITH ${headAs(group, all)}, ${touchAs(group, all)}, ${PENDING}, ${TOUCHED}, latest AS MATERIALIZED (
                SELECT touched.owner, touch.name, touch.length, touch.size, max(touch.i)
                  FROM touch JOIN touched ON touched.i = touch.i AND touched.part = touch.part
                  WHERE touch.part ${parts} GROUP BY touched.owner, touch.name
              ), growth AS MATERIALIZED (
                SELECT latest.owner, ${growthOf('latest')} FROM latest
                  LEFT JOIN statepad_values AS v ON v.owner = latest.owner AND v.name = latest.name GROUP BY latest.owner
              )
              UPDATE ${table} SET keys = keys + growth.more_keys, bytes = bytes + growth.more_bytes
                FROM growth WHERE ${table}.n = growth.owner`,
          ),
        ]
      : [];
  const writesScopes = group.some(({ entries }) => entries.length > 0);
  const writesSessions = group.some(({ writesSession }) => writesSession);
  return [...counted('statepad_scopes', '< 2', writesScopes), ...counted('statepad_sessions', '= 2', writesSessions)];
}
