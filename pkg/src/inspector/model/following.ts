// Follows a session: its changes by all writers, through interruptions.

import { applyChange, isStatepadError } from '../../index.js';
import type { Session, SessionKey, WholePlace } from '../../index.js';
import type { InspectorSource } from './source.js';

/** The listeners to a session that is followed. */
export interface Follower {
  /**
   * The session after a change; `isWhole` when it does not continue what was told before. Changes that come together
   * are told at once.
   */
  onSession(session: Session, isWhole: boolean): void;
  /** The session was deleted, and perhaps created anew. It is not followed any more. */
  onDeleted(): void;
  /** Following fails, and goes on to be attempted; `undefined` when it succeeds again. */
  onProblem(problem: unknown): void;
}

/** The first pause after a failure, and the longest one, in ms. */
const PAUSES = { first: 500, longest: 15_000 };

/** The interval of checks that the source is there: a client waits without a word for a server that is gone. */
const CHECKS = 10_000;

/** The time in which changes are gathered, in ms: bursts are told once a frame. */
const GATHERING = 16;

/** Follows a session until {@link Following.stop}. */
export class Following {
  readonly #source: InspectorSource;
  readonly #key: SessionKey;
  readonly #follower: Follower;
  readonly #abort = new AbortController();
  readonly #checks: ReturnType<typeof setInterval>;
  #session: Session | undefined;
  #gathering: ReturnType<typeof setTimeout> | undefined;
  #hasProblem = false;
  #wake: (() => void) | undefined;

  constructor(source: InspectorSource, key: SessionKey, follower: Follower) {
    this.#source = source;
    this.#key = key;
    this.#follower = follower;
    this.#checks = setInterval(() => void this.#check(), CHECKS);
    void this.#run();
  }

  /** Ends following. */
  stop(): void {
    this.#abort.abort();
    clearInterval(this.#checks);
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    this.#wake?.();
  }

  /** Attempts again now, where an attempt has failed. */
  retry(): void {
    this.#wake?.();
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    let pause = PAUSES.first;
    let place: WholePlace | undefined;
    for (;;) {
      try {
        for await (const change of this.#source.watch({ ...this.#key, whole: true }, { since: place, signal })) {
          if (change.type === 'deleted') {
            this.#leave();
            return;
          }
          ({ place } = change);
          pause = PAUSES.first;
          this.#tell(undefined);
          this.#take(applyChange(this.#session, change), change.type === 'session');
        }
        // A source that is closed ends all watches.
        this.stop();
      } catch (error) {
        if (signal.aborted) {
          return;
        }
        if (isStatepadError(error) && error.code === 'SESSION_NOT_FOUND') {
          this.#leave();
          return;
        }
        this.#tell(error);
        if (isStatepadError(error) && error.code === 'CLOSED') {
          this.stop();
          return;
        }
        await this.#sleep(pause);
        pause = Math.min(2 * pause, PAUSES.longest);
      }
    }
  }

  #take(session: Session | undefined, isWhole: boolean): void {
    this.#session = session;
    if (isWhole) {
      this.#deliver(true);
    } else {
      this.#gathering ??= setTimeout(() => this.#deliver(), GATHERING);
    }
  }

  #deliver(isWhole = false): void {
    clearTimeout(this.#gathering);
    this.#gathering = undefined;
    if (this.#session !== undefined && !this.#abort.signal.aborted) {
      this.#follower.onSession(this.#session, isWhole);
    }
  }

  #leave(): void {
    this.#deliver();
    if (!this.#abort.signal.aborted) {
      this.stop();
      this.#follower.onDeleted();
    }
  }

  #tell(problem: unknown): void {
    if (problem !== undefined || this.#hasProblem) {
      this.#hasProblem = problem !== undefined;
      this.#follower.onProblem(problem);
    }
  }

  /** Asks for next to nothing: only the failure to be answered counts. */
  async #check(): Promise<void> {
    try {
      await this.#source.listApps({ limit: 1, signal: this.#abort.signal });
      this.#tell(undefined);
    } catch (error) {
      const isRefused = isStatepadError(error) && error.code === 'FORBIDDEN';
      if (!this.#abort.signal.aborted && !isRefused) {
        this.#tell(error);
      }
    }
  }

  async #sleep(pause: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pause);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wake = undefined;
  }
}
