// Converts rows of events to events in ADK's JSON.

import { deletions } from './deletions.js';
import { layoutOf, type KnownKind } from './layout.js';
import { fromJs } from '../names.js';
import { jsonOfPickle } from '../pickle/json.js';
import { Instance } from '../pickle/data.js';
import { readPickle } from '../pickle/reader.js';
import { jsonOf, objectOf, optionalText, textOf, timeOf, type Numbers } from '../values.js';
import { refuse } from '../../jsonl/problems.js';
import { eventOf as fromPython } from '../../stores/adk-database/event-json.js';
import { millisecondsOf } from '../../stores/adk-database/times.js';
import { isObject } from '../../model/value-types.js';
import type { Members } from '../../jsonl/members.js';
import type { EventInit, Json } from '../../model/types.js';
import type { AdkRow } from '../../stores/adk-database/database.js';
import type { Reading } from '../source/sql.js';

/** Columns that hold a member of an event as JSON, and the member. */
const JSON_COLUMNS = {
  content: 'content',
  grounding_metadata: 'groundingMetadata',
  custom_metadata: 'customMetadata',
  usage_metadata: 'usageMetadata',
  citation_metadata: 'citationMetadata',
  input_transcription: 'inputTranscription',
  output_transcription: 'outputTranscription',
  long_running_tool_ids_json: 'longRunningToolIds',
  routes_json: 'routes',
  output_json: 'output',
  node_info_json: 'nodeInfo',
  requested_input_json: 'requestedInput',
} as const;
/** Columns that hold a text. */
const TEXT_COLUMNS = {
  author: 'author',
  branch: 'branch',
  isolation_scope: 'isolationScope',
  error_code: 'errorCode',
  error_message: 'errorMessage',
} as const;
/** Columns that hold a truth value. */
const FLAG_COLUMNS = { partial: 'partial', turn_complete: 'turnComplete', interrupted: 'interrupted' } as const;

/**
 * The columns of an event that a statement selects, besides its id, which is `event_id`, and its time, `event_time`.
 */
export function eventColumns(kind: KnownKind, reading: Reading): readonly string[] {
  switch (kind) {
    case 'adk-python-v0':
    case 'adk-go': {
      const has = (name: string): boolean => reading.has('events', name);
      const json = Object.keys(JSON_COLUMNS).filter(has);
      const others = [...Object.keys(TEXT_COLUMNS), ...Object.keys(FLAG_COLUMNS)].filter(has);
      return ['actions', 'invocation_id', ...others, ...json.map((name) => `${reading.json(name)} AS ${name}`)];
    }
    case 'adk-java':
      return [`${reading.json('event_data')} AS event_data`];
    default:
      return ['invocation_id', `${reading.json('event_data')} AS event_data`];
  }
}

/** The event of a row. Throws `INVALID_ARGUMENT` when it cannot be read. */
export function eventOf(kind: KnownKind, row: AdkRow, numbers: Numbers): EventInit {
  const id = textOf(row['event_id'], 'id');
  if (id === '') {
    refuse('the id of an event is empty');
  }
  const members =
    kind === 'adk-python-v0' || kind === 'adk-go' ? fromColumns(kind, row, numbers) : fromJson(kind, row, numbers);
  const event = layoutOf(kind).nullDeletes ? deletions(members) : members;
  if (event['partial']) {
    refuse('the event is partial: such events are not stored');
  }
  const invocationId = event['invocationId'] ?? optionalText(row['invocation_id'], 'invocation_id') ?? '';
  return { ...event, id, invocationId: textOf(invocationId, 'invocationId') };
}

/** A row with the whole event as JSON. */
function fromJson(kind: KnownKind, row: AdkRow, numbers: Numbers): Members & { readonly timestamp: number } {
  const stored = objectOf(row['event_data'], 'event_data', numbers);
  const { unit, eventUnit } = layoutOf(kind);
  const isWrapped = kind === 'adk-java' && stored['formatVersion'] === 2 && isObject(stored['event']);
  const members = isWrapped ? (stored['event'] as Members) : stored;
  const { timestamp } = members;
  const column = timeOf(row['event_time'], 'the time of the event', unit);
  if (timestamp !== undefined && typeof timestamp !== 'number') {
    return refuse('timestamp must be a number');
  }
  const moment = timestamp === undefined ? column : momentOf(timestamp, column, eventUnit === 'seconds');
  return { ...named(kind, members), timestamp: moment };
}

/** The members of an event under the names of ADK's JSON. */
function named(kind: KnownKind, event: Members): Members {
  switch (kind) {
    case 'adk-python-v1':
    case 'adk-python-v0':
    case 'adk-python-sqlite':
      return fromPython(event as Readonly<Record<string, Json>>) as unknown as Members;
    case 'adk-js':
      return fromJs(event) as Members;
    default:
      return event;
  }
}

/**
 * The time in the JSON of an event, in milliseconds. adk-python writes seconds and adk-js milliseconds, into tables
 * that both can read: the unit is the one that comes nearer to the time in the column.
 */
function momentOf(timestamp: number, column: number, isInSeconds: boolean): number {
  const seconds = millisecondsOf(timestamp);
  const [far, near] = [Math.abs(timestamp - column), Math.abs(seconds - column)];
  return (far === near ? isInSeconds : near < far) ? seconds : timestamp;
}

/** A row with a column for each member. */
function fromColumns(kind: 'adk-python-v0' | 'adk-go', row: AdkRow, numbers: Numbers): Members {
  const isPython = kind === 'adk-python-v0';
  const nameOf = (column: string, member: string): string => (isPython ? column.replace(/_json$/, '') : member);
  const event: Record<string, unknown> = {};
  for (const [column, member] of Object.entries(TEXT_COLUMNS)) {
    event[nameOf(column, member)] = optionalText(row[column], column);
  }
  for (const [column, member] of Object.entries(FLAG_COLUMNS)) {
    const value = row[column];
    // adk-go writes all of them, and its JSON has only those that are true.
    event[nameOf(column, member)] = isPython ? optionalFlag(value) : value ? true : undefined;
  }
  for (const [column, member] of Object.entries(JSON_COLUMNS)) {
    event[nameOf(column, member)] = jsonOf(row[column], column, numbers) ?? undefined;
  }
  if (isPython) {
    // As adk-python reads it.
    event['long_running_tool_ids'] ??= [];
  }
  event['actions'] = isPython ? pickledActions(row['actions'], numbers) : goActions(row['actions'], numbers);
  const members = Object.fromEntries(Object.entries(event).filter(([, value]) => value !== undefined));
  return { ...named(kind, members), timestamp: timeOf(row['event_time'], 'the time of the event') };
}

function optionalFlag(value: unknown): boolean | undefined {
  return value === null || value === undefined ? undefined : Boolean(value);
}

function pickledActions(value: unknown, numbers: Numbers): unknown {
  if (value === null || value === undefined) {
    return {};
  }
  const bytes = value instanceof Uint8Array ? value : refuse('actions are not bytes');
  const actions = readPickle(bytes);
  return actions instanceof Instance && actions.type.name === 'EventActions'
    ? jsonOfPickle(actions, bytes.length, numbers)
    : refuse('actions are a pickle, but not of EventActions');
}

function goActions(value: unknown, numbers: Numbers): unknown {
  return value instanceof Uint8Array && value.length === 0 ? {} : objectOf(value, 'actions', numbers);
}
