// A text stream: written as fast as it is read, and kept open by heartbeats.

import { keepRunning } from '../async/keep-running.js';

/** The heartbeat and the end of a stream. */
export interface TextStreamOptions {
  /** The text that is written after so many milliseconds of silence. */
  readonly heartbeat: { readonly text: string; readonly every: number };
  /** The time when it ends, in milliseconds since the epoch; `undefined`: never by itself. */
  readonly ends?: number | undefined;
  /** Aborted when the reader disconnects. */
  readonly signal?: AbortSignal | undefined;
  /** True when its heartbeats do not keep the process running. */
  readonly background?: boolean | undefined;
}

/** The size of the buffer ahead of the reader, in bytes. */
const AHEAD = 16_384;
/** The longest that a timer can wait, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A body that is written piece by piece. */
export class TextStream {
  /** For a `Response`. */
  readonly body: ReadableStream<Uint8Array>;
  readonly #encoder = new TextEncoder();
  readonly #ended = new AbortController();
  readonly #every: number;
  readonly #heartbeat: string;
  readonly #background: boolean;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Writers that wait for room. */
  #waiting: (() => void)[] = [];
  #beat: ReturnType<typeof setTimeout> | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;

  constructor({ heartbeat, ends, signal, background = false }: TextStreamOptions) {
    this.#background = background;
    this.#every = heartbeat.every;
    this.#heartbeat = heartbeat.text;
    const source: UnderlyingDefaultSource<Uint8Array> = {
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#wake(),
      cancel: () => this.#stop(),
    };
    this.body = new ReadableStream(source, new ByteLengthQueuingStrategy({ highWaterMark: AHEAD }));
    const close = (): void => this.close();
    if (signal?.aborted) {
      close();
    } else {
      signal?.addEventListener('abort', close, { once: true });
      this.ended.addEventListener('abort', () => signal?.removeEventListener('abort', close), { once: true });
      this.#endAt(ends);
      this.#beatLater();
    }
  }

  /** Aborted when it has ended: later writes reach nobody. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Resolves when there is room to write, or it has ended. */
  async room(): Promise<void> {
    while (!this.ended.aborted && (this.#controller?.desiredSize ?? 0) <= 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Writes a text, even if there is no room. */
  write(text: string): void {
    if (!this.ended.aborted && text !== '') {
      this.#controller?.enqueue(this.#encoder.encode(text));
      this.#beatLater();
    }
  }

  /** Ends it after the buffered text. */
  close(): void {
    if (!this.ended.aborted) {
      this.#stop();
      this.#controller?.close();
    }
  }

  #stop(): void {
    clearTimeout(this.#beat);
    clearTimeout(this.#end);
    this.#ended.abort();
    this.#wake();
  }

  #wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    waiting.forEach((resolve) => resolve());
  }

  #beatLater(): void {
    clearTimeout(this.#beat);
    this.#beat = setTimeout(() => {
      // A reader that leaves data unread needs no heartbeat.
      if ((this.#controller?.desiredSize ?? 0) > 0) {
        this.write(this.#heartbeat);
      } else {
        this.#beatLater();
      }
    }, this.#every);
    keepRunning(this.#beat, !this.#background);
  }

  #endAt(time: number | undefined): void {
    if (time !== undefined) {
      const delay = time - Date.now();
      this.#end = setTimeout(
        () => (delay > MAX_TIMER_MS ? this.#endAt(time) : this.close()),
        Math.max(0, Math.min(MAX_TIMER_MS, delay)),
      );
    }
  }
}
