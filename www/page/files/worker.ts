// Reads a file in a worker, and holds its sessions there: the page stays responsive, however large they are.

import {
  isStatepadError,
  type ListSessionsResponse,
  type Session,
  type SessionKey,
  type SessionService,
} from 'statepad';
import { exportLines, openLines } from 'statepad/jsonl';
import { reasonOf } from '../reason.js';
import { describeBytes, magicFormat, ACCEPTED } from './file-format.js';
import { FileLines } from './lines.js';
import type { Asked, Call, Calls, Message, PlainMethod, Progress, Request } from './protocol.js';

/** The number of bytes between reports of progress. */
const TOLD = 1 << 19;

let service: SessionService | undefined;
/** The handles of the sessions, which no longer change. */
const handles = new Map<string, Session>();

self.addEventListener('message', ({ data }: MessageEvent<Request>) => {
  if ('open' in data) {
    void open(data.open);
  } else {
    void answer(data);
  }
});

function tell(message: Message): void {
  self.postMessage(message);
}

async function open(file: File): Promise<void> {
  const lines = new FileLines(file.name);
  try {
    const magic = magicFormat(new Uint8Array(await file.slice(0, 16).arrayBuffer()));
    if (magic !== undefined) {
      throw new Error(`it looks like ${magic}. ${ACCEPTED}`);
    }
    const opened = await openLines(lines.from(textOf(file)));
    service = opened.service;
    tell({ opened: { sessions: opened.sessions, events: opened.events } });
  } catch (error) {
    tell({ refused: await refusal(file, error, lines.places) });
  }
}

async function refusal(
  file: File,
  error: unknown,
  places: readonly string[],
): Promise<Extract<Message, { refused: unknown }>['refused']> {
  if (error instanceof NotText) {
    const kind = describeBytes(new Uint8Array(await file.slice(0, 16).arrayBuffer()));
    return { message: `it looks like ${kind}. ${ACCEPTED}`, problems: [] };
  }
  const problems = isStatepadError(error) ? (error.problems ?? []) : [];
  return {
    message: problems.length > 0 ? '' : reasonOf(error),
    problems: problems.map(({ line, reason }) => ({ place: places[line - 1] ?? '', reason })),
  };
}

/** Thrown for bytes that are not UTF-8. */
class NotText extends Error {}

function decoded(decode: () => string): string {
  try {
    return decode();
  } catch (error) {
    throw new NotText('', { cause: error });
  }
}

/** The text of a file, piece by piece, with reports of progress. */
async function* textOf(file: File): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const progress = (phase: Progress['phase'], done: number): void => {
    tell({ progress: { phase, done, total: file.size } });
  };
  const reader = file.stream().getReader();
  let [done, told] = [0, 0];
  progress('read', 0);
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    yield decoded(() => decoder.decode(next.value, { stream: true }));
    done += next.value.byteLength;
    if (done - told >= TOLD) {
      told = done;
      progress('read', done);
    }
  }
  yield decoded(() => decoder.decode());
  progress('build', done);
}

async function answer(asked: Asked): Promise<void> {
  const { id } = asked;
  try {
    tell({ id, answer: await answerTo(asked) });
  } catch (error) {
    tell({ id, error: reasonOf(error) });
  }
}

async function answerTo(asked: Asked): Promise<unknown> {
  if ('call' in asked) {
    return await (answers[asked.call] as (given: unknown) => Promise<unknown>)(asked.given);
  }
  const methods = opened() as unknown as Record<PlainMethod, (...args: readonly unknown[]) => Promise<unknown>>;
  const answer = await methods[asked.method](...asked.args);
  // Handles have methods of their own, and no message can carry those.
  return asked.method === 'listSessions' ? plainList(answer as ListSessionsResponse) : answer;
}

function plainList({ sessions, ...rest }: ListSessionsResponse): ListSessionsResponse {
  return { ...rest, sessions: sessions.map((session): Session => ({ ...headOf(session), events: [] })) };
}

function headOf({ appName, userId, id, state, lastUpdateTime, revision }: Session): Omit<Session, 'events'> {
  return { appName, userId, id, state: { ...state }, lastUpdateTime, revision };
}

const answers: { [Name in Call]: (given: Calls[Name]['given']) => Promise<Calls[Name]['answer']> } = {
  async get(key) {
    return headOf(await handleOf(key));
  },
  async events({ key, from, to }) {
    return (await handleOf(key)).events.slice(from, to);
  },
  async lines({ appName }) {
    const lines: string[] = [];
    for await (const line of exportLines(opened(), { appName })) {
      lines.push(`${line}\n`);
    }
    return lines;
  },
};

function opened(): SessionService {
  if (service === undefined) {
    throw new Error('no file is open');
  }
  return service;
}

async function handleOf(key: SessionKey): Promise<Session> {
  const name = JSON.stringify([key.appName, key.userId, key.sessionId]);
  const handle = handles.get(name) ?? (await opened().getSession(key));
  if (handle === undefined) {
    throw new Error(`session "${key.sessionId}" is not in the file`);
  }
  handles.set(name, handle);
  return handle;
}
