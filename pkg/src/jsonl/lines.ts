// Lines out of pieces of text.

import { StatepadError } from '../model/errors.js';
import { describe, isList, isObject } from '../model/kinds.js';

/** What gives text: all of it, or piece by piece. */
export type Input = string | Iterable<string> | AsyncIterable<string>;

/** As much as is needed of a stream that can be read and not iterated, as Safari's. */
interface Readable {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: string | undefined }>;
    releaseLock(): void;
  };
}

/**
 * The lines of a text, without their ends; a line may end with `\n` or `\r\n`. Pieces may be cut anywhere. A piece
 * that begins an object where another has ended begins a line, too: so lines without ends can be given one by one.
 */
export async function* linesOf(input: Input): AsyncGenerator<string, void, undefined> {
  let line = '';
  let isStart = true;
  let mayBeWhole = false;
  for await (const given of piecesOf(input)) {
    if (typeof given !== 'string') {
      throw new StatepadError('INVALID_ARGUMENT', 'input must give text: decode bytes with a TextDecoderStream', {
        path: 'input',
      });
    }
    const piece = isStart ? given.replace(/^\uFEFF/, '') : given;
    isStart &&= given === '';
    if (mayBeWhole && piece.startsWith('{') && isJson(line)) {
      yield line;
      line = '';
    }
    const [first = '', ...others] = piece.split('\n');
    line += first;
    for (const other of others) {
      yield withoutReturn(line);
      line = other;
    }
    mayBeWhole = piece === '' ? mayBeWhole : piece.endsWith('}');
  }
  yield withoutReturn(line);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The pieces. What callers give need not be what its type says. */
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
  throw new StatepadError(
    'INVALID_ARGUMENT',
    `input must be a text, or give pieces of text, and not be ${describe(input)}`,
    { path: 'input' },
  );
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
