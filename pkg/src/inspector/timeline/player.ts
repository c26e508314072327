// Plays a session: its moments one after the other.

import type { Inspection } from '../model/inspection.js';

/** The time between two moments, in ms: enough to see what changes. */
const PACE = 900;

/** Plays the session of an inspection from its moment on, or from the creation when it is at the end. */
export class Player {
  readonly #changed: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;
  #at: number | undefined;

  /** `changed` is called when it begins and ends. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** True while it plays. */
  get isPlaying(): boolean {
    return this.#timer !== undefined;
  }

  /** Begins, or stops. */
  toggle(inspection: Inspection): void {
    if (this.isPlaying) {
      this.stop();
      return;
    }
    const last = inspection.session?.revision ?? 0;
    const from = inspection.target >= last ? 0 : inspection.target + 1;
    this.#timer = setInterval(() => this.#step(inspection), PACE);
    this.#go(inspection, from);
    this.#changed();
  }

  /** Stops. */
  stop(): void {
    if (this.isPlaying) {
      clearInterval(this.#timer);
      this.#timer = undefined;
      this.#changed();
    }
  }

  /** Goes on, unless somebody else has moved the moment in between. */
  #step(inspection: Inspection): void {
    const last = inspection.session?.revision ?? 0;
    if (inspection.target !== this.#at || inspection.target >= last) {
      this.stop();
    } else {
      this.#go(inspection, inspection.target + 1);
    }
  }

  #go(inspection: Inspection, revision: number): void {
    this.#at = revision;
    inspection.travel(revision);
  }
}
