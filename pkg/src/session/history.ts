// The past of a session: what its log says of each key at each revision. The core knows; this side tells it the log.

import { storedDeletions } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { deepFreeze } from '../model/json.js';
import { describe } from '../model/kinds.js';
import { stateOf, type SessionRecord, type View } from './handle.js';
import { checkCount } from '../checks/arguments.js';
import { withoutTemp } from '../model/scope.js';
import { Past as CorePast } from '../engine/wasm.js';
import { write, namesText, type DeltaText } from '../engine/transfer.js';
import { MOST } from '../engine/limits.js';
import type { CreationEvent } from './creation.js';
import type { Event, HistoryOptions, HistoryStep, Json } from '../model/types.js';

/** What the core has been told of one log. */
export class Past {
  readonly #core = new CorePast();
  /** The revision that it has not been told of yet. */
  #next = 0;

  /** Lets go of the core's memory, sooner than the garbage collector would. */
  free(): void {
    this.#core.free();
  }

  /** Tells it what is new in a log whose events are all in memory. Throws `STORE_CORRUPT`. */
  catchUp(record: SessionRecord): void {
    for (; this.#next <= record.events.length; this.#next++) {
      const written = deltaAt(record, this.#next);
      const [length, names] = written === undefined ? [0, 0] : write(JSON.stringify(written.delta), namesText(written.deleted));
      if (written !== undefined && !this.#core.push(this.#next, length, names)) {
        throw unreadable(record, this.#next);
      }
    }
  }

  /** The values at a revision; those that the log knows nothing of until a later one are as they were `then`. */
  stateAt(revision: number, until: number, then: Readonly<Record<string, Json>>): Record<string, Json> {
    const [length] = write(JSON.stringify(then));
    return JSON.parse(this.#core.state_at(revision, until, length)) as Record<string, Json>;
  }

  /** The last writes of a key up to a revision. */
  steps(key: string, until: number, last: number): Pick<HistoryStep, 'revision' | 'from' | 'to'>[] {
    return JSON.parse(this.#core.steps(key, until, last)) as Pick<HistoryStep, 'revision' | 'from' | 'to'>[];
  }
}

/** See `SessionService.stateAt`. The view's session has all its events in memory. */
export function stateAt(view: View, revision: number): Readonly<Record<string, Json>> {
  checkRevision(view, revision, 'revision');
  const now = (view.state ??= stateOf(view));
  return deepFreeze(revision === view.revision ? withoutTemp(now) : pastOf(view.record).stateAt(revision, view.revision, now));
}

/** See `SessionService.history`. The view's session has all its events in memory. */
export function history(view: View, key: string, { until = view.revision, last = MOST }: HistoryOptions): readonly HistoryStep[] {
  checkCount(last, 'last');
  checkRevision(view, until, 'until');
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

function pastOf(record: SessionRecord): Past {
  const past = (record.past ??= new Past());
  past.catchUp(record);
  return past;
}

function checkRevision({ revision: actual, record }: View, revision: number, path: string): void {
  if (!Number.isSafeInteger(revision) || revision < 0 || revision > actual) {
    const { sessionId: id } = record.key;
    const message = `session "${id}" has the revisions 0 to ${actual} here, and not ${describe(revision)}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { id, path, actual });
  }
}

/** What a revision wrote, if anything. Whoever wrote to the store may have written anything. */
function deltaAt(record: SessionRecord, revision: number): DeltaText | undefined {
  const { creation, events } = record;
  if (revision === 0) {
    return creation === undefined || creation === 'unknown' ? undefined : { delta: creation.state, deleted: [] };
  }
  try {
    const { actions, customMetadata } = events[revision - 1] as { actions?: Partial<Event['actions']> | null; customMetadata?: unknown };
    const delta = (actions?.stateDelta ?? {}) as Record<string, Json>;
    return Object.keys(delta).length > 0 ? { delta, deleted: storedDeletions(customMetadata) } : undefined;
  } catch (cause) {
    throw unreadable(record, revision, cause);
  }
}

function unreadable({ key: { sessionId: id } }: SessionRecord, revision: number, cause?: unknown): StatepadError {
  return new StatepadError('STORE_CORRUPT', `the state delta of revision ${revision} of session "${id}" cannot be read`, { id, cause });
}
