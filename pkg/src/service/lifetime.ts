// The sessions of a service, from its first call until it is closed.

import { checkedClock } from '../input/clock.js';
import { checkSession } from '../input/requests.js';
import { StatepadError } from '../model/errors.js';
import { textOf, warn } from '../model/warnings.js';
import { isReady, ready, refuseAfterFailure, withWholeCore } from '../engine/wasm.js';
import { MemoryBackend } from '../backend/memory-backend.js';
import { checkGrowthOptions, type Growth } from './growth-options.js';
import { checkServiceOptions, checkStoreOptions, type StoreOptions } from './options.js';
import type { SessionBackend } from '../backend/backend.js';
import type { StoredOptions } from '../backend/durable/options.js';
import type { RequestComponents, ServiceComponents } from './current-log.js';
import type { LogRetention } from '../session/shared-logs.js';
import type { Sweeper } from './sweeper.js';
import type { View } from '../session/handle.js';
import type { Abortable, SessionName } from '../model/types.js';

/** The options that say where the sessions are, and what time it is. */
interface LifetimeOptions extends StoreOptions {
  readonly now?: (() => number) | undefined;
}

/** Starts the sessions of a service at the first call that needs them, and refuses all calls after the end. */
export class Lifetime {
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** The end of sessions whose requests name none, in milliseconds. */
  readonly ttl: number | undefined;
  readonly growth: Growth;
  readonly #storeOptions: StoredOptions | undefined;
  readonly #log: LogRetention;
  #sessions: SessionBackend | undefined;
  #starting: Promise<SessionBackend> | undefined;
  #sweeper: Sweeper | undefined;
  #isClosed = false;

  /** Throws `INVALID_ARGUMENT` for options that exclude each other. */
  constructor(options: LifetimeOptions) {
    checkServiceOptions(options);
    this.now = options.now === undefined ? Date.now : checkedClock(options.now);
    const stored = checkStoreOptions(options, this.now);
    this.growth = checkGrowthOptions(options, options.store);
    this.ttl = this.growth.ttl;
    const { limits, isValueNamed } = this.growth;
    this.#storeOptions = stored && { ...stored, limits, isValueNamed };
    this.#log = options.log ?? 'last';
  }

  /** The sessions, if they can be used at once. */
  started({ signal }: Abortable): SessionBackend | undefined {
    signal?.throwIfAborted();
    this.refuseWhenClosed();
    return this.#sessions;
  }

  /** The sessions, which the first call starts. */
  async begin(request: Abortable): Promise<SessionBackend> {
    const sessions = this.started(request);
    if (sessions !== undefined) {
      return sessions;
    }
    const started = await (this.#starting ??= this.#start());
    this.refuseWhenClosed();
    return started;
  }

  /** The components of operations with a file of their own. Throws `INVALID_ARGUMENT` for what names no session. */
  async components(session: SessionName, options: Abortable): Promise<RequestComponents> {
    checkSession(session);
    const lease = this.view(session)?.lease;
    return { ...this.componentsOf(await this.begin(options)), lease };
  }

  /** The same for requests that name no session. */
  componentsOf(sessions: SessionBackend): ServiceComponents {
    return { sessions, now: this.now, ttl: this.ttl, limits: this.growth.limits };
  }

  /** The view behind a handle of this service. */
  view(session: unknown): View | undefined {
    return this.#sessions?.view(session);
  }

  /** Throws `CLOSED` after the end, and the error of a module that has failed. */
  refuseWhenClosed(): void {
    refuseAfterFailure();
    if (this.#isClosed) {
      throw new StatepadError('CLOSED', 'the service is closed');
    }
  }

  /** Resolves when every earlier write is durable, or has failed. */
  async flush(): Promise<void> {
    await this.#sessions?.flush();
  }

  /** Ends it; once. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      await this.#sessions?.close(async () => await this.#sweeper?.close());
    }
  }

  /** Nobody waits for sweeps: that there are none is a warning, and the calls of the service work all the same. */
  async #startSweeping(sessions: SessionBackend): Promise<void> {
    const { sweepEvery = Infinity } = this.growth;
    if (sweepEvery === Infinity) {
      return;
    }
    try {
      const { Sweeper } = await import('./sweeper.js');
      if (!this.#isClosed) {
        this.#sweeper = new Sweeper(this, sessions, sweepEvery);
      }
    } catch (error) {
      warn('STATEPAD_SWEEP_FAILED', `this service does not sweep in the background: ${textOf(error)}`);
    }
  }

  async #start(): Promise<SessionBackend> {
    try {
      if (!isReady()) {
        await ready();
      }
      // The code of stores is loaded only with a store.
      this.#sessions =
        this.#storeOptions === undefined
          ? new MemoryBackend(this.now, this.#log, this.growth)
          : new (await withWholeCore(import('../backend/durable/store-backend.js'))).StoreBackend(this.#storeOptions);
      await this.#startSweeping(this.#sessions);
      return this.#sessions;
    } catch (error) {
      this.#starting = undefined;
      throw error;
    }
  }
}
