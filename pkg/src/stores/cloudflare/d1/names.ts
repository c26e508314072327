// The statements for the users of a session's id, and for the lists of apps and users, in D1.

import { listNames, nameValues, ownersBy } from '../../sqlite-core/statements.js';
import { toColumn } from '../../shared/column-text.js';
import { NOW } from './read.js';
import type { D1Query } from './client.js';
import type { NameQuery } from '../../../store/contract.js';

/** The statement that finds the users of an id. */
export function ownersQuery(app: string, sessionId: string): D1Query {
  return { sql: ownersBy(NOW), values: [toColumn(app), toColumn(sessionId)] };
}

/** The statement that reads a page of apps or, with an app, of the users in it. */
export function namesQuery(app: string | undefined, query: NameQuery): D1Query {
  return { sql: listNames(app === undefined ? 'app' : 'user', query), values: nameValues(app, query) };
}
