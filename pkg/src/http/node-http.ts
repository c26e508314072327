// The members of Node's HTTP requests and responses that are used. Nothing is imported from Node.

/** The members of `http.IncomingMessage` that are used. */
export interface NodeRequest {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Names and values alternate. */
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly socket?: object | null;
  readonly readableEnded?: boolean;
  on(event: string, listener: (...args: never[]) => void): unknown;
  pause(): unknown;
  resume(): unknown;
}

/** The members of `http.ServerResponse` that are used. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly writableFinished?: boolean;
  appendHeader?(name: string, value: string): unknown;
  setHeader(name: string, value: string | readonly string[]): unknown;
  flushHeaders?(): void;
  write(piece: Uint8Array): boolean;
  end(text?: string): unknown;
  destroy(error?: Error): unknown;
  on(event: string, listener: (...args: never[]) => void): unknown;
  once(event: string, listener: (...args: never[]) => void): unknown;
  removeListener(event: string, listener: (...args: never[]) => void): unknown;
}

/** The client at the other end of a response. */
export class NodeClient {
  #hasGone = false;
  #aborter: AbortController | undefined;
  readonly #listeners: (() => void)[] = [];

  constructor(response: NodeResponse) {
    response.once('close', () => {
      if (response.writableFinished !== true) {
        this.#hasGone = true;
        this.#aborter?.abort();
        this.#listeners.forEach((listener) => listener());
      }
    });
  }

  /** True when it has disconnected before it was answered. */
  get hasGone(): boolean {
    return this.#hasGone;
  }

  /** Aborted when it disconnects before it is answered. Made at its first use: few requests need it. */
  get signal(): AbortSignal {
    this.#aborter ??= new AbortController();
    if (this.#hasGone) {
      this.#aborter.abort();
    }
    return this.#aborter.signal;
  }

  /** Calls a function when it disconnects before it is answered. */
  whenGone(listener: () => void): void {
    if (this.#hasGone) {
      listener();
    } else {
      this.#listeners.push(listener);
    }
  }
}
