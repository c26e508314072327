// Sessions in memory: nothing is waited for, so nothing can come between.

import { admitDelta } from '../input/admit.js';
import { applyAppend, notFound, prepareAppend } from '../session/append.js';
import { creationEvent } from '../session/creation.js';
import { admitEvent } from '../input/event-draft.js';
import { StatepadError } from '../model/errors.js';
import { deepFreeze } from '../model/json.js';
import { newId } from '../model/ids.js';
import { Memory, type Guard } from '../session/registry.js';
import { checkKey, type ListPlan } from '../input/requests.js';
import { mergeRecords } from '../model/scope.js';
import { pageOf, type AppendPlan, type Creation, type SessionName, type Sessions } from './backend.js';
import { isSessionTarget, type UpdateTarget } from './update-target.js';
import type { View } from '../session/handle.js';
import type {
  Event,
  GetSessionConfig,
  Json,
  ListSessionsResponse,
  Session,
  SessionKey,
  UpdateStateOptions,
  UpdateStateTarget,
} from '../model/types.js';

/** Sessions of one process that end with it. */
export class LocalSessions implements Sessions {
  readonly #memory = new Memory();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  create({ key, state }: Creation): Session {
    const time = this.#now();
    const ticket = this.#memory.prepareCreate(key, time, state);
    return this.#memory.read(this.#memory.applyCreate(key, creationEvent(time, state), ticket));
  }

  get(key: SessionKey, config: GetSessionConfig | undefined): Session | undefined {
    const record = this.#memory.find(key);
    return record && this.#memory.read(record, config);
  }

  list(plan: ListPlan): ListSessionsResponse {
    const { sessions, offset, total, cursor } = this.#memory.list(plan);
    return pageOf(plan, offset, total, sessions, cursor);
  }

  remove(key: SessionKey): void {
    const record = this.#memory.find(key);
    if (record !== undefined) {
      this.#memory.remove(record);
    }
  }

  append({ session, draft, expectedRevision }: AppendPlan): Event {
    const { appName, userId, id: sessionId } = session;
    const view = this.#memory.view(session);
    const record = view?.record ?? this.#memory.find(checkKey({ appName, userId, sessionId }));
    if (record === undefined) {
      throw notFound(sessionId);
    }
    return applyAppend(this.#memory, record, prepareAppend(this.#memory, record, draft, { revision: expectedRevision }), view);
  }

  scope(appName: string, userId: string | undefined): Record<string, unknown> {
    return JSON.parse(this.#memory.scopeText(appName, userId, false)) as Record<string, Json>;
  }

  target(target: UpdateStateTarget, options: UpdateStateOptions): UpdateTarget {
    return isSessionTarget(target) ? this.#sessionTarget(target, options) : this.#scopeTarget(target);
  }

  past(session: SessionName): View {
    const { appName, userId, id: sessionId } = session;
    const view = this.#memory.view(session) ?? this.view(this.get(checkKey({ appName, userId, sessionId }), undefined));
    if (view === undefined) {
      throw notFound(sessionId);
    }
    return view;
  }

  view(session: unknown): View | undefined {
    return this.#memory.view(session);
  }

  async flush(): Promise<void> {
    // Nothing waits.
  }

  async close(): Promise<void> {
    // Nothing was opened.
  }

  /** A session: what is written becomes an event of it. */
  #sessionTarget(target: SessionKey, { author = 'system', invocationId }: UpdateStateOptions): UpdateTarget {
    const memory = this.#memory;
    const key = checkKey(target);
    const { appName, userId, sessionId } = key;
    return () => {
      const record = memory.find(key);
      if (record === undefined) {
        throw notFound(sessionId);
      }
      const guard = { revision: record.revision, ...this.#versions(appName, userId) };
      return {
        state: memory.read(record).state,
        write: (stateDelta) => {
          if (memory.find(key) !== record) {
            throw new StatepadError('STATE_CONFLICT', `session "${sessionId}" has been created anew`, { id: sessionId });
          }
          const draft = admitEvent({ author, invocationId, actions: { stateDelta } }, this.#now, {});
          applyAppend(memory, record, prepareAppend(memory, record, draft, guard), undefined);
          return memory.read(record).state;
        },
      };
    };
  }

  /** A user's and the app's keys, or the app's alone. */
  #scopeTarget({ appName, userId }: UpdateStateTarget): UpdateTarget {
    const read = (): Readonly<Record<string, Json>> => {
      const users = userId === undefined ? [undefined] : [undefined, userId];
      return deepFreeze(mergeRecords(users.map((user) => JSON.parse(this.#memory.scopeText(appName, user, true)) as Record<string, Json>)));
    };
    return () => {
      const guard = this.#versions(appName, userId);
      return {
        state: read(),
        write: (delta) => {
          const ticket = this.#memory.prepareUpdate(appName, userId, newId(), this.#now(), admitDelta(delta, 'delta'), guard);
          this.#memory.applyUpdate(appName, userId, ticket);
          return read();
        },
      };
    };
  }

  #versions(appName: string, userId: string | undefined): Guard {
    const app = this.#memory.scopeVersion(appName, undefined);
    return userId === undefined ? { app } : { app, user: this.#memory.scopeVersion(appName, userId) };
  }
}
