// From JSON lines to a service.

import { StatepadError } from '../model/errors.js';
import { SessionService, type SessionServiceOptions } from '../service/session-service.js';
import { checkServiceOptions } from '../service/options.js';
import { Problems } from './problems.js';
import { readLines, type Contents, type FileSession } from './read.js';
import { replay } from './replay.js';
import type { Input } from './lines.js';
import type { SessionKey } from '../model/types.js';

/** Sessions that were read from JSON lines. */
export interface OpenedLines {
  /** A service of their own. */
  readonly service: SessionService;
  /** The sessions, in the order of the lines. */
  readonly sessions: readonly SessionKey[];
  /** The number of events in all of them. */
  readonly events: number;
}

/**
 * Reads JSON lines into a service of its own: in memory, or with the given options, over a store. The lines are those
 * of `exportLines`, or sessions as ADK gives them as JSON, one a line. `input` is a text, an iterable of pieces of
 * text that are cut anywhere (a stream of a browser or of Node, decoded), or of lines, as `exportLines` yields them.
 * Times and ids are kept.
 *
 * All lines are read and checked before anything is written. Over a store they are written one by one: after a
 * failure it has the lines that were written by then, and the service is closed.
 *
 * Throws `INVALID_ARGUMENT` for broken lines, which names the first one and has all of them, 100 at most, as
 * `problems`; and for an input without a session. Throws `SESSION_EXISTS` when the store has one of the sessions
 * already, and the errors of the service.
 *
 * @example
 * const { service, sessions } = await openLines(file.stream().pipeThrough(new TextDecoderStream()));
 */
export async function openLines(
  input: string | Iterable<string> | AsyncIterable<string>,
  options: SessionServiceOptions = {},
): Promise<OpenedLines> {
  checkServiceOptions(options);
  const service = new SessionService(options);
  const isStored = options.store !== undefined || options.persist !== undefined;

  // Refusals by a service show in memory, before a store has any of it.
  const contents = await check(input, isStored ? new SessionService({ now: options.now }) : service);
  if (isStored) {
    await store(contents, service);
  }
  const sessions = contents.sessions.map(({ key }) => Object.freeze(key));
  const events = contents.sessions.reduce((sum, session) => sum + countEvents(session), 0);
  return Object.freeze({ service, sessions: Object.freeze(sessions), events });
}

async function check(input: Input, service: SessionService): Promise<Contents> {
  const problems = new Problems();
  const contents = await readLines(input, problems);
  await replay(contents, service, async (line, task, place) => await problems.watch(line, task, place));
  problems.throwIfAny(contents.sessions.length === 0);
  return contents;
}

async function store(contents: Contents, service: SessionService): Promise<void> {
  try {
    for (const { key } of contents.sessions) {
      if ((await service.getSession({ ...key, config: { numRecentEvents: 0 } })) !== undefined) {
        const { sessionId: id } = key;
        throw new StatepadError('SESSION_EXISTS', `session "${id}" already exists`, { id });
      }
    }
    await replay(contents, service, async (_, task) => await task());
  } catch (error) {
    // The caller does not get this service: close it, or its store would stay open.
    await service.close().catch(() => undefined);
    throw error;
  }
}

/** Counts events with equal ids once. */
function countEvents({ events }: FileSession): number {
  return new Set(events.map(({ event }) => event.id)).size;
}
