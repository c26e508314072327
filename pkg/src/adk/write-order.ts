// The order of writes: ADK stamps each write, and keeps the stamps private.

import { State as AdkState, trimTempDeltaState, type Event, type Session } from '@google/adk';
import { operatorOf } from '../model/operator-write.js';

/** Keys under a delta's stamps. The values do not matter; the delta itself has them. */
type Stamped = Record<string, unknown>;

/** The times when the keys of one event's delta were written. */
export interface Writes {
  readonly stamps: ReadonlyMap<string, Stamped>;
  /** The keys that hold an operator. */
  readonly operators: ReadonlySet<string>;
}

/** The keys of a delta that stored events wrote later. */
export interface Overtaken {
  readonly keys: readonly string[];
  /** Those of them that must not be written any more. Operators do not overtake each other: both are written. */
  readonly dropped: readonly string[];
}

/** Applies an event to a session by ADK's own rule: a key that was written later stays. */
export type ApplyEvent = (request: { session: Session; event: Event }) => Promise<Event>;

/**
 * The order of the writes to one session. It knows only stored writes: those that {@link WriteOrder.overtaken}
 * compares do not count before {@link WriteOrder.stored} says so.
 */
export class WriteOrder {
  readonly #apply: ApplyEvent;
  /** By the key: the delta of the last write, and of the last one that is no operator. */
  readonly #last = new Map<string, Stamped>();
  readonly #lastPlain = new Map<string, Stamped>();

  constructor(apply: ApplyEvent) {
    this.#apply = apply;
  }

  /**
   * The times when the keys of a delta were written: by ADK's stamps, or else now. Later changes of the delta do not
   * matter.
   */
  async stampsOf(delta: Readonly<Record<string, unknown>>): Promise<Writes> {
    const keys = Object.keys(delta);
    const operators = new Set(keys.filter((key) => operatorOf(delta[key]) !== undefined));
    const plain = await this.#stamp(
      delta,
      keys.filter((key) => !operators.has(key)),
    );
    // Separately, because they are compared with other writes.
    return { stamps: new Map([...plain, ...(await this.#stamp(delta, [...operators]))]), operators };
  }

  /** The stamps of some keys of a delta. */
  async #stamp(
    delta: Readonly<Record<string, unknown>>,
    keys: readonly string[],
  ): Promise<readonly (readonly [string, Stamped])[]> {
    if (keys.length === 0) {
      return [];
    }
    const original = withStamps(delta, keys);
    const now = record();
    const state = record();
    const stamping = new AdkState(state, now);
    for (const key of keys) {
      stamping.set(key, now);
    }
    // Stamped earlier means older than a stamp of now: it is not applied.
    await this.#applyTo(state, original);
    return keys.map((key) => {
      const [used, other] = state[key] === original ? [now, original] : [original, now];
      delete other[key];
      return [key, used] as const;
    });
  }

  /** The keys that stored events wrote later. */
  async overtaken({ stamps, operators }: Writes): Promise<Overtaken> {
    const keys = await this.#behind(stamps, this.#last);
    const together = keys.filter((key) => operators.has(key));
    if (together.length === 0) {
      return { keys, dropped: keys };
    }
    const behindPlain = await this.#behind(stamps, this.#lastPlain);
    return { keys, dropped: keys.filter((key) => !operators.has(key) || behindPlain.includes(key)) };
  }

  /** The keys that were written before the last writes of them. */
  async #behind(stamps: Writes['stamps'], all: ReadonlyMap<string, Stamped>): Promise<readonly string[]> {
    const keys = [...stamps.keys()];
    const last = keys.map((key) => all.get(key)).filter((stamped) => stamped !== undefined);
    if (last.length === 0) {
      return [];
    }
    const state = record();
    for (const stamped of new Set([...last, ...stamps.values()])) {
      await this.#applyTo(state, stamped);
    }
    return keys.filter((key) => state[key] !== stamps.get(key));
  }

  /** Records writes that are stored now, except the overtaken ones. */
  stored({ stamps, operators }: Writes, { keys }: Overtaken): void {
    for (const [key, stamped] of stamps) {
      if (!keys.includes(key)) {
        this.#last.set(key, stamped);
        if (!operators.has(key)) {
          this.#lastPlain.set(key, stamped);
        }
      }
    }
  }

  async #applyTo(state: Stamped, stateDelta: Stamped): Promise<void> {
    const session = { id: '', appName: '', userId: '', state, events: [], lastUpdateTime: 0 };
    await withTemp(() => this.#apply({ session, event: eventOf(stateDelta) }));
  }
}

/** A delta with the stamps of another one, under some of its keys. */
function withStamps(delta: Readonly<Record<string, unknown>>, keys: readonly string[]): Stamped {
  const { stateDelta } = withTemp(() => trimTempDeltaState(eventOf(delta))).actions;
  for (const key of Object.keys(stateDelta)) {
    if (keys.includes(key)) {
      stateDelta[key] = stateDelta;
    } else {
      delete stateDelta[key];
    }
  }
  return stateDelta;
}

/** The members of an event that ADK reads. */
function eventOf(stateDelta: Readonly<Record<string, unknown>>): Event {
  return { id: '', actions: { stateDelta } } as unknown as Event;
}

function record(): Stamped {
  return Object.create(null) as Stamped;
}

/**
 * Includes `temp:` keys, which ADK skips when it compares writes, in everything that `compare` does before it first
 * waits.
 */
export function withTemp<T>(compare: () => T): T {
  const { TEMP_PREFIX } = AdkState;
  try {
    Reflect.set(AdkState, 'TEMP_PREFIX', '\0');
    return compare();
  } finally {
    Reflect.set(AdkState, 'TEMP_PREFIX', TEMP_PREFIX);
  }
}
