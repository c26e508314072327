// Rewinds of a session: the events that they have taken back.

import type { Event } from '../../index.js';

/** A rewind, or the undoing of one: a marker in the log. Nothing is ever taken out of a log. */
export interface Rewind {
  /** The revision of the marker. */
  readonly revision: number;
  /** The invocation that it goes back to before. */
  readonly before: string;
  /** The revision that it goes back to: the state of the session's own keys is restored to it. */
  readonly to: number;
  /** True when it undoes an earlier rewind. */
  readonly isRedo: boolean;
}

/**
 * The rewinds of a log as it grows, and the events that stand. Readers of a log walk over it backwards, and jump at a
 * marker to before the first event of the invocation that it names.
 */
export class Rewinds {
  /** All markers, in their order. */
  readonly all: Rewind[] = [];
  readonly #firsts = new Map<string, number>();
  readonly #byRevision = new Map<number, Rewind>();
  #count = 0;
  /** The events that stood at the revision that was asked for last. */
  #standing: { readonly at: number; readonly revisions: Uint8Array } | undefined;

  /** Examines the next event. */
  add({ invocationId, actions }: Partial<Event>, revision: number): void {
    const before = actions?.rewindBeforeInvocationId;
    if (typeof before === 'string' && before !== '') {
      // An invocation that no earlier event belongs to is gone back to by no step.
      const to = (this.#firsts.get(before) ?? revision) - 1;
      const rewind = { revision, before, to, isRedo: this.#byRevision.has(to + 1) };
      this.all.push(rewind);
      this.#byRevision.set(revision, rewind);
    }
    if (typeof invocationId === 'string' && invocationId !== '' && !this.#firsts.has(invocationId)) {
      this.#firsts.set(invocationId, revision);
    }
    this.#count = revision;
  }

  /** The rewind that an event is the marker of. */
  at(revision: number): Rewind | undefined {
    return this.#byRevision.get(revision);
  }

  /** True for an event that a rewind has taken back, in a log of so many events. False for the markers. */
  isUndone(revision: number, at = this.#count): boolean {
    if (this.all.length === 0 || revision > at || this.#byRevision.has(revision)) {
      return false;
    }
    return this.#standingAt(at)[revision] === 0;
  }

  clear(): void {
    this.all.length = 0;
    this.#firsts.clear();
    this.#byRevision.clear();
    this.#count = 0;
    this.#standing = undefined;
  }

  #standingAt(at: number): Uint8Array {
    if (this.#standing?.at !== at) {
      const revisions = new Uint8Array(at + 1);
      for (let revision = at; revision > 0;) {
        const rewind = this.#byRevision.get(revision);
        revisions[revision] = rewind === undefined ? 1 : 0;
        revision = rewind === undefined ? revision - 1 : Math.min(rewind.to, revision - 1);
      }
      this.#standing = { at, revisions };
    }
    return this.#standing.revisions;
  }
}
