// A journal: of this process, or only read as it is at this moment, also while another process writes to it.

import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { CommandError } from '../errors.js';
import type { SessionStore } from '../../store.js';
import type { OpenedStore, OpenOptions } from './opened.js';

/** Opens a file. Throws `CommandError` where it is only read, and not there. */
export async function openJournal(path: string, { write }: OpenOptions): Promise<OpenedStore> {
  const { fileJournal } = await import('../../stores/journal/index.js');
  const store = write ? fileJournal(path) : await readOnlyJournal(path);
  return { store, isEncryptable: true, close: async () => undefined };
}

/** A journal without its lock: nothing is written to the file, and lines that come later are not seen. */
async function readOnlyJournal(path: string): Promise<SessionStore> {
  await access(path).catch((error: unknown) => {
    const isMissing = (error as { readonly code?: unknown }).code === 'ENOENT';
    throw isMissing ? new CommandError(`there is no journal "${path}"`) : error;
  });
  const { journalStore, StoreError } = await import('../../stores/journal/index.js');
  return journalStore({
    name: `the journal "${path}"`,
    read: () => linesIn(path),
    append: async () => {
      throw new StoreError('rejected', `the journal "${path}" is only read`);
    },
  });
}

async function* linesIn(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of createReadStream(path, 'utf8') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest;
}
