// The content of a file, before it is written to a service.

import { VERSION } from './format.js';
import { linesOf, type Input } from './lines.js';
import { Checked, storedEvent, type Members } from './members.js';
import { checkNumbers, refuse, type Problems } from './problems.js';
import type { StoredEnd } from '../service/log-writer.js';
import type { EventInit, SessionKey } from '../model/types.js';

/** An event of a file. */
export interface FileEvent {
  readonly line: number;
  /** The prefix of messages, where the line has several events. */
  readonly place: string;
  readonly event: EventInit;
}

/** A session of a file. */
export interface FileSession {
  readonly line: number;
  readonly key: SessionKey;
  /** The time when it was created; `undefined` when the file does not say. */
  readonly timestamp: number | undefined;
  /** Its end, if it has one. */
  readonly end?: StoredEnd | undefined;
  /** The values of its creation, under full keys. */
  readonly state: Members;
  readonly events: FileEvent[];
}

/** The values of an app, or of a user in it, under their names. */
export interface FileScope {
  readonly line: number;
  readonly appName: string;
  readonly userId: string | undefined;
  readonly state: Members;
}

/** The content of a file, in its order. */
export interface Contents {
  readonly sessions: readonly FileSession[];
  readonly scopes: readonly FileScope[];
}

/** Reads all lines. `problems` collects the broken ones. */
export async function readLines(input: Input, problems: Problems): Promise<Contents> {
  const reader = new LinesReader();
  let line = 0;
  for await (const { text, fault } of linesOf(input)) {
    line += 1;
    const number = line;
    if (fault !== undefined) {
      await problems.watch(number, () => refuse(fault));
    } else if (text.trim() !== '') {
      await problems.watch(number, () => reader.take(text, number));
    }
    if (reader.isTooNew) {
      break;
    }
  }
  return reader;
}

/** Reads line after line. */
export class LinesReader implements Contents {
  readonly sessions: FileSession[] = [];
  readonly scopes: FileScope[] = [];
  /** True when the other lines cannot be understood. */
  isTooNew = false;
  readonly #earlier = new Map<string, string>();
  /** The kind of the last line, as far as that could be read. */
  kind: unknown;
  /** The session that the next events belong to. */
  #current: FileSession | 'broken' | undefined;

  /** The session that the next events belong to; `undefined` when there is none, or its line is broken. */
  get current(): FileSession | undefined {
    return this.#current === 'broken' ? undefined : this.#current;
  }

  /** Takes the sessions that are complete out of the contents: at the end all of them. */
  takeSessions(isEnd: boolean): readonly FileSession[] {
    const isOpen = !isEnd && this.sessions.length > 0 && this.sessions.at(-1) === this.#current;
    return this.sessions.splice(0, this.sessions.length - Number(isOpen));
  }

  /** Takes the values out of the contents. */
  takeScopes(): readonly FileScope[] {
    return this.scopes.splice(0);
  }

  /** Reads a line. Throws `INVALID_ARGUMENT` for a broken one. */
  take(text: string, line: number): void {
    this.kind = undefined;
    const { members } = new Checked(parse(text), 'a line');
    checkNumbers(text);
    const { kind } = members;
    this.kind = kind;
    if (kind === 'statepad') {
      this.#takeHeader(members);
    } else if (kind === 'event') {
      this.#takeEvent(members, line);
    } else if (kind === 'scope') {
      this.#takeScope(readScope(members, line));
    } else if (kind === 'session' || kind === undefined) {
      this.#begin(line, () => (kind === undefined ? readDump : readSession)(members, line));
    } else {
      refuse(`the kind ${JSON.stringify(kind)} is unknown`);
    }
  }

  #takeHeader({ version }: Members): void {
    if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) {
      refuse('version must be a whole number from 1');
    }
    if (version > VERSION) {
      this.isTooNew = true;
      refuse(`the format has version ${version}, but ${VERSION} is the last supported one`);
    }
    this.#current = undefined;
  }

  #begin(line: number, read: () => FileSession): void {
    this.#current = 'broken';
    const session = read();
    const { appName, userId, sessionId } = session.key;
    if (this.#recordName(['session', appName, userId, sessionId], String(line))) {
      refuse(`the session "${sessionId}" is in the file twice`);
    }
    this.sessions.push(session);
    this.#current = session;
  }

  #takeEvent(members: Members, line: number): void {
    if (this.#current === undefined) {
      refuse('an event before any session');
    }
    const event = storedEvent(members['event'], 'event');
    if (this.#current !== 'broken') {
      this.#current.events.push({ line, place: '', event });
    }
  }

  /** The same values may occur twice, so that files that share an app can be concatenated. */
  #takeScope(scope: FileScope): void {
    const { appName, userId, state } = scope;
    const whose = userId === undefined ? `the app "${appName}"` : `the user "${userId}"`;
    const values = JSON.stringify(state);
    const before = this.#recordName(['scope', appName, userId], values);
    if (before === undefined) {
      this.scopes.push(scope);
    } else if (before !== values) {
      refuse(`the state of ${whose} is in the file twice, with different values`);
    }
  }

  /** The earlier kind of thing under this name, if any. */
  #recordName(name: readonly unknown[], what: string): string | undefined {
    const key = JSON.stringify(name);
    const before = this.#earlier.get(key);
    if (before === undefined) {
      this.#earlier.set(key, what);
    }
    return before;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const { message } = error as Error;
    // Every line is line 1 of its own.
    return refuse(message.charAt(0).toLowerCase() + message.slice(1).replace(/ \(line 1 column \d+\)/, ''));
  }
}

function readSession(members: Members, line: number): FileSession {
  const session = new Checked(members, 'a session');
  return {
    line,
    key: keyOf(session),
    timestamp: session.time('timestamp'),
    end: endOf(session),
    state: session.object('state'),
    events: [],
  };
}

function endOf(session: Checked): StoredEnd | undefined {
  const { expireTime, ttl } = session.members;
  if (expireTime === undefined && ttl === undefined) {
    return undefined;
  }
  return { expireTime: session.time('expireTime'), ...(ttl !== undefined && { ttl: session.time('ttl') }) };
}

function keyOf(session: Checked): SessionKey {
  return { appName: session.text('appName'), userId: session.text('userId'), sessionId: session.text('id', true) };
}

function readScope(members: Members, line: number): FileScope {
  const scope = new Checked(members, 'a scope');
  const userId = members['userId'] === undefined ? undefined : scope.text('userId');
  return { line, appName: scope.text('appName'), userId, state: scope.object('state') };
}

/** A whole session, in the JSON of ADK's services and statepad's handles. */
function readDump(members: Members, line: number): FileSession {
  if (!('events' in members)) {
    refuse('kind is missing');
  }
  const session = new Checked(members, 'a session');
  const key = keyOf(session);
  const state = session.object('state');
  const events = session.list('events').map((value, index): FileEvent => {
    return { line, place: `events[${index}]: `, event: storedEvent(value, `events[${index}]`) };
  });
  const updated = members['lastUpdateTime'] === undefined ? undefined : session.time('lastUpdateTime');
  return { line, key, timestamp: events[0]?.event.timestamp ?? updated, state: unwritten(state, events), events };
}

/** The values that no event wrote. */
function unwritten(state: Members, events: readonly FileEvent[]): Members {
  const written = new Set(events.flatMap(({ event }) => Object.keys(event.actions?.stateDelta ?? {})));
  return Object.fromEntries(Object.entries(state).filter(([key]) => !written.has(key)));
}
