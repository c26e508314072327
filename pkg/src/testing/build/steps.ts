// Short words for the data of the cases.

import type {
  Change,
  Committed,
  Delta,
  Guard,
  ListQuery,
  Loaded,
  LoadQuery,
  Row,
  StoredEvent,
  StoreFeature,
  Values,
} from '../store/contract.js';
import type { SessionKey } from '../model/types.js';
import type { CommitStep, ListStep, LoadScopeStep, LoadStep, StoreCase, StoreNeed, StoreStep } from './case.js';

/** Changes that are alike in all but a few things. */
type More = Partial<Omit<Change, 'id' | 'kind' | 'delta'>>;

export const APP = 'app';
export const USER = 'user';
/** The session of most cases. */
export const KEY: SessionKey = { appName: APP, userId: USER, sessionId: 'session' };
/** The user of most cases, as the key of an update. */
export const HOME = { appName: APP, userId: USER };
/** The time of most changes. */
export const TIME = 1_000;

/** Makes a case; what it needs is read from its steps. */
export function storeCase(name: string, ...steps: readonly StoreStep[]): StoreCase {
  return { name, needs: [...new Set(steps.flatMap(needsOf))], steps };
}

/** Makes a case that only stores with a feature pass. */
export function featureCase(feature: StoreFeature, name: string, ...steps: readonly StoreStep[]): StoreCase {
  return { name, needs: [...new Set([feature, ...steps.flatMap(needsOf)])], steps };
}

function needsOf(step: StoreStep): StoreNeed[] {
  const members = (['reopen', 'removeScope', 'commitMany', 'watch'] as const).filter((member) => member in step);
  const inner = 'parallel' in step ? step.parallel.flatMap(needsOf) : [];
  const another: StoreNeed[] = 'hinted' in step || 'by' in step ? ['another'] : [];
  const changes = 'commit' in step ? [step.commit] : 'commitMany' in step ? step.commitMany : [];
  return [
    ...members,
    ...another,
    ...changes.flatMap(({ guard }) => (guard === undefined ? [] : guardNeeds(guard))),
    ...inner,
  ];
}

/** What a store has to compare. */
function guardNeeds({ created, rev, pos, keys }: Guard): StoreNeed[] {
  return [
    ...(created === undefined && keys === undefined ? [] : (['keys'] as const)),
    ...(rev === undefined && pos === undefined ? [] : (['revisions'] as const)),
  ];
}

/** A session of the usual user. */
export function keyOf(sessionId: string, userId = USER, appName = APP): SessionKey {
  return { appName, userId, sessionId };
}

/** Creates the usual session. */
export function create(id = 'c', delta: Change['delta'] = {}, more: More = {}): Change {
  return { id, kind: 'create', key: KEY, time: TIME, delta, ...more };
}

/** Creates the usual session, and says what it began with. */
export function begin(id = 'c', delta: Change['delta'] = {}, more: More = {}): Change {
  const time = more.time ?? TIME;
  return create(id, delta, { event: { id, time, data: beginningOf(id).data }, ...more });
}

/** The event that {@link begin} has made. It is not what {@link append} would have made under the same id. */
export function beginningOf(id = 'c'): StoredEvent {
  return { rev: 0, data: JSON.stringify({ created: id }) };
}

/** Appends to the usual session. */
export function append(id: string, delta: Change['delta'] = {}, more: More = {}): Change {
  const time = more.time ?? TIME;
  return { id, kind: 'append', key: KEY, time, event: { id, time, data: dataOf(id) }, delta, ...more };
}

/** Updates the usual user and the app. */
export function update(id: string, delta: Change['delta'], more: More = {}): Change {
  return { id, kind: 'update', key: HOME, time: TIME, delta, ...more };
}

/** The text of an event that {@link append} has made. */
export function dataOf(id: string): string {
  return JSON.stringify({ id });
}

/** The events that {@link append} has made, from the first revision. */
export function eventsOf(...ids: readonly string[]): StoredEvent[] {
  return ids.map((id, index) => ({ rev: index + 1, data: dataOf(id) }));
}

/** Sets a name. */
export function set(name: string, value: Values[string]): Delta {
  return { set: { [name]: value } };
}

/** A creation or an update is written, and the scopes are at these positions. */
export function made(app = 0, user = 0): Committed {
  return { rev: 0, prev: null, pos: { app, user } };
}

/** An append is written. */
export function appended(rev: number, app = 0, user = 0): Committed {
  return { rev, prev: rev - 1, pos: { app, user } };
}

/** A creation was there, and the session has come to this revision. */
export function again(rev: number, app = 0, user = 0): Committed {
  return { rev, prev: rev, pos: { app, user }, duplicate: true };
}

/** An event of {@link append} was there. */
export function appendedBefore(id: string, rev: number, app = 0, user = 0): Committed {
  return { ...again(rev, app, user), data: dataOf(id) };
}

/** An update was there. */
export function updatedBefore(app = 0, user = 0): Committed {
  return { ...made(app, user), duplicate: true };
}

/** Commits, to this outcome. */
export function commit(change: Change, outcome?: CommitStep['outcome']): CommitStep {
  return outcome === undefined ? { commit: change } : { commit: change, outcome };
}

/** Parts of a loaded session. Values that are `undefined`, and `changed: null`, may not be told. */
interface LoadedWith extends Partial<Omit<Loaded, 'pos' | 'state' | 'changed'>> {
  readonly pos?: Partial<Loaded['pos']>;
  readonly state?: { readonly [Scope in keyof Loaded['state']]?: Loaded['state'][Scope] | undefined };
  readonly changed?: Loaded['changed'] | null;
}

/** A loaded session: the usual one, just created, but for what is given. */
export function loaded({ pos = {}, state = {}, ...more }: LoadedWith = {}): Loaded {
  return {
    created: 'c',
    rev: more.events?.at(-1)?.rev ?? 0,
    time: TIME,
    pos: { app: 0, user: 0, ...pos },
    state: { session: {}, app: {}, user: {}, ...state },
    events: [],
    ...more,
  } as Loaded;
}

/** Loads the usual session. */
export function load(answer: LoadStep['answer'], query?: LoadQuery, key = KEY): LoadStep {
  return query === undefined ? { load: key, answer } : { load: key, query, answer };
}

/** Reads the values of the app. */
export function appHas(pos: number, state: Values, app = APP): LoadScopeStep {
  return { loadScope: { app }, answer: { pos, state } };
}

/** Reads the values of a user. */
export function userHas(pos: number, state: Values, user = USER, app = APP): LoadScopeStep {
  return { loadScope: { app, user }, answer: { pos, state } };
}

/** A row of the usual session, just created, but for what is given. */
export function row(more: Partial<Row> = {}): Row {
  return { key: KEY, created: 'c', rev: 0, time: TIME, state: {}, ...more };
}

/** Lists the app's sessions, ascending, all of them unless told otherwise. */
export function list(
  rows: readonly Row[],
  query: Partial<ListQuery> = {},
  more: Partial<ListStep['answer']> = {},
): ListStep {
  const users = Object.fromEntries(rows.map(({ key: { userId } }) => [userId, {}]));
  return {
    list: { app: APP, descending: false, ...query },
    answer: { rows, app: {}, users, total: rows.length, ...more },
  };
}

/** So many, from 0. */
export function times<Item>(count: number, make: (index: number) => Item): Item[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
