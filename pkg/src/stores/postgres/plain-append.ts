// Encodes a single event or creation for the function that writes one.

import { APPEND } from './functions/append.js';
import { CREATE } from './functions/create.js';
import { arrayOf, plainArrayOf } from './arrays.js';
import { movedNames } from './moved-names.js';
import { namesOf, operatorColumns, operatorsOf, PARTS } from './operators.js';
import { partsOfTurn } from './turns.js';
import { toColumn } from '../shared/column-text.js';
import { namesIn } from '../shared/values.js';
import { isWellFormed } from '../../model/json.js';
import type { SqlValue, Statement } from './client.js';
import type { Change } from '../../store/contract.js';

/** An event as the functions that write events alone take it: without the guards and notes that are rare. */
export type PlainAppend = Change & { readonly kind: 'append' };

/** Whether a change is a {@link PlainAppend}. */
export function isPlainAppend(change: Change): change is PlainAppend {
  const { kind, guard, attempt, turn } = change;
  return (
    kind === 'append' &&
    guard?.pos === undefined &&
    guard?.keys === undefined &&
    attempt === undefined &&
    partsOfTurn(turn) === undefined &&
    isReadable(change)
  );
}

/**
 * Whether all texts of a change go to Postgres as they are. A lone surrogate in a parameter would be replaced without
 * a word; the function for every change refuses it.
 */
function isReadable({ id, call = '', key, event, delta, operators, guard, known }: Change): boolean {
  const names = PARTS.flatMap((part) => [...namesIn(delta[part] ?? {}), ...namesOf(operators, part)]);
  const { appName, userId = '', sessionId = '' } = key;
  const { app = '', user = '' } = known?.marks ?? {};
  const texts = [appName, userId, sessionId, id, call, event?.data ?? '', guard?.created ?? '', app, user];
  return texts.every(isWellFormed) && names.every(isWellFormed);
}

/** What is sent of an event in either way. */
export interface AppendColumns {
  readonly session: string;
  readonly created: string | null;
  readonly rev: number | null;
  readonly fence: number | null;
  readonly id: string;
  readonly call: string;
  readonly time: number;
  readonly at: number;
  readonly data: string;
  /** The names that it moves the app and the user by, as JSON lists; null where it does not. */
  readonly appNames: string | null;
  readonly userNames: string | null;
}

/** What is sent of an event in either way. */
export function columnsOf(change: Change): AppendColumns {
  const { id, call, key, time, event, guard } = change;
  const [ofApp, ofUser] = [movedNames(change, 'app'), movedNames(change, 'user')];
  return {
    session: toColumn(key.sessionId ?? ''),
    created: guard?.created === undefined ? null : toColumn(guard.created),
    rev: guard?.rev ?? null,
    fence: guard?.fence ?? null,
    id: toColumn(id),
    call: toColumn(call ?? id),
    time,
    at: event?.time ?? time,
    data: toColumn(event?.data ?? ''),
    appNames: ofApp && JSON.stringify(ofApp),
    userNames: ofUser && JSON.stringify(ofUser),
  };
}

/** Whether a change is a creation as the function that writes one alone takes it. */
export function isPlainCreate(change: Change): boolean {
  const { kind, guard, attempt, turn, delta, operators } = change;
  return (
    kind === 'create' &&
    guard === undefined &&
    operators === undefined &&
    attempt === undefined &&
    partsOfTurn(turn) === undefined &&
    PARTS.every((part) => !delta[part]?.unset?.length) &&
    isReadable(change)
  );
}

/** The statement that writes one event. `log`: whether what it writes goes into the log. */
export function appendStatement(schema: string, change: PlainAppend, log: boolean): Statement {
  const { key, delta } = change;
  const columns = columnsOf(change);
  const { session, created, rev, fence, id, call, time, at, data } = columns;
  const unsets = PARTS.flatMap((name, part) =>
    (delta[name]?.unset ?? []).map((each) => ({ part, name: toColumn(each) })),
  );
  const values: SqlValue[] = [
    ...[toColumn(key.appName), toColumn(key.userId ?? ''), session, created, rev, fence, id, call, time, at, data],
    ...valuesOf(change, columns, log),
    ...(unsets.length === 0
      ? [null, null]
      : [plainArrayOf(unsets.map(({ part }) => part)), arrayOf(unsets.map(({ name }) => name))]),
    ...operatorsIn(change),
  ];
  return { text: callOf(schema, APPEND), values };
}

/** The arrays of the operators of a change; null where it has none. */
function operatorsIn(change: Change): (string | null)[] {
  const operators = operatorsOf(change);
  if (operators.length === 0) {
    return [null, null, null, null, null];
  }
  const { parts, names, kinds, operands, expected } = operatorColumns(operators);
  return [plainArrayOf(parts), arrayOf(names), arrayOf(kinds), arrayOf(operands), arrayOf(expected)];
}

/** The statement that writes one creation. `log`: whether what it writes goes into the log. */
export function createStatement(schema: string, change: Change, log: boolean): Statement {
  const { key, event } = change;
  const columns = columnsOf(change);
  const { session, id, call, time, at, data } = columns;
  const values: SqlValue[] = [
    ...[toColumn(key.appName), toColumn(key.userId ?? ''), session, id, call, time, at],
    event === undefined ? null : data,
    ...valuesOf(change, columns, log),
  ];
  return { text: callOf(schema, CREATE), values };
}

/** What is known of the scopes and what is set: `VALUE_PARAMETERS` of the functions. */
function valuesOf(change: Change, { appNames, userNames }: AppendColumns, log: boolean): SqlValue[] {
  return [String(log), ...knownOf(change), appNames, userNames, ...setOf(change)];
}

/** The arrays of the values that a change sets: their parts, names and JSON texts; null where it sets none. */
function setOf({ delta }: Change): (string | null)[] {
  const sets = PARTS.flatMap((part, index) => {
    const { set = {} } = delta[part] ?? {};
    return Object.keys(set).map((name) => ({ part: index, name: toColumn(name), value: JSON.stringify(set[name]) }));
  });
  return sets.length === 0
    ? [null, null, null]
    : [
        plainArrayOf(sets.map(({ part }) => part)),
        arrayOf(sets.map(({ name }) => name)),
        arrayOf(sets.map(({ value }) => value)),
      ];
}

/** What is known of the app and of the user: position and mark, null where that tells nothing. */
function knownOf({ known }: Change): (number | string | null)[] {
  return (['app', 'user'] as const).flatMap((part) => {
    const { pos, mark } = { pos: known?.pos?.[part], mark: known?.marks?.[part] };
    return isTold(pos, mark) ? [pos as number, toColumn(mark as string)] : [null, null];
  });
}

/** Whether what is known of a scope tells anything: a position without its mark does not. */
export function isTold(pos: number | undefined, mark: string | undefined): boolean {
  return mark !== undefined && Number.isSafeInteger(pos);
}

/** The statement that calls a function; what it answers has the name `answers`. */
export function callOf(
  schema: string,
  { name, parameters }: { readonly name: string; readonly parameters: readonly string[] },
): string {
  return `select ${schema}.${name}(${parameters.map((_, index) => `$${index + 1}`).join(', ')}) as answers`;
}
