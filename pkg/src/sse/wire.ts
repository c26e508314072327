// Changes as server-sent events: how they are written, and how a stream of them is read.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

import { DELETED, isDeleted } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { deepFreeze, put } from '../model/json.js';
import type { WatchedChange } from '../model/watch.js';

/** A place among the changes: what `Last-Event-ID` says. */
export interface Place {
  /** The revision of a session, or the position of the values of a user or an app. */
  readonly at: number;
  /** The id of the event at this revision: another one there means that the store has gone back, or a new session. */
  readonly eventId?: string | undefined;
}

/** The text of a place: a number, and for an event its id behind a colon. */
export function placeText({ at, eventId }: Place): string {
  return eventId === undefined ? String(at) : `${at}:${encodeURIComponent(eventId)}`;
}

/** The place that a text names. Throws `INVALID_ARGUMENT`. */
export function parsePlace(text: string): Place {
  const [, digits = '', id] = /^(\d{1,16})(?::(.+))?$/.exec(text) ?? [];
  const at = Number(digits);
  try {
    if (digits !== '' && Number.isSafeInteger(at)) {
      return { at, eventId: id === undefined ? undefined : decodeURIComponent(id) };
    }
  } catch {
    // An escape that is none.
  }
  throw new StatepadError('INVALID_ARGUMENT', `the Last-Event-ID ${JSON.stringify(text)} is none of this handler's`, {
    path: 'Last-Event-ID',
  });
}

/** The place behind a change; `undefined` behind the last one. */
export function placeOf(change: WatchedChange): Place | undefined {
  switch (change.type) {
    case 'event':
      return { at: change.revision, eventId: change.event.id };
    case 'values':
      return { at: change.position };
    case 'reload':
      return { at: 'revision' in change ? change.revision : change.position };
    case 'deleted':
      return undefined;
  }
}

/** A change as one server-sent event. Its name is the change's type, its data the rest as JSON. */
export function writeChange(change: WatchedChange): string {
  const { type, ...rest } = change;
  const place = placeOf(change);
  const id = place === undefined ? '' : `id: ${placeText(place)}\n`;
  return `event: ${type}\n${id}data: ${JSON.stringify('delta' in rest ? withDeletions(rest) : rest)}\n\n`;
}

/** An id without data: the reader goes on from there, and is told nothing. */
export function writePlace(place: Place): string {
  return `id: ${placeText(place)}\n\n`;
}

/** What keeps a connection open that has nothing to say. */
export const HEARTBEAT = ': \n\n';

/** JSON has no mark of deletion: the keys stand in a list. */
function withDeletions(change: { readonly delta: Readonly<Record<string, unknown>> }): object {
  const delta: Record<string, unknown> = {};
  const deleted: string[] = [];
  for (const [key, value] of Object.entries(change.delta)) {
    if (isDeleted(value)) {
      deleted.push(key);
    } else {
      put(delta, key, value);
    }
  }
  return { ...change, delta, ...(deleted.length > 0 && { deleted }) };
}

const TYPES: readonly string[] = ['event', 'values', 'reload', 'deleted'] satisfies WatchedChange['type'][];

/** The change that a server-sent event tells, frozen; `undefined` for one of another name. Throws `SyntaxError`. */
export function readChange({ name, data }: Message): WatchedChange | undefined {
  if (!TYPES.includes(name)) {
    return undefined;
  }
  const { deleted = [], ...rest } = JSON.parse(data) as { delta?: Record<string, unknown>; deleted?: string[] };
  if (rest.delta !== undefined) {
    deleted.forEach((key) => put(rest.delta as Record<string, unknown>, key, DELETED));
  }
  return deepFreeze({ type: name, ...rest }) as WatchedChange;
}

/** One server-sent event. */
export interface Message {
  /** The value of the field `event`, or `message`. */
  readonly name: string;
  readonly data: string;
}

/** What a reader of a stream is told. */
export interface Listener {
  /** An event with data. */
  message(message: Message): void;
  /** The place from which to go on. Told before the event that it came with. */
  place(id: string): void;
  /** How long to wait before connecting again, in milliseconds. */
  retry(pause: number): void;
}

/** Takes a stream of server-sent events apart, as it comes in pieces. */
export class MessageReader {
  readonly #listener: Listener;
  readonly #decoder = new TextDecoder();
  /** The line that has not ended yet. */
  #line = '';
  /** The last piece ended with a carriage return: a newline that follows belongs to it. */
  #hasReturned = false;
  #name = '';
  #id: string | undefined;
  #data: string[] = [];

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  /** Reads the next piece. */
  push(piece: Uint8Array): void {
    let text = this.#decoder.decode(piece, { stream: true });
    if (text === '') {
      return;
    }
    if (this.#hasReturned && text.startsWith('\n')) {
      text = text.slice(1);
    }
    this.#hasReturned = text === '' ? false : text.endsWith('\r');
    const lines = text.split(/\r\n|\n|\r/);
    const last = lines.pop() ?? '';
    for (const line of lines) {
      this.#end(this.#line + line);
      this.#line = '';
    }
    this.#line += last;
  }

  #end(line: string): void {
    if (line === '') {
      this.#dispatch();
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'event') {
      this.#name = value;
    } else if (field === 'data') {
      this.#data.push(value);
    } else if (field === 'id' && !value.includes('\0')) {
      this.#id = value;
    } else if (field === 'retry' && /^\d+$/.test(value)) {
      this.#listener.retry(Number(value));
    }
  }

  /** The id of an event counts when the whole event is there: half of one is told again. */
  #dispatch(): void {
    const { name, data } = { name: this.#name || 'message', data: this.#data };
    const id = this.#id;
    [this.#name, this.#data, this.#id] = ['', [], undefined];
    if (id !== undefined) {
      this.#listener.place(id);
    }
    if (data.length > 0) {
      this.#listener.message({ name, data: data.join('\n') });
    }
  }
}
