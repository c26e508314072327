// Deep comparisons of answers with expected ones; the result is a text that describes the difference.

import { SHARED_SCOPES, STORED_SCOPES, type StoredScope } from '../model/scope.js';
import type {
  Changed,
  Committed,
  Delta,
  LoadedScope,
  LogWrite,
  Page,
  Place,
  ScopeLog,
  Values,
} from '../store/contract.js';
import type { ListedPage, ListedRow, LoadedAnswer, ReadLogStep } from './case.js';

/** The place and kind of a difference; `undefined` when there is none. */
export type Difference = string | undefined;

/** Members that only some stores answer: compared if the case expects them, and otherwise ignored. */
const OPTIONAL = ['before', 'changed', 'last', 'marks'] as const;

/** Compares plain data. The order of members does not count, and one that is `undefined` is the same as none. */
export function difference(actual: unknown, expected: unknown, path = 'the answer'): Difference {
  if (path.endsWith('["changed"]')) {
    return changedDifference(actual ?? {}, expected ?? {}, path);
  }
  if (typeof expected !== 'object' || expected === null) {
    return actual === expected ? undefined : differs(path, actual, expected);
  }
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual) !== Array.isArray(expected)) {
    return differs(path, actual, expected);
  }
  const [left, right] = [actual as Record<string, unknown>, expected as Record<string, unknown>];
  const members = new Set([...Object.keys(right), ...Object.keys(left)]);
  for (const member of members) {
    const result = difference(left[member], right[member], `${path}[${JSON.stringify(member)}]`);
    if (result !== undefined) {
      return result;
    }
  }
  return undefined;
}

/**
 * Compares the values of a scope: the order of names counts unless `inAnyOrder` is set, and values are compared as
 * JSON text.
 */
export function valuesDifference(actual: unknown, expected: Values, path: string, inAnyOrder = false): Difference {
  if (typeof actual !== 'object' || actual === null) {
    return differs(path, actual, expected);
  }
  if (Object.getPrototypeOf(actual) !== null) {
    return `${path} has a prototype`;
  }
  const values = actual as Values;
  const [names, expectedNames] = [Object.keys(values), Object.keys(expected)];
  if (inAnyOrder) {
    names.sort();
    expectedNames.sort();
  }
  return (
    difference(names, expectedNames, `the names of ${path}`) ??
    first(names, (name) =>
      difference(
        JSON.stringify(values[name]),
        JSON.stringify(expected[name]),
        `${path}[${JSON.stringify(name)}] as JSON`,
      ),
    )
  );
}

/** Compares a loaded session. */
export function loadedDifference(
  actual: LoadedAnswer | null,
  expected: LoadedAnswer | null,
  inAnyOrder?: boolean,
): Difference {
  if (actual === null || expected === null || typeof actual !== 'object') {
    return difference(actual, expected);
  }
  const [{ state, events, ...rest }, { state: expectedState, events: expectedEvents, ...expectedRest }] = [
    actual,
    expected,
  ];
  const [isIdExpected, isPosExpected] = [
    expectedEvents.some(({ id }) => id !== undefined),
    expectedEvents.some(({ pos }) => pos !== undefined),
  ];
  const comparableEntries = events.map(({ id, pos, ...event }) => ({
    ...event,
    ...(isIdExpected && { id }),
    ...(isPosExpected && { pos }),
  }));
  return (
    difference(comparable(rest, expectedRest), expectedRest) ??
    difference(comparableEntries, expectedEvents, 'events') ??
    difference(scopesOf(state), scopesOf(expectedState), 'the scopes of the answer') ??
    first(scopesOf(expectedState), (scope) =>
      valuesDifference(state[scope], expectedState[scope] ?? {}, `state.${scope}`, inAnyOrder),
    )
  );
}

/** An answer without the optional members that the case does not expect. */
export function comparable<Answer extends object>(actual: Answer, expected: object): Answer {
  const rest = { ...actual } as Partial<Record<string, unknown>>;
  OPTIONAL.filter((member) => !(member in expected)).forEach((member) => delete rest[member]);
  // For a creation that is sent again, only some stores still know them.
  if ('duplicate' in expected && !('data' in expected) && (expected as Partial<Committed>).prev !== null) {
    delete rest['results'];
  }
  return rest as Answer;
}

/** Compares a part of a log. In entries without a time the order of writes does not count. */
export function logDifference(actual: ScopeLog, expected: ReadLogStep['answer']): Difference {
  const times = actual.entries.map(({ time }) => time).find((time) => !Number.isFinite(time));
  const comparableEntries = actual.entries.map((entry, index) => {
    const isTimeless = expected.entries[index]?.time === null;
    return isTimeless ? { ...entry, time: null, writes: byName(entry.writes) } : entry;
  });
  const expectedEntries = expected.entries.map((entry) =>
    entry.time === null ? { ...entry, writes: byName(entry.writes) } : entry,
  );
  return (
    (times === undefined ? undefined : differs('the time of an entry', times, 0)) ??
    difference({ ...actual, entries: comparableEntries }, { ...expected, entries: expectedEntries })
  );
}

