// One connection for all watches of a client: each message names its target. It is renewed when the set of targets
// changes, and when it breaks, and resumes where it was: no change is lost or repeated.

import { addressOf, ask, isPassing, errorFromJson, type Server, type ServerRequest } from '../server.js';
import { PATHS } from '../../http/paths.js';
import { MAX_TARGETS, targetsText, TARGETS, type RequestedTarget } from '../../http/watch-targets.js';
import { MessageReader, readChange, type AnyChange, type Message } from '../../http/watch-wire.js';
import { sleep } from '../../async/sleep.js';
import { StatepadError } from '../../model/errors.js';

/** The longest pause before reconnecting, in milliseconds. */
const MAX_PAUSE_MS = 30_000;
/** The first pause, until the server sets another one, in milliseconds. */
const PAUSE_MS = 1_000;
/** The time to collect further targets before the connection is renewed for them, in milliseconds. */
const ADD_MS = 5;
/** The time that a target stays in the connection after its watch has ended, in milliseconds. */
const REMOVE_MS = 1_000;
/** The longest URL, in characters: servers and proxies refuse longer ones. Longer lists of targets go into a body. */
const MAX_ADDRESS = 2_000;

/** One target that is watched over the connection. */
export interface Subscription {
  /** The requested target, with the place where it resumes. */
  readonly target: RequestedTarget;
  /** True when it has no room for another change. */
  readonly isFull: boolean;
  /** Delivers a change. Returns true if it was accepted. */
  push(change: AnyChange): boolean;
  /** Ends it with an error. */
  fail(error: unknown): void;
}

/** A subscription, and the state of its connection. */
interface Watched {
  readonly subscription: Subscription;
  since: string | undefined;
  /** True once the server has answered for it. */
  wasConnected: boolean;
  /** True while it waits for its next connection: it has no use, or no room, for messages of the current one. */
  isBehind: boolean;
}

/** The reason for ending a connection that is replaced at once. */
const ANEW = Symbol('anew');

/** The one connection of a client. */
export class Connection {
  readonly #server: Server;
  /** The silence after which it counts as dead, in milliseconds. */
  readonly #silence: number;
  readonly #watched = new Map<Subscription, Watched>();
  /** Of the current connection, or of the pause before it. */
  #current: AbortController | undefined;
  #isRunning = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The time when the connection is renewed, in milliseconds; `Infinity` when no renewal is scheduled. */
  #renewalTime = Infinity;
  #pause = PAUSE_MS;
  /** The number of consecutive connections without a message. */
  #failures = 0;

  constructor(server: Server, silence: number) {
    this.#server = server;
    this.#silence = silence;
  }

  /** True when it has as many targets as a request may have. */
  get isFull(): boolean {
    return this.#watched.size >= MAX_TARGETS;
  }

  /** Begins to deliver changes to a subscription. */
  add(subscription: Subscription): void {
    const { since } = subscription.target;
    this.#watched.set(subscription, { subscription, since, wasConnected: false, isBehind: true });
    this.#renewWithin(ADD_MS);
  }

  /** Stops delivering to it. */
  remove(subscription: Subscription): void {
    this.#watched.delete(subscription);
    if (this.#watched.size === 0) {
      this.#renew();
    } else {
      this.#renewWithin(REMOVE_MS);
    }
  }

  /** A subscription has room again: another connection delivers the changes that it missed. */
  resume(subscription: Subscription): void {
    if (this.#watched.get(subscription)?.isBehind) {
      this.#renewWithin(ADD_MS);
    }
  }

  /** Renews the connection after at most this many milliseconds. */
  #renewWithin(time: number): void {
    const renewalTime = performance.now() + time;
    if (renewalTime < this.#renewalTime) {
      clearTimeout(this.#timer);
      this.#renewalTime = renewalTime;
      this.#timer = setTimeout(() => this.#renew(), time);
    }
  }

  #renew(): void {
    clearTimeout(this.#timer);
    this.#renewalTime = Infinity;
    this.#current?.abort(ANEW);
    if (!this.#isRunning && this.#ready().length > 0) {
      this.#isRunning = true;
      void this.#run();
    }
  }

  /** The subscriptions that have room. */
  #ready(): readonly Watched[] {
    return [...this.#watched.values()].filter(({ subscription }) => !subscription.isFull);
  }

  /** Reconnects as long as there are subscriptions. Never throws. */
  async #run(): Promise<void> {
    for (let ready = this.#ready(); ready.length > 0; ready = this.#ready()) {
      const current = new AbortController();
      this.#current = current;
      await this.#connected(ready, current).catch((error: unknown) => this.#failed(ready, error, current.signal));
      if (current.signal.reason !== ANEW && this.#watched.size > 0) {
        const pausing = new AbortController();
        this.#current = pausing;
        await sleep(this.#nextPause(), pausing.signal).catch(() => undefined);
      }
    }
    this.#current = undefined;
    this.#isRunning = false;
  }

