// Tells the other tabs and workers of a page's origin of possible changes.

import type { Hint } from '../../store/contract.js';

/** The part of a `BroadcastChannel` that is used. */
type Channel = Pick<BroadcastChannel, 'onmessage' | 'postMessage' | 'close'>;

/** A class like `BroadcastChannel`. */
export type ChannelClass = new (name: string) => Channel;

/** Hints that are sent and heard under one name. Whatever goes wrong here loses hints, and nothing else. */
export class Hints {
  readonly #name: string;
  readonly #Channel: ChannelClass | undefined;
  readonly #watchers = new Set<(hint: Hint) => void>();
  #channel: Channel | undefined;
  #isClosed = false;

  constructor(name: string, channelClass: ChannelClass | undefined) {
    this.#name = name;
    this.#Channel = channelClass;
  }

  /** Tells the others, in one message and each hint once. */
  send(hints: readonly Hint[]): void {
    const byText = new Map(hints.map((hint) => [JSON.stringify([hint.appName, hint.userId, hint.sessionId]), hint]));
    try {
      if (byText.size > 0) {
        this.#open()?.postMessage([...byText.values()]);
      }
    } catch {
      // They will see it when they read.
    }
  }

  /** Calls `onHint` with the hints that others send, until the function that it returns is called. */
  watch(onHint: (hint: Hint) => void): () => void {
    // The same function may be given twice.
    const watcher = (hint: Hint): void => onHint(hint);
    this.#watchers.add(watcher);
    const channel = this.#open();
    if (channel !== undefined) {
      channel.onmessage = ({ data }: { readonly data: unknown }) => this.#hear(data);
    }
    return () => void this.#watchers.delete(watcher);
  }

  /** Ends all of it. */
  close(): void {
    this.#isClosed = true;
    this.#watchers.clear();
    this.#channel?.close();
    this.#channel = undefined;
  }

  #open(): Channel | undefined {
    if (!this.#isClosed && this.#Channel !== undefined) {
      this.#channel ??= new this.#Channel(this.#name);
    }
    return this.#channel;
  }

  /** Any script of the origin can send under the name. */
  #hear(data: unknown): void {
    const hints = Array.isArray(data) ? data.filter(isHint) : [];
    hints.forEach((hint) => this.#watchers.forEach((onHint) => onHint(hint)));
  }
}

function isHint(data: unknown): data is Hint {
  const { appName, userId, sessionId } = (data ?? {}) as Record<string, unknown>;
  return typeof appName === 'string' && [userId, sessionId].every((id) => id === undefined || typeof id === 'string');
}
