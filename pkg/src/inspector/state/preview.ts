// The beginning of a JSON value as one line, in coloured pieces.

import type { Json } from '../../index.js';

/** The colour of a piece. */
export type Tone = 'text' | 'number' | 'literal' | 'name' | 'quiet';

/** A piece of a line. */
export interface Token {
  readonly text: string;
  readonly tone: Tone;
}

/** The length after which a line is cut, in characters: more than a wide column shows. */
const LIMIT = 160;

/** A value as one line. Values may be long: only the beginning is read. */
export function previewOf(value: Json, limit = LIMIT): Token[] {
  const line = new Line(limit);
  line.add(value);
  return line.tokens;
}

class Line {
  readonly tokens: Token[] = [];
  #left: number;

  constructor(limit: number) {
    this.#left = limit;
  }

  add(value: Json): void {
    if (typeof value === 'string') {
      this.#put(quoted(value, this.#left), 'text');
    } else if (typeof value === 'number') {
      this.#put(String(value), 'number');
    } else if (typeof value !== 'object' || value === null) {
      this.#put(String(value), 'literal');
    } else if (Array.isArray(value)) {
      this.#list(value);
    } else {
      this.#object(value as Readonly<Record<string, Json>>);
    }
  }

  #list(values: readonly Json[]): void {
    this.#put('[', 'quiet');
    values.every((value, index) => {
      this.#put(index === 0 ? '' : ', ', 'quiet');
      return this.#hasRoom(() => this.add(value));
    });
    this.#put(']', 'quiet');
  }

  #object(value: Readonly<Record<string, Json>>): void {
    this.#put('{', 'quiet');
    let isFirst = true;
    for (const name in value) {
      this.#put(isFirst ? '' : ', ', 'quiet');
      isFirst = false;
      const hasRoom = this.#hasRoom(() => {
        this.#put(/^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(name) ? name : quoted(name, this.#left), 'name');
        this.#put(': ', 'quiet');
        this.add(value[name] as Json);
      });
      if (!hasRoom) {
        break;
      }
    }
    this.#put('}', 'quiet');
  }

  #hasRoom(task: () => void): boolean {
    const hasRoom = this.#left > 0;
    if (hasRoom) {
      task();
    } else {
      this.#put('…', 'quiet');
    }
    return hasRoom;
  }

  #put(text: string, tone: Tone): void {
    if (text !== '') {
      this.#left -= text.length;
      const last = this.tokens.at(-1);
      if (last?.tone === tone) {
        this.tokens[this.tokens.length - 1] = { tone, text: last.text + text };
      } else {
        this.tokens.push({ text, tone });
      }
    }
  }
}

function quoted(text: string, limit: number): string {
  const most = Math.max(limit, 8);
  return text.length <= most
    ? JSON.stringify(text)
    : `${JSON.stringify(text.slice(0, most).toWellFormed()).slice(0, -1)}…`;
}