function byName(writes: readonly LogWrite[]): LogWrite[] {
  return [...writes].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Compares the values and the position of a scope. */
export function scopeDifference(actual: LoadedScope, expected: LoadedScope, inAnyOrder?: boolean): Difference {
  return (
    difference(actual.pos, expected.pos, 'pos') ??
    (expected.mark === undefined ? undefined : difference(actual.mark, expected.mark, 'mark')) ??
    valuesDifference(actual.state, expected.state, 'state', inAnyOrder)
  );
}

/** Compares a page. If it has the place of its end, that is the place of its last row: no row of a case is corrupt. */
export function pageDifference({ corrupt = [], ...actual }: Page, expected: ListedPage): Difference {
  const withoutState = ({ rows }: Pick<ListedPage, 'rows'>): unknown =>
    rows.map(({ key, created, rev, time, expires }) => ({
      key,
      created,
      rev,
      time,
      expires,
    }));
  return (
    difference(actual.total, expected.total, 'total') ??
    difference(withoutState(actual), withoutState(expected), 'rows') ??
    difference(corrupt, [], 'corrupt') ??
    (actual.next && difference(actual.next, placeOf(expected.rows.at(-1)), 'next')) ??
    first([...actual.rows.keys()], (index) =>
      valuesDifference(actual.rows[index]?.state, expected.rows[index]?.state ?? {}, `rows[${index}].state`),
    ) ??
    valuesDifference(actual.app, expected.app, 'app') ??
    difference([...actual.users.keys()].sort(), Object.keys(expected.users).sort(), 'the names of users') ??
    first(Object.keys(expected.users), (user) =>
      valuesDifference(actual.users.get(user), expected.users[user] ?? {}, `users[${JSON.stringify(user)}]`),
    )
  );
}

/** The place of a session in a list. */
function placeOf(row: ListedRow | undefined): Place | undefined {
  return row && { time: row.time, sessionId: row.key.sessionId, userId: row.key.userId };
}

/** Compares the changes of others. Only the order of new names counts. */
function changedDifference(actual: Changed, expected: Changed, path: string): Difference {
  return first(SHARED_SCOPES, (scope) => {
    const [left, right] = [actual[scope], expected[scope]];
    if (left === undefined || right === undefined) {
      return left === right ? undefined : differs(`${path}.${scope}`, left, right);
    }
    const sorted = ({ unset = [] }: Delta): readonly string[] => [...unset].sort();
    const born = ({ set = {}, unset = [] }: Delta): readonly string[] =>
      Object.keys(set).filter((name) => unset.includes(name));
    const values = ({ set = {} }: Delta): Values => Object.setPrototypeOf({ ...set }, null) as Values;
    return (
      valuesDifference(values(left), values(right), `${path}.${scope}.set`, true) ??
      difference(sorted(left), sorted(right), `${path}.${scope}.unset`) ??
      difference(born(left), born(right), `the names of ${path}.${scope}.set that are new`)
    );
  });
}

/** Compares two lists whose order does not count. */
export function differenceInAnyOrder(actual: readonly unknown[], expected: readonly unknown[]): Difference {
  const rest = [...expected];
  for (const item of actual) {
    const index = rest.findIndex((other) => difference(item, other) === undefined);
    if (index < 0) {
      return `the answer ${short(item)} is none of those expected, of which are left: ${short(rest)}`;
    }
    rest.splice(index, 1);
  }
  return rest.length === 0 ? undefined : `these answers did not come: ${short(rest)}`;
}

function scopesOf(state: LoadedAnswer['state']): StoredScope[] {
  return STORED_SCOPES.filter((scope) => state[scope] !== undefined);
}

function first<Item>(items: readonly Item[], find: (item: Item) => Difference): Difference {
  for (const item of items) {
    const result = find(item);
    if (result !== undefined) {
      return result;
    }
  }
  return undefined;
}

/** Describes two different values. */
export function differs(path = 'the answer', actual: unknown, expected: unknown): string {
  return `${path} is ${short(actual)}, not ${short(expected)}`;
}

/** As JSON, shortened if it is long. */
function short(value: unknown): string {
  const text = (JSON.stringify(value) as string | undefined) ?? String(value);
  return text.length > 400 ? `${text.slice(0, 400)}… (${text.length} characters)` : text;
}
