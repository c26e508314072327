// The election of a leader among tabs: the tab that holds a lock of the browser. A lock ends with its tab, so that
// another one leads when the leader is closed, or crashes.

import type { Message } from './messages.js';

/** The parts of the browser that a tab uses. */
export interface TabHost {
  readonly locks: LockManager;
  readonly openChannel: (name: string) => BroadcastChannel;
  /** The source of events that the tab is frozen, hidden or left; absent in a worker. */
  readonly page: { readonly window: EventTarget; readonly document: Document } | undefined;
}

/** The receiver of the election's results. */
export interface Elector {
  /** This tab leads. */
  leads(): void;
  /** Another tab leads, from now on. */
  follows(term: string): void;
  /** This tab leads no longer. */
  steppedDown(): void;
  /** A message about something else than the election. */
  hears(message: Message): void;
}

/** The interval at which a visible tab checks that the leader still runs, in milliseconds. */
const PING_MS = 5_000;

/** This tab's participation, from `join` to `leave`. */
export class Election {
  /** The id of this tab. It holds the lock of this name as long as it lives. */
  readonly id = crypto.randomUUID();
  readonly #host: TabHost;
  readonly #name: string;
  readonly #elector: Elector;
  readonly #exit = new AbortController();
  #channel: BroadcastChannel | undefined;
  /** The current term, of this tab or of another one: its beginning, and a name. The latest one counts. */
  #term: string | undefined;
  #isLeading = false;
  /** Releases the lock while this tab leads. */
  #release: () => void = () => undefined;
  /** Aborts the request for the lock. */
  #waiting = new AbortController();
  #steals = false;
  /** True when the leader has not answered the last question yet. */
  #isQuestioned = false;

  constructor(host: TabHost, name: string, elector: Elector) {
    this.#host = host;
    this.#name = name;
    this.#elector = elector;
  }

  get isLeading(): boolean {
    return this.#isLeading;
  }

  /** The term of the leader, if known. */
  get term(): string | undefined {
    return this.#term;
  }

  /** Participates until `leave`. */
  async join(): Promise<void> {
    const { signal } = this.#exit;
    if (!(await this.#markAlive())) {
      // A document that may have no locks, such as a sandboxed frame: it reads for itself.
      this.#lead();
      return;
    }
    if (isAborted(signal)) {
      return;
    }
    const channel = this.#host.openChannel(this.#name);
    this.#channel = channel;
    channel.onmessage = ({ data }: MessageEvent<Message>) => this.#hear(data);
    const looking = setInterval(() => this.look(), PING_MS);
    signal.addEventListener('abort', () => {
      clearInterval(looking);
      channel.close();
    });
    this.tell({ type: 'hello' });
    while (!signal.aborted) {
      await this.#compete(signal);
    }
  }

  leave(): void {
    this.#exit.abort();
    this.#waiting.abort();
    this.#stepDown();
  }

  tell(message: Message): void {
    if (!this.#exit.signal.aborted) {
      this.#channel?.postMessage(message);
    }
  }

  /** Calls a function when another tab has ended. */
  whenEnded(id: string, signal: AbortSignal, ended: () => void): void {
    this.#host.locks.request(`${this.#name} ${id}`, { signal }, ended).catch(() => undefined);
  }

  /** Checks the leader: if it does not answer a visible tab, it is frozen, or hangs, and loses the lock. */
  look(): void {
    const isVisible = this.#host.page?.document.visibilityState !== 'hidden';
    if (this.#isLeading || !isVisible) {
      this.#isQuestioned = false;
    } else if (this.#isQuestioned) {
      this.#isQuestioned = false;
      this.#steals = true;
      this.#waiting.abort();
    } else {
      this.#isQuestioned = true;
      this.tell({ type: 'hello' });
    }
  }

  /** Holds the lock that marks this tab as alive. Returns true if there are locks. */
  async #markAlive(): Promise<boolean> {
    return await new Promise((resolve) => {
      const hold = async (): Promise<void> => {
        resolve(true);
        await aborted(this.#exit.signal);
      };
      this.#host.locks.request(`${this.#name} ${this.id}`, hold).catch(() => resolve(false));
    });
  }

  /** Waits for the lock, or takes it over, and leads while holding it. */
  async #compete(exit: AbortSignal): Promise<void> {
    const waiting = new AbortController();
    this.#waiting = waiting;
    const options = this.#steals ? { steal: true } : { signal: waiting.signal };
    this.#steals = false;
    const hold = async (): Promise<void> => {
      if (!exit.aborted) {
        await new Promise<void>((resolve) => {
          this.#release = resolve;
          this.#lead();
        });
      }
    };
    // It rejects when the lock is taken over, or the request is aborted.
    await this.#host.locks.request(this.#name, options, hold).catch(() => undefined);
    if (this.#isLeading) {
      this.#stepDown();
      this.tell({ type: 'hello' });
    }
  }

  #lead(): void {
    this.#isLeading = true;
    this.#term = `${Date.now()} ${crypto.randomUUID()}`;
    this.tell({ type: 'leads', term: this.#term });
    this.#elector.leads();
  }

  #stepDown(): void {
    this.#release();
    if (this.#isLeading) {
      this.#isLeading = false;
      this.#term = undefined;
      this.#elector.steppedDown();
    }
  }

  #hear(message: Message): void {
    if (message.type === 'hello') {
      if (this.#isLeading && this.#term !== undefined) {
        this.tell({ type: 'leads', term: this.#term });
      }
    } else if (message.type === 'leads') {
      this.#hearLeader(message.term);
    } else {
      this.#elector.hears(message);
    }
  }

  #hearLeader(term: string): void {
    if (term === this.#term) {
      this.#isQuestioned = false;
    } else if (this.#term === undefined || beginOf(term) > beginOf(this.#term)) {
      this.#isQuestioned = false;
      // Its lock was taken over while it hung.
      this.#stepDown();
      this.#term = term;
      this.#elector.follows(term);
    }
  }
}

/** Reads the flag again, which TypeScript assumes to be unchanged. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

/** The time when a term began. */
const beginOf = (term: string): number => Number(term.split(' ')[0]);

/** Resolves when a signal is aborted. */
async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
  }
}
