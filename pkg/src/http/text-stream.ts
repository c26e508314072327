// A text that is sent as it comes about: no faster than it is read, and with something now and then to keep it open.

/** How a stream is kept, and when it ends. */
export interface TextStreamOptions {
  /** What is written when there is nothing else to write, and after how many milliseconds of that. */
  readonly heartbeat: { readonly text: string; readonly every: number };
  /** The time when it ends, in milliseconds since the epoch; `undefined`: not by itself. */
  readonly ends?: number | undefined;
  /** Who reads it has gone when this is aborted. */
  readonly signal?: AbortSignal | undefined;
}

/** How much is written ahead of who reads, in bytes. */
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
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Those who wait for room. */
  #waiting: (() => void)[] = [];
  #beat: ReturnType<typeof setTimeout> | undefined;
  #end: ReturnType<typeof setTimeout> | undefined;

  constructor({ heartbeat, ends, signal }: TextStreamOptions) {
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

  /** Aborted when it has ended: nothing that is written then reaches anybody. */
  get ended(): AbortSignal {
    return this.#ended.signal;
  }

  /** Resolves when there is room to write, or it has ended. */
  async room(): Promise<void> {
    while (!this.ended.aborted && (this.#controller?.desiredSize ?? 0) <= 0) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /** Writes a text, however much room there is. */
  write(text: string): void {
    if (!this.ended.aborted && text !== '') {
      this.#controller?.enqueue(this.#encoder.encode(text));
      this.#beatLater();
    }
  }

  /** Ends it behind what was written. */
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
      // Who does not read what is there needs no more of it.
      if ((this.#controller?.desiredSize ?? 0) > 0) {
        this.write(this.#heartbeat);
      } else {
        this.#beatLater();
      }
    }, this.#every);
  }

  #endAt(time: number | undefined): void {
    if (time !== undefined) {
      const left = time - Date.now();
      this.#end = setTimeout(
        () => (left > MAX_TIMER_MS ? this.#endAt(time) : this.close()),
        Math.max(0, Math.min(MAX_TIMER_MS, left)),
      );
    }
  }
}
