// What a case does, one call after the other, with the answer that it wants.

import { APP, KEY, USER } from './keys.js';
import type { Change, ListQuery, LoadQuery, Row, Values } from '../../store/contract.js';
import type { CommitStep, ListStep, LoadScopeStep, LoadStep } from '../case.js';

/** Commits, to this outcome. */
export function commit(change: Change, outcome?: CommitStep['outcome']): CommitStep {
  return outcome === undefined ? { commit: change } : { commit: change, outcome };
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
