// Normalizes answers for stores that lack something: members that such a store need not answer are removed, from its
// answers and from those that the case expects, and lists that it may answer in any order are sorted.

import type { LoadedScope, Page, SessionStore, StoredEvent, StoreLack, Values } from '../store/contract.js';
import type { Json } from '../model/types.js';
import type { CommittedAnswer, ListedPage, ListedRow, LoadedAnswer, Outcome } from './case.js';

/** A function for each kind of answer. */
export interface Normalizer {
  readonly outcome: (outcome: Outcome) => Outcome;
  readonly loaded: (loaded: LoadedAnswer | null) => LoadedAnswer | null;
  readonly scope: (scope: LoadedScope) => LoadedScope;
  readonly page: <Any extends Page | ListedPage>(page: Any) => Any;
}

/** The functions for a store. */
export function normalizerFor({ lacks = [], keeps = [] }: Pick<SessionStore, 'lacks' | 'keeps'>): Normalizer {
  const isLacking = (lack: StoreLack): boolean => lacks.includes(lack);
  const absent = [
    ...(isLacking('revisions') ? (['pos'] as const) : []),
    ...(isLacking('created') ? (['created'] as const) : []),
    ...(isLacking('clock') ? (['time'] as const) : []),
    // Such storage may end every session, whatever its creation says.
    ...(keeps.includes('lifetime') ? (['expires'] as const) : []),
  ];
  const text = isLacking('texts') ? canonicalText : (data: string) => data;
  const values = isLacking('texts') ? canonicalValues : (all: Values) => all;
  const event = (stored: StoredEvent): StoredEvent => ({ ...stored, data: text(stored.data) });
  const row = (listed: ListedRow): ListedRow =>
    without({ ...listed, state: values(listed.state) }, isLacking('revisions') ? [...absent, 'rev'] : absent);
  return {
    outcome(outcome) {
      const committed = without(outcome, absent) as CommittedAnswer;
      return committed.data === undefined ? committed : { ...committed, data: text(committed.data) };
    },
    loaded: (loaded) =>
      loaded === null
        ? null
        : {
            ...without(loaded, absent),
            state: mapMembers(loaded.state, values),
            events: loaded.events.map(event),
          },
    scope: ({ pos, state, ...scope }) => ({
      ...scope,
      pos: isLacking('revisions') ? 0 : pos,
      state: values(state),
    }),
    page: (page) => ({
      ...page,
      rows: page.rows.map(row),
      app: values(page.app),
      users:
        page.users instanceof Map
          ? new Map([...page.users].map(([user, state]) => [user, values(state as Values)]))
          : mapMembers(page.users, values),
    }),
  };
}

/** A copy without some members. */
function without<Answer extends object>(answer: Answer, members: readonly string[]): Answer {
  return Object.fromEntries(Object.entries(answer).filter(([member]) => !members.includes(member))) as Answer;
}

function mapMembers<Members extends object>(members: Members, map: (values: Values) => Values): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, values]) => [name, values && map(values as Values)]),
  ) as Members;
}

/** The same JSON, with all members sorted, and without the time of the event, which its change has. */
function canonicalText(data: string): string {
  const event = JSON.parse(data) as Record<string, Json>;
  return JSON.stringify(canonical(without(event, ['timestamp'])));
}

/** The same values, their names and all members sorted. */
function canonicalValues(values: Values): Values {
  return Object.setPrototypeOf(canonical(values), Object.getPrototypeOf(values) as object | null) as Values;
}

function canonical(value: Json): Json {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(canonical);
  }
  const sorted = Object.entries(value as Values).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, inner]) => [name, canonical(inner)]));
}
