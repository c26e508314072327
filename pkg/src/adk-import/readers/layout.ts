// The layout of each maker's databases: tables, columns, and the order of events.

import type { AdkKind } from '../../stores/adk-database/detect.js';
import type { Unit } from '../values.js';

/** The kinds of databases that can be read. */
export type KnownKind = Exclude<AdkKind, 'unknown'>;

/** Tables and columns. All have `app_name` and `user_id`. */
export interface Layout {
  readonly sessions: {
    readonly table: string;
    readonly id: string;
    readonly created: string;
    readonly updated: string;
  };
  readonly events: {
    readonly table: string;
    readonly id: string;
    readonly time: string;
    /** Orders events of equal times: by `rowid` where SQLite has it. */
    readonly tie: string;
    readonly tieInSqlite: string;
  };
  /** App and user state as a row of JSON, or as a row for each key. */
  readonly app: { readonly table: string; readonly isByKey: boolean };
  readonly user: { readonly table: string; readonly isByKey: boolean };
  /** The unit of numbers in columns of time, in SQLite. */
  readonly unit: Unit;
  /** The unit of the number in the JSON of an event. */
  readonly eventUnit: Unit;
  /** True when `null` in a delta deletes the key. */
  readonly nullDeletes: boolean;
}

const PYTHON: Layout = {
  sessions: { table: 'sessions', id: 'id', created: 'create_time', updated: 'update_time' },
  events: { table: 'events', id: 'id', time: 'timestamp', tie: 'id', tieInSqlite: 'id' },
  app: { table: 'app_states', isByKey: false },
  user: { table: 'user_states', isByKey: false },
  unit: 'seconds',
  eventUnit: 'seconds',
  nullDeletes: false,
};

const BY_ROW = { ...PYTHON.events, tieInSqlite: 'rowid' };

const LAYOUTS: Readonly<Record<KnownKind, Layout>> = {
  'adk-python-v1': PYTHON,
  'adk-python-v0': PYTHON,
  'adk-python-sqlite': { ...PYTHON, events: BY_ROW },
  'adk-js': { ...PYTHON, events: BY_ROW, unit: 'milliseconds', eventUnit: 'milliseconds' },
  'adk-go': { ...PYTHON, events: BY_ROW, unit: 'milliseconds' },
  'adk-java': {
    sessions: { table: 'adk_sessions', id: 'session_id', created: 'created_at', updated: 'updated_at' },
    events: {
      table: 'adk_events',
      id: 'event_id',
      time: 'created_at',
      tie: 'event_sequence',
      tieInSqlite: 'event_sequence',
    },
    app: { table: 'adk_app_state', isByKey: true },
    user: { table: 'adk_user_state', isByKey: true },
    unit: 'milliseconds',
    eventUnit: 'milliseconds',
    nullDeletes: true,
  },
  'adk-java-v1': { ...PYTHON, eventUnit: 'milliseconds', nullDeletes: true },
};

/** The layout of a kind of database. */
export function layoutOf(kind: KnownKind): Layout {
  return LAYOUTS[kind];
}
