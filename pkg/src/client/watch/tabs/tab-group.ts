// Tabs that share one connection: the leader reads for all of them.

import { defined } from '../../../model/defined.js';
import { Election, type Elector, type TabHost } from './election.js';
import { readWhole, writeWhole, type WatchRequest, type Failure, type Message } from './messages.js';
import { Relays } from './relays.js';
import { TabWatch } from './tab-watch.js';
import { lazyIterator } from '../../../async/lazy-iterator.js';
import type { SessionKey } from '../../../model/types.js';
import type { SessionSource, WholeSessionChange, WholeWatchOptions } from '../../../model/watch.js';

/** The time that a tab waits before it asks a leader again that could not reach the server, in milliseconds. */
const PAUSE_MS = 1_000;

/** This tab in the group of its name. It participates while it has watches. */
export class TabGroup implements Elector {
  readonly #name: Promise<string>;
  readonly #host: TabHost;
  readonly #watches = new Set<TabWatch>();
  #election: Election | undefined;
  /** Removes the listeners from the page. */
  #listening: AbortController | undefined;
  #isFrozen = false;
  /** The reads of this tab while it leads, for itself and for the other tabs. */
  readonly #relays: Relays;
  readonly #tabs = new Map<string, Set<string>>();
  #leading = new AbortController();

  constructor(source: SessionSource, name: Promise<string>, host: TabHost) {
    this.#relays = new Relays(source, () => this.#leaveIfIdle());
    this.#name = name;
    this.#host = host;
  }

  /** Watches a session, through this tab or another one. */
  watch(key: SessionKey, options: WholeWatchOptions): AsyncIterableIterator<WholeSessionChange, undefined> {
    return lazyIterator(async () => {
      const { signal } = options;
      signal?.throwIfAborted();
      const watch = new TabWatch(key, options);
      const end = (error?: unknown): void => {
        signal?.removeEventListener('abort', abort);
        watch.end(defined({ error }));
        this.#remove(watch);
      };
      const abort = (): void => end(signal?.reason);
      signal?.addEventListener('abort', abort);
      this.#add(watch);
      const next = async (): Promise<IteratorResult<WholeSessionChange, undefined>> => {
        try {
          const result = await watch.next();
          if (result.done === true) {
            end();
          }
          return result;
        } catch (error) {
          end();
          throw error;
        }
      };
      return { next, end };
    });
  }

  #add(watch: TabWatch): void {
    this.#watches.add(watch);
    this.#listen();
    if (this.#election === undefined) {
      void this.#join();
    } else {
      this.#ask(watch);
    }
  }

  #remove(watch: TabWatch): void {
    if (this.#watches.delete(watch)) {
      if (watch.name !== undefined) {
        this.#relays.stop(watch.name);
        this.#election?.tell({ type: 'stop', watch: watch.name });
      }
      this.#leaveIfIdle();
    }
  }

  async #join(): Promise<void> {
    if (this.#isFrozen) {
      return;
    }
    const name = await this.#name;
    if (this.#election === undefined && this.#watches.size > 0) {
      this.#election = new Election(this.#host, name, this);
      await this.#election.join();
    }
  }

  #leave(): void {
    const election = this.#election;
    this.#election = undefined;
    election?.leave();
  }

  #leaveIfIdle(): void {
    if (this.#watches.size === 0 && this.#relays.isEmpty) {
      this.#listening?.abort();
      this.#listening = undefined;
      this.#leave();
    }
  }

  /** A frozen tab can neither read nor send: another one has to lead. */
  #listen(): void {
    if (this.#listening === undefined && this.#host.page !== undefined) {
      this.#listening = new AbortController();
      const { signal } = this.#listening;
      const { document, window } = this.#host.page;
      const freeze = (): void => {
        this.#isFrozen = true;
        this.#leave();
      };
      const thaw = (): void => {
        this.#isFrozen = false;
        void this.#join();
      };
      document.addEventListener('freeze', freeze, { signal });
      document.addEventListener('resume', thaw, { signal });
      window.addEventListener('pagehide', freeze, { signal });
      window.addEventListener('pageshow', thaw, { signal });
      document.addEventListener('visibilitychange', () => this.#election?.look(), { signal });
    }
  }

  /** Asks the leader to watch from the place of this tab. */
  #ask(watch: TabWatch): void {
    const election = this.#election;
    if (election?.term === undefined) {
      return;
    }
    watch.name = crypto.randomUUID();
    const { initial, poll } = watch.options;
    const request: WatchRequest = defined({ watch: watch.name, key: watch.key, since: watch.place, initial, poll });
    if (election.isLeading) {
      this.#relays.add(request, {
        change: (change) => watch.push(change),
        end: (failure) => this.#fail(watch, failure),
      });
    } else {
      election.tell({ type: 'watch', term: election.term, from: election.id, ...request });
    }
  }

  #fail(watch: TabWatch, failure: Failure | undefined): void {
    const { name } = watch;
    if (watch.fail(failure)) {
      setTimeout(() => {
        if (this.#watches.has(watch) && watch.name === name) {
          this.#ask(watch);
        }
      }, PAUSE_MS);
    }
  }

  // The election's results

  leads(): void {
    this.#leading = new AbortController();
    this.#watches.forEach((watch) => this.#ask(watch));
  }

  follows(): void {
    this.#watches.forEach((watch) => this.#ask(watch));
  }

  steppedDown(): void {
    this.#leading.abort();
    this.#relays.clear();
    this.#tabs.clear();
  }

  hears(message: Message): void {
    if (message.type === 'watch') {
      if (this.#election?.isLeading === true && this.#election.term === message.term) {
        this.#serve(message.from, message);
      }
    } else if (message.type === 'stop') {
      this.#relays.stop(message.watch);
    } else if (message.type === 'change' || message.type === 'end') {
      const watch = [...this.#watches].find(({ name }) => name === message.watch);
      if (watch !== undefined && message.type === 'change') {
        watch.push(readWhole(message.text));
      } else if (watch !== undefined && message.type === 'end') {
        this.#fail(watch, message.error);
      }
    }
  }

  // The leader's work

  /** Watches for another tab, until that ends the watch or its life. */
  #serve(from: string, request: WatchRequest): void {
    const { watch } = request;
    let ofTab = this.#tabs.get(from);
    if (ofTab === undefined) {
      ofTab = new Set();
      this.#tabs.set(from, ofTab);
      this.#election?.whenEnded(from, this.#leading.signal, () => {
        this.#tabs.get(from)?.forEach((name) => this.#relays.stop(name));
        this.#tabs.delete(from);
      });
    }
    ofTab.add(watch);
    this.#relays.add(request, {
      change: (change) => this.#election?.tell({ type: 'change', watch, text: writeWhole(change) }),
      end: (error) => this.#election?.tell({ type: 'end', watch, ...defined({ error }) }),
    });
  }
}
