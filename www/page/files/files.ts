// Opening files: a worker reads them and holds their sessions, and the page requests the parts on show.

import type {
  Event,
  GetSessionByName,
  GetSessionRequest,
  Session,
  SessionKey,
  WholeSessionChange,
  WholeSessionKey,
  WholeWatchOptions,
} from 'statepad';
import type { InspectorSource } from 'statepad/inspector';
import { PLAIN, type Call, type Calls, type Contents, type Message, type PlainMethod } from './protocol.js';
import type { Asked, Progress, Refusal, Request } from './protocol.js';
import workerAddress from './worker.js?worker&url';

export type { Progress } from './protocol.js';

/** Sessions from a file, in memory: changes to them do not affect the file. */
export interface OpenedFile extends Contents {
  readonly name: string;
  readonly source: InspectorSource;
  /** All sessions of an app as JSON lines, with their line ends. */
  readonly lines: (appName: string) => Promise<readonly string[]>;
  /** Frees the memory. */
  readonly close: () => void;
}

/** The problems of a file. */
export class BrokenFile extends Error {
  /** A line for each problem, with its place in the file. */
  readonly problems: readonly string[];

  constructor(name: string, { message, problems }: Refusal) {
    super(message === '' ? `${name} cannot be opened` : `${name} cannot be opened: ${message}`);
    this.problems = problems.map(({ place, reason }) => (place === '' ? reason : `${place}: ${reason}`));
  }
}

/** The number of events in one message: they take the page a few ms. */
const EVENTS = 500;

/** Has the browser load the code for files, so that they can be opened offline, too. */
export async function prepareFiles(): Promise<void> {
  await fetch(workerAddress);
}

/**
 * Reads a file. Throws {@link BrokenFile}, without an effect. `onProgress` gets the progress; once `signal` is
 * aborted, it throws the signal's reason.
 */
export async function openFile(
  file: File,
  { signal, onProgress }: { readonly signal: AbortSignal; readonly onProgress: (progress: Progress) => void },
): Promise<OpenedFile> {
  const worker = new Worker(workerAddress, { type: 'module' });
  const remote = new Remote(worker);
  try {
    const contents = await new Promise<Contents>((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      worker.addEventListener('error', ({ message }) =>
        reject(new Error(message || 'the reader could not be loaded')),
      );
      worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
        if ('progress' in data) {
          onProgress(data.progress);
        } else if ('opened' in data) {
          resolve(data.opened);
        } else if ('refused' in data) {
          reject(new BrokenFile(file.name, data.refused));
        }
      });
      worker.postMessage({ open: file } satisfies Request);
    });
    const source = sourceOf(remote, signal, onProgress);
    const lines = async (appName: string): Promise<readonly string[]> => await remote.call('lines', { appName });
    return { name: file.name, ...contents, source, lines, close: () => worker.terminate() };
  } catch (error) {
    worker.terminate();
    throw error;
  }
}

/** Calls a worker. */
class Remote {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: (answer: unknown) => void; reject: (error: Error) => void }>();
  #last = 0;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (!('id' in data)) {
        return;
      }
      const waiting = this.#waiting.get(data.id);
      this.#waiting.delete(data.id);
      if ('error' in data) {
        waiting?.reject(new Error(data.error));
      } else {
        waiting?.resolve(data.answer);
      }
    });
  }

  async call<Name extends Call>(call: Name, given: Calls[Name]['given']): Promise<Calls[Name]['answer']> {
    return (await this.#ask((id) => ({ id, call, given }) as Asked)) as Calls[Name]['answer'];
  }

  /** Calls a method of the source. Signals cannot be sent: the worker answers soon enough. */
  async plain(method: PlainMethod, args: readonly unknown[]): Promise<unknown> {
    return await this.#ask((id) => ({ id, method, args: args.map(sendable) }));
  }

  async #ask(ask: (id: number) => Asked): Promise<unknown> {
    const id = ++this.#last;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage(ask(id));
    });
  }
}

/** An argument as a message can carry it: a session by its name, and options without a signal. */
function sendable(argument: unknown): unknown {
  if (typeof argument !== 'object' || argument === null) {
    return argument;
  }
  const { events, appName, userId, id, ...more } = argument as Partial<Session>;
  const sent = events === undefined ? { ...more, appName, userId, id } : { appName, userId, id };
  return Object.fromEntries(Object.entries(sent).filter(([name, value]) => name !== 'signal' && value !== undefined));
}

/** The sessions of a file, answered by a worker. Those that were read are cached, because none changes. */
function sourceOf(remote: Remote, signal: AbortSignal, onProgress: (progress: Progress) => void): InspectorSource {
  const sessions = new Map<string, Promise<Session | undefined>>();
  const read = async (key: SessionKey): Promise<Session | undefined> => {
    const head = await remote.call('get', key);
    if (head === undefined) {
      return undefined;
    }
    const events: Event[] = [];
    while (events.length < head.revision) {
      signal.throwIfAborted();
      const more = await remote.call('events', { key, from: events.length, to: events.length + EVENTS });
      if (more.length === 0) {
        break;
      }
      events.push(...more);
      onProgress({ phase: 'show', done: events.length, total: head.revision });
    }
    return { ...head, events };
  };
  const getSession = async (request: GetSessionRequest | GetSessionByName): Promise<Session | undefined> => {
    const { appName, userId } = request;
    const key = { appName, userId, sessionId: 'sessionId' in request ? request.sessionId : request.id };
    const name = JSON.stringify(key);
    const session = sessions.get(name) ?? read(key);
    sessions.set(name, session);
    return await session;
  };
  const plain = Object.fromEntries(
    PLAIN.map((method) => [method, async (...args: readonly unknown[]) => await remote.plain(method, args)]),
  );
  return { ...plain, getSession, watch: watchOf(getSession) } as unknown as InspectorSource;
}

/** Watches a file, which never changes: a whole session is told once, and nothing after that. */
function watchOf(getSession: (key: SessionKey) => Promise<Session | undefined>) {
  return async function* watch(
    target: WholeSessionKey | SessionKey,
    { signal, initial = true }: WholeWatchOptions = {},
  ): AsyncGenerator<WholeSessionChange, void, undefined> {
    if (initial && 'whole' in target && 'sessionId' in target) {
      const session = await getSession(target);
      if (session !== undefined) {
        yield { type: 'session', session, place: { revision: session.revision, user: 0, app: 0 } };
      }
    }
    await new Promise((_, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  };
}
