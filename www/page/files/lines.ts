// Converts the text of a file, in any of the accepted formats, to lines for `openLines`.

import { eventFrom, isEvent, isMembers, isPartial, isSession, sessionFrom, type Members, type Names } from './adk.js';
import { ACCEPTED, describeJson, describeText } from './file-format.js';

/** Thrown for a file of an unknown format, with a description of it and of the accepted ones. */
export class UnknownForm extends Error {
  constructor(looksLike: string) {
    super(`it looks like ${looksLike}. ${ACCEPTED}`);
  }
}

/** Lines for `openLines`, with their places in the file. */
export class FileLines {
  /** By line, from 0: its place in the file. */
  readonly places: string[] = [];
  readonly #names: Names;
  #sessions = 0;
  #events = 0;
  #time = 0;

  /** `name` is the file's, for sessions that have no name of their own. */
  constructor(name: string) {
    const bare = name.replace(/\.[^.]*$/u, '') || 'file';
    this.#names = { appName: 'file', userId: 'user', sessionId: bare };
  }

  /** Reads a text that comes in pieces, cut anywhere. Throws {@link UnknownForm}. */
  async *from(pieces: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
    let text = '';
    let form: 'unknown' | 'lines' | 'document' = 'unknown';
    let number = 0;
    // A document is read as a whole: its pieces are joined once.
    const document: string[] = [];
    for await (const piece of pieces) {
      if (form === 'document') {
        document.push(piece);
        continue;
      }
      text += piece;
      if (form === 'unknown') {
        text = text.replace(/^\uFEFF/u, '').trimStart();
        form = formOf(text, piece.includes('\n') && text.includes('\n'));
      }
      if (form === 'document') {
        document.push(text);
      } else if (form === 'lines') {
        const lines = text.split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) {
          number += 1;
          yield* this.#line(line, number);
        }
      }
    }
    if (form === 'lines') {
      yield* this.#line(text, number + 1);
    } else {
      yield* this.#document(form === 'document' ? document.join('') : text);
    }
  }

  *#line(line: string, number: number): Generator<string> {
    const place = `line ${number}`;
    const value = isKindLine(line) ? undefined : parsed(line);
    if (isSession(value)) {
      yield this.#write(place, this.#session(value));
    } else if (isEvent(value)) {
      if (!isPartial(value)) {
        yield* this.#event(value, place);
      }
    } else if (isMembers(value) && value['kind'] === undefined) {
      throw new UnknownForm(`JSON lines whose line ${number} is ${describeJson(value)}`);
    } else {
      this.places.push(place);
      yield `${line}\n`;
    }
  }

  /** A whole text as one JSON value. */
  *#document(text: string): Generator<string> {
    const value = parsed(text);
    if (value === undefined) {
      throw new UnknownForm(describeText(text) + whyNot(text));
    }
    const sessions = sessionsIn(value);
    if (sessions !== undefined) {
      for (const [place, session] of sessions.entries()) {
        yield this.#write(sessions.length === 1 ? '' : `session ${place + 1}`, this.#session(session));
      }
    } else if (Array.isArray(value) && value.length > 0 && value.every(isEvent)) {
      yield this.#write('', this.#session({ events: value }));
    } else if (isMembers(value) && typeof value['kind'] === 'string') {
      this.places.push('');
      yield `${JSON.stringify(value)}\n`;
    } else {
      throw new UnknownForm(describeJson(value));
    }
  }

  #session(session: Members): Members {
    const { sessionId } = this.#names;
    this.#sessions += 1;
    const id = this.#sessions === 1 ? sessionId : `${sessionId}-${this.#sessions}`;
    return sessionFrom(session, { ...this.#names, sessionId: id });
  }

  /** An event on a line of its own; those before any session get one. */
  *#event(given: Members, place: string): Generator<string> {
    const event = eventFrom(given, this.#events, this.#time);
    this.#time = event['timestamp'] as number;
    if (this.#events === 0 && this.#sessions === 0) {
      const { appName, userId, sessionId: id } = this.#names;
      this.#sessions += 1;
      yield this.#write(place, { kind: 'session', appName, userId, id, timestamp: this.#time, state: {} });
    }
    this.#events += 1;
    yield this.#write(place, { kind: 'event', event });
  }

  #write(place: string, line: Members): string {
    this.places.push(place);
    return `${JSON.stringify(line)}\n`;
  }
}

/**
 * The format of a text, as far as its beginning shows: lines of JSON, or one JSON value over several lines. `hasEnd`
 * is true when its first line is complete.
 */
function formOf(text: string, hasEnd: boolean): 'unknown' | 'lines' | 'document' {
  if (isKindLine(text)) {
    return 'lines';
  }
  if (text !== '' && !text.startsWith('{')) {
    return 'document';
  }
  return !hasEnd ? 'unknown' : isMembers(parsed(text.slice(0, text.indexOf('\n')))) ? 'lines' : 'document';
}

/** True for a line of `exportLines`, broken or not, by its beginning. */
function isKindLine(line: string): boolean {
  return /^\s*\{\s*"kind"\s*:/u.test(line);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** The reason why a text that begins as JSON is none. */
function whyNot(text: string): string {
  try {
    JSON.parse(text);
    return '';
  } catch (error) {
    return /^\s*[{[]/u.test(text) && error instanceof Error ? ` (${error.message})` : '';
  }
}

/** The sessions of a document: one, a list of them, or an answer of a service with such a list. */
function sessionsIn(value: unknown): readonly Members[] | undefined {
  if (isSession(value)) {
    return [value];
  }
  const list = isMembers(value) ? value['sessions'] : value;
  return Array.isArray(list) && list.length > 0 && list.every(isSession) ? list : undefined;
}
