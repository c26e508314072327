// Opening files: a worker reads them and holds their sessions, and the page requests the parts on show.

import type { Event, Session, SessionKey } from 'statepad';
import type { SessionReader } from '../../inspector/model/reader.js';
import type { Call, Calls, Contents, Message, Progress, Refusal, Request } from './protocol.js';
import workerAddress from './worker.js?worker&url';

export type { Progress } from './protocol.js';

/** Sessions from a file, in memory: changes to them do not affect the file. */
export interface OpenedFile extends Contents {
  readonly name: string;
  readonly service: SessionReader;
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
    const service = readerOf(remote, signal, onProgress);
    const lines = async (appName: string): Promise<readonly string[]> => await remote.call('lines', { appName });
    return { name: file.name, ...contents, service, lines, close: () => worker.terminate() };
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
    const id = ++this.#last;
    return await new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (answer: unknown) => void, reject });
      this.#worker.postMessage({ id, call, given });
    });
  }
}

/** The reading side of a service, answered by a worker. Sessions that were read are cached, because none changes. */
function readerOf(remote: Remote, signal: AbortSignal, onProgress: (progress: Progress) => void): SessionReader {
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
  return {
    getSession: async ({ appName, userId, sessionId }) => {
      const key = { appName, userId, sessionId };
      const name = JSON.stringify(key);
      const session = sessions.get(name) ?? read(key);
      sessions.set(name, session);
      return await session;
    },
    listSessions: async ({ appName }) => {
      const heads = await remote.call('list', { appName });
      return { sessions: heads.map((head): Session => ({ ...head, state: {}, events: [] })) };
    },
    stateAt: async (session, revision) => await remote.call('stateAt', { key: keyOf(session), revision }),
    history: async (session, name, options = {}) =>
      await remote.call('history', { key: keyOf(session), name, options }),
  };
}

function keyOf({ appName, userId, id }: Pick<Session, 'appName' | 'userId' | 'id'>): SessionKey {
  return { appName, userId, sessionId: id };
}
