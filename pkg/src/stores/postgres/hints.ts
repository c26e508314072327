// Hints by LISTEN and NOTIFY. Never within a commit: commits that notify wait for each other.

import { defined } from '../../model/defined.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import { newId } from '../../model/ids.js';
import type { Hint } from '../../store/contract.js';

/** A notification, as a listening client hands it on. */
export interface PostgresNotification {
  readonly channel: string;
  readonly payload?: string | undefined;
}

/**
 * A client that keeps one connection, and reports its messages: a `Client` of `pg` or of Neon's serverless driver.
 */
export interface PostgresListener {
  query(text: string): Promise<unknown>;
  on(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
  removeListener(event: 'notification', listener: (message: PostgresNotification) => void): unknown;
}

/** The time for which hints are gathered, in milliseconds. */
const GATHER_MS = 20;
/** The longest message, in bytes: Postgres takes less than 8,000. */
const MESSAGE_LIMIT = 7_900;

/** Sends hints to all who listen, and passes on what comes from others. */
export class Hints {
  readonly #listener: PostgresListener;
  readonly #channel: string;
  readonly #notify: (messages: string) => Promise<unknown>;
  readonly #watchers = new Set<(hint: Hint) => void>();
  /** Marks the store's own messages, which come back to it. */
  readonly #origin = newId();
  /** By their texts: each is sent once. */
  readonly #gathered = new Map<string, string[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #sent: Promise<unknown> = Promise.resolve();

  /** `notify` sends a JSON list of messages, each one for the channel. `channel` is quoted. */
  constructor(listener: PostgresListener, channel: string, notify: (messages: string) => Promise<unknown>) {
    this.#listener = listener;
    this.#channel = channel;
    this.#notify = notify;
  }

  /** Gathers a hint. */
  add({ appName, userId, sessionId }: Hint): void {
    const parts = [appName, userId, sessionId].filter((part) => part !== undefined).map(toColumn);
    this.#gathered.set(JSON.stringify(parts), parts);
    this.#timer ??= setTimeout(() => this.#send(), GATHER_MS);
  }

  /** See `SessionStore.watch`. */
  watch(onHint: (hint: Hint) => void): () => void {
    // The same function may be passed twice.
    const watcher = (hint: Hint): void => onHint(hint);
    this.#watchers.add(watcher);
    if (this.#watchers.size === 1) {
      this.#listener.on('notification', this.#receive);
      this.#command('listen');
    }
    return () => {
      if (this.#watchers.delete(watcher) && this.#watchers.size === 0) {
        this.#listener.removeListener('notification', this.#receive);
        this.#command('unlisten');
      }
    };
  }

  /** Sends what is gathered, and waits for it. */
  async close(): Promise<void> {
    this.#send();
    await this.#sent;
  }

  #command(command: 'listen' | 'unlisten'): void {
    // A store that gets no hints reads more often.
    this.#listener.query(`${command} ${this.#channel}`).catch(() => undefined);
  }

  #send(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const gathered = [...this.#gathered.values()];
    this.#gathered.clear();
    const messages = messagesOf(this.#origin, gathered);
    if (messages.length > 0) {
      // A lost hint makes others slower, never wrong.
      const sent = this.#notify(JSON.stringify(messages)).catch(() => undefined);
      this.#sent = Promise.all([this.#sent, sent]);
    }
  }

  readonly #receive = ({ channel, payload }: PostgresNotification): void => {
    // Others may use the connection, or the channel, for something else.
    const [origin, ...hints] = channel === unquoted(this.#channel) ? listOf(payload) : [this.#origin];
    if (origin !== this.#origin) {
      hints.filter(isTexts).forEach((texts) => {
        const [appName = '', userId, sessionId] = texts.map(fromColumn);
        const hint: Hint = defined({ appName, userId, sessionId });
        this.#watchers.forEach((watcher) => watcher(hint));
      });
    }
  };
}

/** Texts with the origin and as many hints as fit. A hint that does not fit alone is not sent. */
function messagesOf(origin: string, hints: readonly string[][]): string[] {
  const messages: string[] = [];
  let begun: (string | string[])[] = [origin];
  let size = MESSAGE_LIMIT;
  for (const hint of hints) {
    const more = new TextEncoder().encode(JSON.stringify(hint)).length + 1;
    if (size + more > MESSAGE_LIMIT) {
      if (begun.length > 1) {
        messages.push(JSON.stringify(begun));
      }
      begun = [origin];
      size = origin.length + 4;
    }
    if (size + more <= MESSAGE_LIMIT) {
      begun.push(hint);
      size += more;
    }
  }
  return begun.length > 1 ? [...messages, JSON.stringify(begun)] : messages;
}

function listOf(payload: string | undefined): unknown[] {
  try {
    const list = JSON.parse(payload ?? '') as unknown;
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

function isTexts(texts: unknown): texts is string[] {
  return Array.isArray(texts) && texts.length > 0 && texts.every((text) => typeof text === 'string');
}

function unquoted(identifier: string): string {
  return identifier.slice(1, -1).replaceAll('""', '"');
}
