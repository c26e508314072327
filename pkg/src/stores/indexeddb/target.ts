// The app, the user and the session of a change, as they are after the changes before it.

import { defined } from '../../model/defined.js';
import { sessionTitle } from '../../store/refusals.js';
import { callOf } from '../shared/keys.js';
import { beforeOf, changedOf } from '../shared/parts.js';
import { parseValue } from '../shared/values.js';
import { resultsOf } from './events.js';
import { scopeKey } from './keys.js';
import { NO_SIZE, ValueBuffer } from './values.js';
import type { RememberedIds } from './ids.js';
import type { EventRow, SessionRow } from './rows.js';
import type { ScopeBuffer } from './scope.js';
import type { ScopeSizes } from '../shared/growth.js';
import type { CallRecord, CommitFacts, CommitContent } from '../shared/decide.js';
import type { Change, Committed, Delta } from '../../store/contract.js';
import type { SharedScope, StoredScope } from '../../model/scope.js';
import type { Json, SessionKey } from '../../model/types.js';

/** Ids of earlier changes and calls, as far as the changes of a transaction need them. */
export interface Ids {
  readonly updates: RememberedIds;
  readonly calls: RememberedIds;
  readonly creations: RememberedIds;
}

/** A session, or the place of one that is not there yet. */
export interface Place {
  readonly key: SessionKey;
  row: SessionRow | undefined;
  /** The row of a session that has ended, and is not there any more. */
  ended: SessionRow | undefined;
  hasMoved: boolean;
  readonly values: ValueBuffer;
  /** The stored rows under the ids of the events to be appended. */
  readonly events: Map<string, Pick<EventRow, 'data' | 'results'>>;
  readonly added: EventRow[];
}

const NOTHING = new ValueBuffer();

/** The app, the user and the session of a change. All that is asked of them was read before. */
export class Target implements CommitFacts {
  readonly app: ScopeBuffer;
  readonly user: ScopeBuffer | undefined;
  readonly place: Place | undefined;
  readonly #ids: Ids;

  constructor(ids: Ids, app: ScopeBuffer, user: ScopeBuffer | undefined, place: Place | undefined) {
    this.#ids = ids;
    this.app = app;
    this.user = user;
    this.place = place;
  }

  get session(): SessionRow | undefined {
    return this.place?.row;
  }

  contentOf({ id, kind, key: { appName, userId } }: Change): CommitContent | undefined {
    if (kind === 'append') {
      const event = this.place?.events.get(id);
      return event && { data: event.data, ...resultsIn(event) };
    }
    const update = this.#ids.updates.get(id, scopeKey(appName, userId));
    return update && { ...resultsIn(update), ...recordIn(update) };
  }

  creationOf(): CallRecord {
    return recordIn(this.session ?? {});
  }

  tombstoneOf({ id }: Change): CallRecord | undefined {
    const ended = this.place?.ended;
    const creation = ended?.created === id ? ended : this.#ids.creations.get(id);
    return creation && recordIn(creation);
  }

  refusalOf(change: Change): CallRecord | undefined {
    const call = this.#ids.calls.get(callOf(change));
    return call && recordIn(call);
  }

  fence(): number {
    return this.session?.fence ?? 0;
  }

  pos(scope: SharedScope): number {
    return this[scope]?.pos ?? 0;
  }

  holds(scope: StoredScope, expected: Delta): boolean {
    return (this.#values(scope) ?? NOTHING).holds(expected);
  }

  /** Throws `corrupt`. */
  value(scope: StoredScope, name: string): Json | undefined {
    const text = this.#values(scope)?.textOf(name);
    return text === undefined ? undefined : parseValue(name, text, this.#titleOf(scope));
  }

  readonly sizes: ScopeSizes = {
    size: (scope) => this.#values(scope)?.size ?? NO_SIZE,
    bytesOf: (scope, name) => this.#values(scope)?.bytesOf(name),
  };

  #values(scope: StoredScope): ValueBuffer | undefined {
    return (scope === 'session' ? this.place : this[scope])?.values;
  }

  #titleOf(scope: StoredScope): string {
    return scope === 'session' ? sessionTitle(this.place?.key ?? {}) : (this[scope] ?? this.app).title();
  }

  /** The revision and the positions of now. */
  get now(): Pick<Committed, 'rev' | 'prev' | 'pos'> {
    const rev = this.session?.rev ?? 0;
    return { rev, prev: rev, pos: { app: this.pos('app'), user: this.pos('user') } };
  }

  /** The part of the answer to a change about the end of its session. */
  end({ id, kind }: Change): Pick<Committed, 'expires'> {
    const { created, expires } = this.session ?? {};
    return kind === 'create' && created !== id ? {} : defined({ expires });
  }

  /** The part of the answer to a change about the scopes before it. Throws `corrupt`. */
  history({ known: { pos = {}, marks = {} } = {} }: Change): Pick<Committed, 'before' | 'changed'> {
    const app = this.app.changedSince({ pos: pos.app, mark: marks.app });
    const user = this.user?.changedSince({ pos: pos.user, mark: marks.user });
    return { ...changedOf(app, user), before: beforeOf(this.app.mark, this.user?.mark, this.session?.last) };
  }
}

/** The record of a change in a row. */
function recordIn({ digest }: CallRecord): CallRecord {
  return digest === undefined ? {} : { digest };
}

/** The results of the operators in the row of a committed change. */
function resultsIn({ results }: { readonly results?: string }): CommitContent {
  return results === undefined ? {} : { results: resultsOf(results) };
}
