// The past of a session: what its log says of each key at each revision. The core knows; this side tells it the log.

import { Past as CorePast } from '../wasm/statepad.js';
import { storedDeletions } from './deleted.js';
import { StatepadError } from './errors.js';
import { deepFreeze } from './freeze.js';
import { stateOf, type SessionRecord, type View } from './handle.js';
import { namesText, type DeltaText } from './memory.js';
import { checkCount } from './requests.js';
import { isTemp } from './scope.js';
import { write } from './wasm.js';
import type { CreationEvent } from './creation.js';
import type { Event, HistoryOptions, HistoryStep, Json } from './types.js';

/** All steps: more than this no log has. */
const MOST = 0xffffffff;

/** What the core has been told of one log. */
export class Past {
  readonly #core = new CorePast();
  /** The revision that it has not been told of yet. */
  #next = 0;

  /** Tells it what is new in a log whose events are all in memory. */
  catchUp({ creation, events, key }: SessionRecord): void {
    if (this.#next === 0 && creation !== undefined && creation !== 'unknown') {
      this.#push(0, { delta: creation.state, deleted: [] }, key.sessionId);
    }
    for (let revision = Math.max(this.#next, 1); revision <= events.length; revision++) {
      const { actions, customMetadata } = events[revision - 1] as Event;
      const delta = (actions as Event['actions'] | undefined)?.stateDelta as Record<string, Json> | undefined;
      if (delta !== undefined && Object.keys(delta).length > 0) {
        this.#push(revision, { delta, deleted: storedDeletions(customMetadata) }, key.sessionId);
      }
    }
    this.#next = events.length + 1;
  }

  #push(revision: number, { delta, deleted }: DeltaText, id: string): void {
    const [length, names] = write(JSON.stringify(delta), namesText(deleted));
    if (!this.#core.push(revision, length, names)) {
      throw new StatepadError('STORE_CORRUPT', `the state delta of revision ${revision} of session "${id}" cannot be read`, { id });
    }
  }

  /** The values at a revision; those that the log knows nothing of are as they are `now`. */
  stateAt(revision: number, now: Readonly<Record<string, Json>>): Record<string, Json> {
    const [length] = write(JSON.stringify(now));
    const values = JSON.parse(this.#core.state_at(revision, length)) as Record<string, Json>;
    return Object.assign(Object.create(null) as Record<string, Json>, values);
  }

  /** The last writes of a key up to a revision. */
  steps(key: string, until: number, last: number): Pick<HistoryStep, 'revision' | 'from' | 'to'>[] {
    return JSON.parse(this.#core.steps(key, until, last)) as Pick<HistoryStep, 'revision' | 'from' | 'to'>[];
  }
}

/** See `SessionService.stateAt`. The view's session has all its events in memory. */
export function stateAt(view: View, revision: number): Readonly<Record<string, Json>> {
  checkRevision(view, revision);
  const now = (view.state ??= stateOf(view));
  return deepFreeze(revision === view.revision ? withoutTemp(now) : pastOf(view.record).stateAt(revision, now));
}

/** See `SessionService.history`. The view's session has all its events in memory. */
export function history(view: View, key: string, { until = view.revision, last = MOST }: HistoryOptions): readonly HistoryStep[] {
  checkCount(last, 'last');
  checkRevision(view, until);
  const { creation, events } = view.record;
  const steps = pastOf(view.record).steps(key, until, Math.min(last, MOST));
  return Object.freeze(
    steps.map(({ revision, ...values }) => {
      const event = events[revision - 1];
      const by = event === undefined ? { timestamp: (creation as CreationEvent).timestamp } : { timestamp: event.timestamp, event };
      return Object.freeze({ revision, ...by, ...deepFreeze(values) });
    }),
  );
}

function withoutTemp(state: Readonly<Record<string, Json>>): Record<string, Json> {
  const stored = Object.create(null) as Record<string, Json>;
  for (const key of Object.keys(state).filter((name) => !isTemp(name))) {
    stored[key] = state[key] as Json;
  }
  return stored;
}

function pastOf(record: SessionRecord): Past {
  const past = (record.past ??= new Past());
  past.catchUp(record);
  return past;
}

function checkRevision({ revision: actual, record }: View, revision: number): void {
  if (!Number.isSafeInteger(revision) || revision < 0 || revision > actual) {
    const { sessionId: id } = record.key;
    const message = `session "${id}" has the revisions 0 to ${actual} here, and not ${String(revision)}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { id, path: 'revision', actual });
  }
}
