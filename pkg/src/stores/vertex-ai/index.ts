/**
 * A store in the sessions of Vertex AI Agent Engine, over its REST API: what the session services of both ADKs for
 * that platform write and read, this store reads and writes, beside them and at the same time.
 *
 * @packageDocumentation
 */

import { StoreError } from '../../store/store-error.js';
import { appendEvent } from './append.js';
import { ApiClient } from './client.js';
import { createSession } from './create.js';
import { SessionsApi } from './api.js';
import { listSessions, loadScope } from './list.js';
import { loadSession } from './load.js';
import { settingsOf, type VertexAiStoreOptions } from './options.js';
import { removeSession } from './remove.js';
import { Sessions } from './sessions.js';
import { tokenSource } from './token.js';
import { listUsers, ownersOf } from './users.js';
import type { Change, SessionStore } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

export type { EngineOf } from './names.js';
export type { VertexAiFetch, VertexAiResponse, VertexAiStoreOptions } from './options.js';
export type { SessionStore } from '../../store/contract.js';

/**
 * Makes a store in the sessions of Agent Engine. It needs `fetch` and nothing else: it runs wherever that is.
 *
 * - The API compares nothing before it writes: `expectedRevision`, `updateState`, leases and operators are refused by
 *   name. App and user values are written and read together with a session only.
 * - Session ids have up to 63 lower-case letters, digits and hyphens. A value that the API cannot keep as it is, is
 *   `rejected` before anything is sent.
 * - Events are in the order of their times. A revision is the number of events; of a session with more than a hundred
 *   it is provisional as long as not all of them were read.
 * - No write is sent twice before the API was asked about the first.
 * - The API ends sessions: `Change.expires` becomes their `ttl` or `expireTime`, 24 hours at least. An append does not
 *   move the end. The id of a session that has ended is free once the API has removed it: `exists` until then.
 * - An engine has each session id once: `owners` answers one user at most, by one request. `listUsers` reads all
 *   sessions of the engine. There is no `listApps`: the API knows engines, and not which app each of them is.
 *
 * Throws `INVALID_ARGUMENT` for options that it does not know, or that do not go together.
 *
 * @example
 * ```ts
 * const store = vertexAiStore({ project: 'my-project', location: 'us-central1', engine: '1234567890' });
 * ```
 */
export function vertexAiStore(options: VertexAiStoreOptions): SessionStore {
  const settings = settingsOf(options);
  const sessions = new Sessions(new SessionsApi(new ApiClient(settings, tokenSource(settings))), settings);
  return {
    durability: 'replicated',
    guards: 'none',
    asksAgain: true,
    keeps: ['lifetime'],
    lacks: ['revisions', 'order', 'texts', 'ids', 'times', 'clock', 'beginnings', 'repeats', 'scopes', 'operators'],
    commit: async (change, context) => {
      checkChange(change);
      return await sessions.run(change.key as SessionKey, context, async (of) =>
        change.kind === 'create'
          ? await createSession(sessions, settings, change, of)
          : await appendEvent(sessions, change, of),
      );
    },
    load: async (key, query, context) =>
      await sessions.run(key, context, async (of) => await loadSession(sessions, key, query, of)),
    list: async (query, context) => await listSessions(sessions, query, context),
    owners: async (app, sessionId, context) => await ownersOf(sessions, app, sessionId, context),
    listUsers: async (app, query, context) => await listUsers(sessions, app, query, context),
    remove: async (key, context, guard = {}) =>
      await sessions.run(key, context, async (of) => await removeSession(sessions, key, guard, of)),
    loadScope: async (scope, context) => await loadScope(sessions, scope, context),
  };
}

/** Throws `rejected` for what the API has no words for. */
function checkChange({ kind, guard = {}, operators }: Change): void {
  const { rev, pos, keys, fence } = guard;
  if (kind === 'update') {
    throw new StoreError('rejected', 'app and user state is written only with a session: append an event to one');
  }
  if ([rev, pos, keys, fence].some((part) => part !== undefined)) {
    throw new StoreError('rejected', 'the API checks no guards: a change cannot have one');
  }
  if (operators !== undefined) {
    throw new StoreError('rejected', 'the API resolves no operators');
  }
}
