// The calls of one client: which session's turn it is, what is under way, and when it is over.

import { viewOf, type RemoteView } from './handle.js';
import { Transport, type ServerAnswer, type ServerCall } from './transport.js';
import { orAborted, type Signal } from '../async/abort.js';
import { Queues } from '../async/queues.js';
import { StatepadError } from '../model/errors.js';
import type { CheckedConnection } from './options.js';
import type { Parameters } from './server.js';
import type { Abortable, SessionKey, SessionName } from '../model/types.js';

/** The key of a named session. */
export function keyOf({ appName, userId, id: sessionId }: SessionName): SessionKey {
  return { appName, userId, sessionId };
}

/** The calls of one client. */
export class Calls {
  readonly #transport: Transport;
  readonly #turns = new Queues();
  /** The writes under way. */
  readonly #writes = new Set<Promise<unknown>>();
  #isClosed = false;

  constructor(options: CheckedConnection) {
    this.#transport = new Transport(options);
  }

  /** The view behind a handle of this client. */
  view(session: unknown): RemoteView | undefined {
    return viewOf(this, session);
  }

  /** Begins a call. Throws the reason of an aborted signal, and `CLOSED` after the end. */
  begin({ signal }: Abortable): void {
    signal?.throwIfAborted();
    if (this.#isClosed) {
      throw new StatepadError('CLOSED', 'the client is closed');
    }
  }

  /** Reads something. Throws as {@link Transport.send}. */
  async read<T>(
    path: string,
    parameters: Parameters | undefined,
    signal: Signal | undefined,
    headers?: ServerCall['headers'],
  ): Promise<ServerAnswer<T>> {
    return await this.#transport.send<T>({ method: 'GET', path, parameters, headers, repeats: 'reading', signal });
  }

  /** Sends a write. Throws as {@link Transport.send}. */
  async write<T>(call: ServerCall): Promise<ServerAnswer<T>> {
    return await this.counted(this.#transport.send<T>(call));
  }

  /** Runs a write of a session after the earlier ones of this client: the order of events is that of their calls. */
  async inTurn<T>(
    { appName, userId, sessionId }: SessionKey,
    signal: Signal | undefined,
    run: () => Promise<T>,
  ): Promise<T> {
    let begin = (): void => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const result = this.counted(
      this.#turns.run(JSON.stringify([appName, userId, sessionId]), async () => {
        signal?.throwIfAborted();
        begin();
        return await run();
      }),
    );
    // A caller that was aborted while it waited does not listen to the result.
    result.catch(() => undefined);
    await Promise.race([orAborted(begun, signal), result]);
    return await result;
  }

  /** Counts a write as under way until it is settled. */
  async counted<T>(write: Promise<T>): Promise<T> {
    this.#writes.add(write);
    try {
      return await write;
    } finally {
      this.#writes.delete(write);
    }
  }

  /** Resolves when all writes under way are answered, or have failed. */
  async flush(): Promise<void> {
    await Promise.allSettled([...this.#writes]);
  }

  /** Refuses later calls. Resolves as {@link flush}. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }
}
