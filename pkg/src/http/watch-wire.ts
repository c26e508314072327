// Changes as server-sent events: writing them, and reading a stream of them.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

import { DELETED, isDeleted } from '../model/deletion.js';
import { digest } from '../model/digest.js';
import { StatepadError } from '../model/errors.js';
import { deepFreeze, put } from '../model/json.js';
import type { ClientError } from './answers.js';
import type { WatchedChange, WholePlace, WholeSessionChange } from '../model/watch.js';

/** A change of any target. */
export type AnyChange = WatchedChange | WholeSessionChange;

/** A place among the changes of a session, a user or an app: the value of `Last-Event-ID`. */
export interface Place {
  /** The revision of a session, or the position of the values of a user or an app. */
  readonly at: number;
  /**
   * The digest of the id of the event at this revision: another event there means that the store has gone back, or a
   * new session.
   */
  readonly event?: string | undefined;
}

/** The text of a place: a number, and for an event the digest of its id after a colon. */
export function placeText({ at, event }: Place): string {
  return event === undefined ? String(at) : `${at}:${event}`;
}

/** The place of the event with this id. */
export function eventPlace(revision: number, id: string | undefined): Place {
  return { at: revision, event: id === undefined ? undefined : digest(id) };
}

/** The text of a place of a whole session: its three numbers, and its mark after a colon. */
export function wholeText({ revision, user, app, mark }: WholePlace): string {
  const numbers = `${revision},${user},${app}`;
  return mark === undefined ? numbers : `${numbers}:${mark}`;
}

/** The place in a text. Throws `INVALID_ARGUMENT`. */
export function parsePlace(text: string): Place {
  const [, digits = '', event] = /^(\d{1,16})(?::([0-9a-z]{1,11}))?$/.exec(text) ?? [];
  return { at: countOf(digits, text), event };
}

/** The place of a whole session in a text. Throws `INVALID_ARGUMENT`. */
export function parseWholePlace(text: string): WholePlace {
  const match = /^(\d{1,16}),(\d{1,16}),(\d{1,16})(?::([0-9a-z.]{1,60}))?$/.exec(text) ?? [];
  const [, revision = '', user = '', app = '', mark] = match;
  const numbers = { revision: countOf(revision, text), user: countOf(user, text), app: countOf(app, text) };
  return mark === undefined ? numbers : { ...numbers, mark };
}

function countOf(digits: string, text: string): number {
  const count = Number(digits);
  if (digits === '' || !Number.isSafeInteger(count)) {
    const message = `the Last-Event-ID ${JSON.stringify(text.slice(0, 100))} is not from this handler`;
    throw new StatepadError('INVALID_ARGUMENT', message, { path: 'Last-Event-ID' });
  }
  return count;
}

/** The text of the place after a change; empty after the last one. */
export function placeOf(change: AnyChange): string {
  if (change.type === 'deleted') {
    return '';
  }
  if ('place' in change) {
    return wholeText(change.place);
  }
  switch (change.type) {
    case 'event':
      return placeText(eventPlace(change.revision, change.event.id));
    case 'values':
      return placeText({ at: change.position });
    case 'reload':
      return placeText({ at: 'revision' in change ? change.revision : change.position });
  }
}

/** In a stream of several targets each id begins with the number of its target. */
export type Numbered = number | undefined;

/** A change as one server-sent event. Its name is the change's type, its data the rest as JSON. */
export function writeChange(change: AnyChange, target: Numbered): string {
  const { type, ...rest } = change;
  // It is in the id.
  const members = { ...rest, place: undefined };
  const data = JSON.stringify('delta' in members ? withDeletions(members) : members);
  return `event: ${type}\n${idLine(placeOf(change), target)}data: ${data}\n\n`;
}

/** An id without data: the reader resumes from there, and gets no change. */
export function writePlace(place: string, target: Numbered): string {
  const line = idLine(place, target);
  return line === '' ? '' : `${line}\n`;
}

/** The error of one target of several. */
export function writeError(error: ClientError, target: Numbered): string {
  return `event: error\n${idLine('', target)}data: ${JSON.stringify(error)}\n\n`;
}

function idLine(place: string, target: Numbered): string {
  const id = target === undefined ? place : `${target}/${place}`;
  return id === '' ? '' : `id: ${id}\n`;
}

/** A comment that keeps an idle connection open. */
export const HEARTBEAT = ': \n\n';

/** JSON has no mark of deletion: deleted keys are in a list. */
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

const TYPES: readonly string[] = ['event', 'values', 'reload', 'deleted', 'session'] satisfies AnyChange['type'][];

/**
 * The change in a server-sent event, frozen; `undefined` for one of another name. One of a whole session has the
 * place of its id. Throws `SyntaxError`.
 */
export function readChange({ name, data }: Message, wholePlace: string | undefined): AnyChange | undefined {
  if (!TYPES.includes(name)) {
    return undefined;
  }
  const { deleted = [], ...rest } = JSON.parse(data) as { delta?: Record<string, unknown>; deleted?: string[] };
  if (rest.delta !== undefined) {
    deleted.forEach((key) => put(rest.delta as Record<string, unknown>, key, DELETED));
  }
  const place = wholePlace === undefined || wholePlace === '' ? {} : { place: parseWholePlace(wholePlace) };
  return deepFreeze({ type: name, ...rest, ...place }) as AnyChange;
}

/** One server-sent event. */
export interface Message {
  /** The value of the field `event`, or `message`. */
  readonly name: string;
  /** Empty for an id alone. */
  readonly data: string;
  readonly id: string | undefined;
}

/** The receiver of a stream's messages. */
export interface Listener {
  /** An event with data, or with an id. Only complete ones count: a partial one is sent again. */
  message(message: Message): void;
  /** The time to wait before reconnecting, in milliseconds. */
  retry(pause: number): void;
}

/** Parses a stream of server-sent events from its pieces. */
export class MessageReader {
  readonly #listener: Listener;
  readonly #decoder = new TextDecoder();
  /** The current, incomplete line. */
  #line = '';
  /** True when the last piece ended with a carriage return: a newline that follows belongs to it. */
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

  #dispatch(): void {
    const { name, data, id } = { name: this.#name || 'message', data: this.#data, id: this.#id };
    [this.#name, this.#data, this.#id] = ['', [], undefined];
    if (data.length > 0 || id !== undefined) {
      this.#listener.message({ name, data: data.join('\n'), id });
    }
  }
}