  /** Reads one connection until it ends. Throws the server's refusal. */
  async #connected(ready: readonly Watched[], current: AbortController): Promise<void> {
    for (const watched of this.#watched.values()) {
      watched.isBehind = true;
    }
    const text = targetsText(ready.map(({ subscription: { target }, since }) => ({ ...target, since })));
    const body = await this.#ask(text, current);
    ready.forEach((watched) => (watched.isBehind = false));
    const messages = new MessageReader({
      message: (message) => this.#take(ready, message),
      retry: (pause) => (this.#pause = pause),
    });
    const reader = body?.getReader();
    for (;;) {
      const piece = reader && (await this.#piece(reader, current));
      if (piece === undefined || current.signal.aborted) {
        current.abort();
        return;
      }
      messages.push(piece);
    }
  }

  /** The body of the answer for some targets. One that takes too long counts as unreachable. */
  async #ask(targets: string, current: AbortController): Promise<ReadableStream<Uint8Array> | null> {
    const request = requestOf(this.#server, targets);
    const message = `${request.address} does not answer within ${this.#silence} ms`;
    const late = new StatepadError('STORE_UNAVAILABLE', message);
    const timer = setTimeout(() => current.abort(late), this.#silence);
    try {
      return (await ask(this.#server, request, current.signal)).body;
    } finally {
      clearTimeout(timer);
    }
  }

  /** The next piece of a body; `undefined` when it has ended, broken or been silent for too long. */
  async #piece(
    reader: ReadableStreamDefaultReader<Uint8Array>,
    current: AbortController,
  ): Promise<Uint8Array | undefined> {
    const timer = setTimeout(() => current.abort(), this.#silence);
    const stop = (): void => void reader.cancel().catch(() => undefined);
    current.signal.addEventListener('abort', stop, { once: true });
    try {
      return (await reader.read()).value;
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
      current.signal.removeEventListener('abort', stop);
    }
  }

  /** Delivers a message to its subscription. */
  #take(ready: readonly Watched[], message: Message): void {
    const [, index = '', place = ''] = /^(\d+)\/(.*)$/s.exec(message.id ?? '') ?? [];
    const watched = index === '' ? undefined : ready[Number(index)];
    if (watched === undefined || watched.isBehind || this.#watched.get(watched.subscription) !== watched) {
      return;
    }
    this.#failures = 0;
    if (message.name === 'error') {
      const error = errorFromJson(JSON.parse(message.data));
      this.#refused(watched, error ?? new TypeError('an error without a code'));
      return;
    }
    const { subscription } = watched;
    const change =
      message.data === '' ? undefined : readChange(message, subscription.target.whole ? place : undefined);
    watched.wasConnected = true;
    if (change !== undefined && !subscription.push(change)) {
      watched.isBehind = true;
      return;
    }
    watched.since = place === '' ? watched.since : place;
  }

  /** Handles a refusal of one target. */
  #refused(watched: Watched, error: unknown): void {
    if (watched.wasConnected && (error as { readonly code?: unknown }).code === 'SESSION_NOT_FOUND') {
      watched.subscription.push({ type: 'deleted' });
    } else if (watched.wasConnected && isPassing(error)) {
      watched.isBehind = true;
      this.#failures += 1;
      this.#renewWithin(this.#pauseFor(this.#failures));
    } else {
      watched.subscription.fail(error);
    }
  }

  /**
   * Handles a failed connection: subscriptions that were never connected fail, or all, when another attempt is
   * pointless.
   */
  #failed(ready: readonly Watched[], error: unknown, signal: AbortSignal): void {
    if (signal.reason === ANEW) {
      return;
    }
    for (const watched of ready) {
      if (this.#watched.get(watched.subscription) === watched && !(watched.wasConnected && isPassing(error))) {
        watched.subscription.fail(error);
      }
    }
  }

  /** Grows with every failure, with jitter, so that clients that broke together do not reconnect together. */
  #nextPause(): number {
    this.#failures += 1;
    return this.#pauseFor(this.#failures);
  }

  #pauseFor(failures: number): number {
    return Math.min(MAX_PAUSE_MS, this.#pause * 2 ** Math.min(failures - 1, 10)) * (0.5 + Math.random() / 2);
  }
}

/** The request for some targets. Neither form needs a preflight request, unless the caller's headers do. */
function requestOf(server: Server, targets: string): ServerRequest {
  const address = addressOf(server, PATHS.watch, { [TARGETS]: targets });
  const accept = 'text/event-stream';
  return address.length <= MAX_ADDRESS
    ? { method: 'GET', address, headers: { accept } }
    : {
        method: 'POST',
        address: addressOf(server, PATHS.watch),
        headers: { accept, 'content-type': 'text/plain;charset=UTF-8' },
        body: targets,
      };
}
