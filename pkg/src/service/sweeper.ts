// Sweeps in the background of a service. Loaded with the option `sweepEvery`.

import { keepRunning } from '../async/keep-running.js';
import { newId } from '../model/ids.js';
import { isStatepadError } from '../model/errors.js';
import { textOf, warn } from '../model/warnings.js';
import { sweep, type SweptService } from './sweep.js';
import type { SessionBackend } from '../backend/backend.js';

/** The name of the claim that the services of one store pass on. */
const CLAIM = 'sweep';
/** The shortest time after which another service takes the place of one that has ended, in milliseconds. */
const MIN_CLAIM_MS = 10_000;
/** The longest such time, whatever the interval: each sweep claims anew. */
const MAX_CLAIM_MS = 60 * 60 * 1000;
/** The longest delay of a host's timer, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** By how much the time between two sweeps differs at random: services that began together drift apart. */
const JITTER = 0.2;

/** Sweeps from time to time, until it is closed. */
export class Sweeper {
  readonly #service: SweptService;
  readonly #sessions: SessionBackend;
  readonly #every: number;
  readonly #holder = newId();
  readonly #end = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #running: Promise<void> | undefined;
  /** The token of the claim that this service has. */
  #fence: number | undefined;
  #hasFailed = false;

  constructor(service: SweptService, sessions: SessionBackend, every: number) {
    this.#service = service;
    this.#sessions = sessions;
    this.#every = every;
    this.#wait();
  }

  /** Ends it, and gives the claim back. */
  async close(): Promise<void> {
    clearTimeout(this.#timer);
    this.#end.abort();
    await this.#running;
    if (this.#fence !== undefined) {
      await this.#claim(0).catch(() => undefined);
    }
  }

  #wait(): void {
    const delay = this.#every * (1 - JITTER + 2 * JITTER * Math.random());
    this.#timer = setTimeout(
      () => {
        this.#running = this.#run();
      },
      Math.min(MAX_TIMER_MS, delay),
    );
    keepRunning(this.#timer, false);
  }

  async #run(): Promise<void> {
    const ttl = Math.min(MAX_CLAIM_MS, Math.max(MIN_CLAIM_MS, 2 * this.#every));
    try {
      const isMine = async (): Promise<boolean> => await this.#claim(ttl);
      if (await isMine()) {
        await sweep(this.#service, { signal: this.#end.signal }, isMine);
      }
      this.#hasFailed = false;
    } catch (error) {
      this.#report(error);
    }
    if (!this.#end.signal.aborted) {
      this.#wait();
    }
  }

  /** Claims the sweeping for so many milliseconds; 0 gives it back. Answers false where another service has it. */
  async #claim(ttl: number): Promise<boolean> {
    const claim = this.#sessions.claim;
    if (claim === undefined) {
      return true;
    }
    const fence = this.#fence;
    try {
      const request = { holder: this.#holder, ttl };
      this.#fence = (await claim(CLAIM, fence === undefined ? request : { ...request, fence })).fence;
      return true;
    } catch (error) {
      this.#fence = undefined;
      const isOthers = isStatepadError(error) && (error.code === 'LEASE_HELD' || error.code === 'LEASE_LOST');
      if (isOthers) {
        return false;
      }
      throw error;
    }
  }

  /** Reports the first of several failures: the next sweep may succeed, and nobody waits for this one. */
  #report(error: unknown): void {
    if (!this.#end.signal.aborted && !this.#hasFailed) {
      this.#hasFailed = true;
      warn('STATEPAD_SWEEP_FAILED', `what has expired was not removed, and will be tried again: ${textOf(error)}`);
    }
  }
}
