// JSON lines of a file, or of standard input, read into memory.

import { createReadStream } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { CommandError } from '../errors.js';
import type { SessionService } from '../../index.js';

/** The beginning of a journal: the label of its first line, and a checksum. */
const JOURNAL = /^V[\da-f]{8}\[/;

/** Reads all lines into a service. Throws `CommandError` for a file that cannot be read, and the errors of lines. */
export async function openedLines(path: string | undefined): Promise<SessionService> {
  const { openLines } = await import('../../jsonl.js');
  const { service } = await openLines(piecesOf(path));
  return service;
}

/** The pieces of the text of a file, or of standard input. Throws `CommandError`, also for a journal. */
export async function* piecesOf(path: string | undefined): AsyncGenerator<string> {
  if (path === undefined && process.stdin.isTTY) {
    throw new CommandError('standard input is a terminal: pass lines to it, as in statepad export … | statepad …');
  }
  const file = path?.startsWith('file:') === true ? fileURLToPath(path) : path;
  const stream = file === undefined ? process.stdin : createReadStream(file);
  let isFirst = true;
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) {
    if (isFirst && JOURNAL.test(piece)) {
      throw new CommandError(`it is a journal${path === undefined ? '' : `: journal:${path}`}`);
    }
    isFirst = false;
    yield piece;
  }
}
