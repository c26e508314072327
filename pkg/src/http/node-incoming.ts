// A request of Node's HTTP servers: what servers of this package read of it, and the `Request` for all others.

import { endOfTurn } from './turn.js';
import type { Incoming, PieceReader } from './incoming.js';
import type { NodeClient, NodeRequest } from './node-http.js';

/** The methods that the Fetch API does not have. */
const FOREIGN_METHODS = ['CONNECT', 'TRACE', 'TRACK'];

/** A request of Node, read on demand. */
export class NodeIncoming implements Incoming {
  readonly method: string;
  readonly parsedUrl: URL;
  readonly headers: Pick<Headers, 'get'>;
  readonly #nodeRequest: NodeRequest;
  readonly #client: NodeClient;
  #body: ReadableStream<Uint8Array> | undefined;

  private constructor(url: URL, nodeRequest: NodeRequest, client: NodeClient) {
    this.method = nodeRequest.method ?? 'GET';
    this.parsedUrl = url;
    this.headers = { get: (name) => headerOf(nodeRequest, name) };
    this.#nodeRequest = nodeRequest;
    this.#client = client;
  }

  /** `undefined` for a request that the Fetch API cannot hold. */
  static of(nodeRequest: NodeRequest, client: NodeClient): NodeIncoming | undefined {
    const isForeign = FOREIGN_METHODS.includes(nodeRequest.method ?? '');
    const url = isForeign ? undefined : urlOf(nodeRequest);
    return url && new NodeIncoming(url, nodeRequest, client);
  }

  get url(): string {
    return this.parsedUrl.href;
  }

  get signal(): AbortSignal {
    return this.#client.signal;
  }

  get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    if (!this.#hasBody) {
      return null;
    }
    this.#body ??= streamOf(this.#nodeRequest, this.#client);
    return this.#body as ReadableStream<Uint8Array<ArrayBuffer>>;
  }

  bodyReader(): PieceReader {
    return new BodyReader(this.#hasBody ? this.#nodeRequest : undefined, this.#client);
  }

  toBodiless(): Request {
    return new Request(this.parsedUrl, { method: this.method, headers: headersOf(this.#nodeRequest) });
  }

  /** The whole `Request`; `undefined` where the Fetch API cannot hold it. */
  toRequest(): Request | undefined {
    const { method, signal, body } = this;
    try {
      const headers = headersOf(this.#nodeRequest);
      const init = { method, headers, signal, ...(body !== null && { body, duplex: 'half' }) };
      return new Request(this.parsedUrl, init);
    } catch {
      return undefined;
    }
  }

  get #hasBody(): boolean {
    return this.method !== 'GET' && this.method !== 'HEAD';
  }
}

/** The values of a header, as `Headers` joins them. */
function headerOf({ rawHeaders }: NodeRequest, name: string): string | null {
  const wanted = name.toLowerCase();
  let found: string | null = null;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const each = rawHeaders[at] as string;
    if (each.length === wanted.length && each.toLowerCase() === wanted) {
      const value = rawHeaders[at + 1] as string;
      found = found === null ? value : `${found}, ${value}`;
    }
  }
  return found;
}

function headersOf({ rawHeaders }: NodeRequest): Headers {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // HTTP/2 has the parts of the request line among the headers.
    if (!name.startsWith(':')) {
      headers.append(name, rawHeaders[at + 1] as string);
    }
  }
  return headers;
}

/** The URL; `undefined` when it is invalid: `*`, `*:99999`, a host with a path in it, a name and a password. */
function urlOf({ url = '', method, headers, socket }: NodeRequest): URL | undefined {
  const isEncrypted = (socket as { readonly encrypted?: boolean } | null | undefined)?.encrypted === true;
  const scheme = isEncrypted ? 'https' : 'http';
  const authority = headers[':authority'] ?? headers.host;
  const host = typeof authority === 'string' && authority !== '' ? authority : 'localhost';
  if (/[\s/\\?#@]/.test(host)) {
    return undefined;
  }
  const isWhole = /^https?:\/\//i.test(url);
  if (!isWhole && !url.startsWith('/') && !(url === '*' && method === 'OPTIONS')) {
    return undefined;
  }
  const parsed = parsedUrl(isWhole ? url : `${scheme}://${host}${url === '*' ? '/' : url}`);
  return parsed?.username === '' && parsed.password === '' ? parsed : undefined;
}

function parsedUrl(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** The body of a request as a stream, read from the connection on demand. */
function streamOf(nodeRequest: NodeRequest, client: NodeClient): ReadableStream<Uint8Array> {
  let isOver = nodeRequest.readableEnded === true;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = (finish: () => void): void => {
        if (!isOver) {
          isOver = true;
          finish();
        }
      };
      if (isOver) {
        controller.close();
        return;
      }
      nodeRequest.on('data', (piece: Uint8Array) => {
        if (!isOver) {
          // A view of its own: Node's are of a pool.
          controller.enqueue(new Uint8Array(piece));
          if ((controller.desiredSize ?? 0) <= 0) {
            nodeRequest.pause();
          }
        }
      });
      nodeRequest.on('end', () => end(() => controller.close()));
      nodeRequest.on('error', (error: Error) => end(() => controller.error(error)));
      client.whenGone(() => end(() => controller.error(client.signal.reason)));
      nodeRequest.pause();
    },
    pull() {
      nodeRequest.resume();
    },
    cancel() {
      // The rest is read and passed over.
      isOver = true;
      nodeRequest.resume();
    },
  });
}

/** Reads the body of a request from the connection. */
class BodyReader implements PieceReader {
  readonly #nodeRequest: NodeRequest | undefined;
  #pieces: Uint8Array[] = [];
  #isOver: boolean;
  #failure: { readonly error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(nodeRequest: NodeRequest | undefined, client: NodeClient) {
    this.#nodeRequest = nodeRequest;
    this.#isOver = nodeRequest === undefined || nodeRequest.readableEnded === true;
    if (!this.#isOver) {
      nodeRequest?.on('data', (piece: Uint8Array) => this.#receive(piece));
      nodeRequest?.on('end', () => this.#end(undefined));
      nodeRequest?.on('error', (error: Error) => this.#end({ error }));
      client.whenGone(() => this.#end({ error: client.signal.reason }));
    }
  }

  async read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }> {
    while (this.#pieces.length === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    const value = this.#pieces.shift();
    if (value !== undefined) {
      return { done: false, value };
    }
    if (this.#failure !== undefined) {
      throw this.#failure.error;
    }
    await endOfTurn();
    return { done: true };
  }

  cancel(): Promise<void> {
    // The rest is read and passed over.
    this.#isOver = true;
    this.#pieces = [];
    this.#nodeRequest?.resume();
    this.#wake?.();
    return Promise.resolve();
  }

  #receive(piece: Uint8Array): void {
    if (!this.#isOver) {
      this.#pieces.push(piece);
      this.#wake?.();
    }
  }

  #end(failure: { readonly error: unknown } | undefined): void {
    if (!this.#isOver) {
      this.#isOver = true;
      this.#failure = failure;
      this.#wake?.();
    }
  }
}
