// The steps of a case: calls, with the expected answers.

import { loaded, type LoadedWith } from './answer.js';
import { defined } from '../../model/defined.js';
import { APP, KEY, USER } from './keys.js';
import type {
  Change,
  LeaseRequest,
  ListQuery,
  LoadQuery,
  LogQuery,
  NameQuery,
  SweepQuery,
  Values,
} from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';
import type {
  ClaimStep,
  CommitStep,
  LeaseStep,
  ReadLeaseStep,
  ListAppsStep,
  ListedRow,
  ListStep,
  ListUsersStep,
  LoadScopeStep,
  LoadStep,
  LoggedEntry,
  OwnersStep,
  ReadLogStep,
  SweepStep,
} from '../case.js';

/** Commits, to this outcome. */
export function commit(change: Change, outcome?: CommitStep['outcome']): CommitStep {
  return outcome === undefined ? { commit: change } : { commit: change, outcome };
}

/** Loads the usual session. */
export function load(answer: LoadStep['answer'], query?: LoadQuery, key = KEY): LoadStep {
  return query === undefined ? { load: key, answer } : { load: key, query, answer };
}

/** Loads the usual session: it is as it was created, but for these members. */
export function sessionHas(members?: LoadedWith, query?: LoadQuery, key = KEY): LoadStep {
  return load(loaded(members), query, key);
}

/** Reads the values of the app. */
export function appHas(pos: number, state: Values, app = APP): LoadScopeStep {
  return { loadScope: { app }, answer: { pos, state } };
}

/** Reads the values of a user. */
export function userHas(pos: number, state: Values, user = USER, app = APP): LoadScopeStep {
  return { loadScope: { app, user }, answer: { pos, state } };
}

/** Lists the app's sessions, ascending, by default all of them. */
export function list(
  rows: readonly ListedRow[],
  query: Partial<ListQuery> = {},
  more: Partial<ListStep['answer']> = {},
): ListStep {
  const users = Object.fromEntries(rows.map(({ key: { userId } }) => [userId, {}]));
  return {
    list: { app: APP, descending: false, ...query },
    answer: { rows, app: {}, users, total: rows.length, ...more },
  };
}

/** Finds the users of a session by its id. */
export function owners(answer: readonly string[], sessionId = KEY.sessionId, app = APP): OwnersStep {
  return { owners: { app, sessionId }, answer };
}

/** Lists apps, to a page of these names. */
export function apps(names: readonly string[], query: NameQuery = {}, more = false): ListAppsStep {
  return { listApps: query, answer: { names, more } };
}

/** Lists the users in an app, to a page of these names. */
export function users(names: readonly string[], query: NameQuery = {}, more = false, app = APP): ListUsersStep {
  return { listUsers: { app, ...query }, answer: { names, more } };
}

/** Looks at the lease of the usual session. */
export function readLease(answer: ReadLeaseStep['answer'], key: SessionKey = KEY): ReadLeaseStep {
  return { readLease: key, answer };
}

/** Acquires the lease of the usual session. */
export function lease(
  request: LeaseRequest,
  answer?: LeaseStep['answer'],
  more: Omit<LeaseStep, 'lease' | 'request' | 'answer'> & { readonly key?: SessionKey } = {},
): LeaseStep {
  const { key = KEY, ...rest } = more;
  return { lease: key, request, ...defined({ answer }), ...rest };
}

/** Acquires the lease of a name. */
export function claim(
  name: string,
  request: ClaimStep['request'],
  answer?: ClaimStep['answer'],
  more: Pick<ClaimStep, 'by' | 'until'> = {},
): ClaimStep {
  return { claim: name, request, ...defined({ answer }), ...more };
}

/** Removes at most a hundred sessions and users that have expired. */
export function sweep(
  answer: Partial<SweepStep['answer']>,
  query: Partial<SweepQuery> = {},
  more: Pick<SweepStep, 'by'> = {},
): SweepStep {
  return { sweep: { limit: 100, ...query }, answer: { sessions: 0, users: 0, ...answer }, ...more };
}

/** Reads the app's log. The base is 0 by default. */
export function appLog(pos: number, entries: readonly LoggedEntry[], query?: LogQuery, base = 0): ReadLogStep {
  return { readLog: { app: APP }, ...defined({ query }), answer: { pos, base, entries } };
}

/** Reads the log of the usual user. */
export function userLog(pos: number, entries: readonly LoggedEntry[], query?: LogQuery, base = 0): ReadLogStep {
  return { ...appLog(pos, entries, query, base), readLog: { app: APP, user: USER } };
}
