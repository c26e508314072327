// Encodes a single event for the function that writes one.

import { APPEND } from './functions/append.js';
import { arrayOf, plainArrayOf } from './arrays.js';
import { partsOfTurn } from './turns.js';
import { toColumn } from '../shared/column-text.js';
import { isEmpty, namesIn } from '../shared/values.js';
import type { SqlValue, Statement } from './client.js';
import type { Change, Delta } from '../../store/contract.js';

/** The parts of a delta by their numbers in the database. */
export const PARTS = ['session', 'app', 'user'] as const;

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
    partsOfTurn(turn) === undefined
  );
}

/** What is sent of an event in either way. */
export interface AppendColumns {
  readonly session: string;
  readonly created: string | null;
  readonly rev: number | null;
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
export function columnsOf({ id, call, key, time, event, delta, guard }: PlainAppend): AppendColumns {
  return {
    session: toColumn(key.sessionId ?? ''),
    created: guard?.created === undefined ? null : toColumn(guard.created),
    rev: guard?.rev ?? null,
    id: toColumn(id),
    call: toColumn(call ?? id),
    time,
    at: event?.time ?? time,
    data: toColumn(event?.data ?? ''),
    appNames: movedNames(delta.app),
    userNames: movedNames(delta.user),
  };
}

/** The names by which a delta moves its scope, as a JSON list; null when it does not. */
function movedNames(delta: Delta | undefined): string | null {
  return isEmpty(delta) ? null : JSON.stringify([...new Set(namesIn(delta ?? {}))].map(toColumn));
}

/** The statement that writes one event. */
export function appendStatement(schema: string, change: PlainAppend): Statement {
  const { key, delta, known } = change;
  const columns = columnsOf(change);
  const { session, created, rev, id, call, time, at, data, appNames, userNames } = columns;
  const sets: { readonly part: number; readonly name: string; readonly value: string }[] = [];
  const unsets: { readonly part: number; readonly name: string }[] = [];
  PARTS.forEach((name, part) => {
    const { set = {}, unset = [] } = delta[name] ?? {};
    Object.keys(set).forEach((each) => sets.push({ part, name: toColumn(each), value: JSON.stringify(set[each]) }));
    unset.forEach((each) => unsets.push({ part, name: toColumn(each) }));
  });
  const knownOf = (part: 'app' | 'user'): [pos: number | null, mark: string | null] => {
    const { pos, mark } = { pos: known?.pos?.[part], mark: known?.marks?.[part] };
    return isTold(pos, mark) ? [pos as number, toColumn(mark as string)] : [null, null];
  };
  const values: SqlValue[] = [
    ...[toColumn(key.appName), toColumn(key.userId ?? ''), session, created, rev, id, call, time, at, data],
    ...knownOf('app'),
    ...knownOf('user'),
    ...[appNames, userNames],
    ...(sets.length === 0
      ? [null, null, null]
      : [
          plainArrayOf(sets.map(({ part }) => part)),
          arrayOf(sets.map(({ name }) => name)),
          arrayOf(sets.map(({ value }) => value)),
        ]),
    ...(unsets.length === 0
      ? [null, null]
      : [plainArrayOf(unsets.map(({ part }) => part)), arrayOf(unsets.map(({ name }) => name))]),
  ];
  return { text: callOf(schema, APPEND), values };
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
