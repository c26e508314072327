// The bodies of requests: read within limits.

import { refused } from '../http/answers.js';
import { StatepadError } from '../model/errors.js';
import type { Incoming, PieceReader } from '../http/incoming.js';

/** The limits of a body. */
export interface BodyLimits {
  /** Its largest size, in bytes. */
  readonly body: number;
  /** The longest time that it may take to arrive, in milliseconds. */
  readonly timeout: number;
}

/**
 * Reads a body as bytes; none is empty. Throws `TOO_LARGE`; `INVALID_ARGUMENT` for one that is cut off, with status
 * 408 for one that takes too long, and with 415 for one that is not JSON by its type, which is also what keeps forms
 * of other sites out.
 */
export async function readBody(request: Incoming, limits: BodyLimits): Promise<Uint8Array> {
  const bytes = await readAnyBody(request, limits);
  if (bytes.length > 0 && !isJson(request.headers.get('content-type'))) {
    throw refused(415, 'the body must be JSON: send content-type: application/json');
  }
  return bytes;
}

/** The same, whatever its type. */
export async function readAnyBody(request: Incoming, limits: BodyLimits): Promise<Uint8Array> {
  const declared = Number(request.headers.get('content-length') ?? 0);
  if (declared > limits.body) {
    await request.body?.cancel();
    throw tooLarge(limits);
  }
  const reader = request.bodyReader === undefined ? request.body?.getReader() : request.bodyReader();
  return reader === undefined ? new Uint8Array() : await readAll(reader, limits);
}

async function readAll(reader: PieceReader, limits: BodyLimits): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  const late = { isOver: false };
  const timer = setTimeout(() => {
    late.isOver = true;
    // It ends the read that is waiting.
    void reader.cancel().catch(() => undefined);
  }, limits.timeout);
  try {
    for (;;) {
      const piece = await reader.read().catch(cutOff);
      if (late.isOver) {
        throw refused(408, `the body did not arrive within ${limits.timeout} ms`);
      }
      if (piece.value === undefined) {
        return joined(pieces, size);
      }
      size += piece.value.byteLength;
      if (size > limits.body) {
        throw tooLarge(limits);
      }
      pieces.push(piece.value);
    }
  } catch (error) {
    void reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The client has gone before its body was there: no fault of the server. Deno, for one, aborts the signal of such a
 * request only after the read has failed.
 */
function cutOff(): never {
  throw refused(400, 'the body did not arrive whole');
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [first = new Uint8Array()] = pieces;
  if (pieces.length <= 1) {
    return first;
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.byteLength;
  }
  return bytes;
}

function tooLarge({ body }: BodyLimits): StatepadError {
  return new StatepadError('TOO_LARGE', `the body is longer than ${body} bytes`);
}

function isJson(type: string | null): boolean {
  return /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(type ?? '');
}
