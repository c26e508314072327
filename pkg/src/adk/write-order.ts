// Which of two writes was made later: ADK stamps each write, and keeps the stamps to itself.

import { State as AdkState, trimTempDeltaState, type Event, type Session } from '@google/adk';

/** Keys under a delta's stamps. The values do not matter; what is there is known by the delta itself. */
type Stamped = Record<string, unknown>;

/** When the keys of one event's delta were written. */
export interface Writes {
  readonly stamps: ReadonlyMap<string, Stamped>;
}

/** Applies an event to a session by ADK's own rule: a key that was written later stays. */
export type ApplyEvent = (request: { session: Session; event: Event }) => Promise<Event>;

/**
 * The order of the writes to one session. It knows only writes that are stored: what {@link WriteOrder.overtaken}
 * looks at does not change before {@link WriteOrder.stored} says so.
 */
export class WriteOrder {
  readonly #apply: ApplyEvent;
  /** By the key: the delta of the write that was made last. */
  readonly #last = new Map<string, Stamped>();

  constructor(apply: ApplyEvent) {
    this.#apply = apply;
  }

  /**
   * When the keys of a delta were written: when ADK says so, or else now. Later changes of the delta do not matter.
   */
  async written(delta: Readonly<Record<string, unknown>>): Promise<Writes> {
    const keys = Object.keys(delta);
    const given = withStamps(delta);
    const now = record();
    const state = record();
    const stamping = new AdkState(state, now);
    for (const key of keys) {
      stamping.set(key, now);
    }
    // What was stamped before is older than what has just been stamped: it is not applied.
    await this.#applyTo(state, given);
    const stamps = new Map<string, Stamped>();
    for (const key of keys) {
      const [used, other] = state[key] === given ? [now, given] : [given, now];
      stamps.set(key, used);
      delete other[key];
    }
    return { stamps };
  }

  /** Those keys that were written later by what is stored already. */
  async overtaken({ stamps }: Writes): Promise<readonly string[]> {
    const keys = [...stamps.keys()];
    const last = keys.map((key) => this.#last.get(key)).filter((stamped) => stamped !== undefined);
    if (last.length === 0) {
      return [];
    }
    const state = record();
    for (const stamped of new Set([...last, ...stamps.values()])) {
      await this.#applyTo(state, stamped);
    }
    return keys.filter((key) => state[key] !== stamps.get(key));
  }

  /** Takes over the writes that are stored now, but for those that were overtaken. */
  stored({ stamps }: Writes, overtaken: readonly string[]): void {
    for (const [key, stamped] of stamps) {
      if (!overtaken.includes(key)) {
        this.#last.set(key, stamped);
      }
    }
  }

  async #applyTo(state: Stamped, stateDelta: Stamped): Promise<void> {
    const session = { id: '', appName: '', userId: '', state, events: [], lastUpdateTime: 0 };
    await withTemp(() => this.#apply({ session, event: eventOf(stateDelta) }));
  }
}

/** A delta with the stamps of another one, under the same keys. */
function withStamps(delta: Readonly<Record<string, unknown>>): Stamped {
  const { stateDelta } = withTemp(() => trimTempDeltaState(eventOf(delta))).actions;
  for (const key of Object.keys(stateDelta)) {
    stateDelta[key] = stateDelta;
  }
  return stateDelta;
}

/** As much of an event as ADK looks at. */
function eventOf(stateDelta: Readonly<Record<string, unknown>>): Event {
  return { id: '', actions: { stateDelta } } as unknown as Event;
}

function record(): Stamped {
  return Object.create(null) as Stamped;
}

/**
 * ADK passes over `temp:` keys when it compares writes. What `compare` does before it first waits, it does for them,
 * too.
 */
function withTemp<T>(compare: () => T): T {
  const { TEMP_PREFIX } = AdkState;
  try {
    Reflect.set(AdkState, 'TEMP_PREFIX', '\0');
    return compare();
  } finally {
    Reflect.set(AdkState, 'TEMP_PREFIX', TEMP_PREFIX);
  }
}
