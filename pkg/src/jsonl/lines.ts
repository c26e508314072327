// Splits pieces of text into lines.

import { StatepadError } from '../model/errors.js';
import { describe, isList, isObject } from '../model/value-types.js';
import { MAX_DEPTH } from '../input/admit.js';
import { Nesting } from './nesting.js';

/** A text, or an iterable of its pieces. */
export type Input = string | Iterable<string> | AsyncIterable<string>;

/**
 * The deepest nesting of lists and objects in a line: deeper than any value that a service accepts, with the levels
 * around it in a line.
 */
const MOST_LEVELS = MAX_DEPTH + 10;
/** The longest line, in UTF-16 units: as long as a string can be in every engine. */
const MOST_UNITS = 2 ** 28 - 32;

/** One line. */
export interface Line {
  /** Without its end. */
  readonly text: string;
  /** The reason not to parse it, if there is one: the text is incomplete then. */
  readonly fault?: string;
}

/** The used members of a stream that can be read but not iterated, as Safari's. */
interface Readable {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: string | undefined }>;
    releaseLock(): void;
  };
}

/**
 * The lines of a text; a line may end with `\n` or `\r\n`. Pieces may be cut anywhere. A piece that begins an object
 * where another one has ended begins a line, too, so that lines without ends can be passed one by one. The time is
 * linear in the length of the text, for any content.
 */
export async function* linesOf(input: Input): AsyncGenerator<Line, void, undefined> {
  let line = new Growing();
  let isStart = true;
  let endsObject = false;
  for await (const chunk of piecesOf(input)) {
    if (typeof chunk !== 'string') {
      throw new StatepadError('INVALID_ARGUMENT', 'input must yield text: decode bytes with a TextDecoderStream', {
        path: 'input',
      });
    }
    const piece = isStart ? chunk.replace(/^\uFEFF/, '') : chunk;
    isStart &&= chunk === '';
    if (endsObject && piece.startsWith('{') && line.isWhole) {
      yield line.end();
      line = new Growing();
    }
    const [first = '', ...others] = piece.split('\n');
    line.add(first);
    for (const other of others) {
      yield line.end();
      line = new Growing();
      line.add(other);
    }
    endsObject = piece === '' ? endsObject : piece.endsWith('}');
  }
  yield line.end();
}

/** A line that comes in pieces. */
class Growing {
  readonly #nesting = new Nesting();
  #text = '';
  #fault: string | undefined;

  /** True when it may be a whole object. */
  get isWhole(): boolean {
    return this.#nesting.isClosed;
  }

  /** Adds to the line. A part that will not be parsed is dropped. */
  add(piece: string): void {
    this.#nesting.follow(piece);
    if (this.#nesting.deepest > MOST_LEVELS) {
      this.#fault ??= `the line is nested deeper than ${MOST_LEVELS} levels`;
    } else if (this.#text.length + piece.length > MOST_UNITS) {
      this.#fault ??= `the line is longer than ${MOST_UNITS} characters`;
    }
    if (this.#fault === undefined) {
      this.#text += piece;
    }
  }

  end(): Line {
    const text = this.#text.endsWith('\r') ? this.#text.slice(0, -1) : this.#text;
    return this.#fault === undefined ? { text } : { text, fault: this.#fault };
  }
}

/** The pieces. A caller's value need not have its declared type. */
function piecesOf(input: unknown): Iterable<unknown> | AsyncIterable<unknown> {
  if (typeof input === 'string') {
    return [input];
  }
  if (isObject(input) || isList(input)) {
    const {
      [Symbol.asyncIterator]: later,
      [Symbol.iterator]: now,
      getReader,
    } = input as Partial<Record<string | symbol, unknown>>;
    if (typeof later === 'function' || typeof now === 'function') {
      return input as Iterable<unknown> | AsyncIterable<unknown>;
    }
    if (typeof getReader === 'function') {
      return readAll(input as Readable);
    }
  }
  throw new StatepadError('INVALID_ARGUMENT', `input must be a text or yield text, not ${describe(input)}`, {
    path: 'input',
  });
}

async function* readAll(stream: Readable): AsyncGenerator<unknown, void, undefined> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      yield next.value;
    }
  } finally {
    reader.releaseLock();
  }
}
