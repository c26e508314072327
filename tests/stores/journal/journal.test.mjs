// Journals: the shared cases over every medium.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callbackStore, fileJournal, journalStore, localStorageJournal } from 'statepad/stores/journal';
import { memoryArea, memoryLocks } from './support.mjs';
import { storeTests } from '../support/run.mjs';

const alone = { without: ['another', 'watch', 'increment', 'append', 'setOnce', 'compareAndSet'] };

function openCallbacks() {
  const log = [];
  const make = () =>
    callbackStore({
      persist: async (records) => {
        // A stored record is data: no part of it may be shared with the record that was handed over.
        log.push(...records.map((record) => JSON.stringify(record)));
      },
      restore: () => log.map((text) => JSON.parse(text)),
    });
  return { store: make(), reopen: async () => make() };
}

function openLines() {
  const lines = [];
  const make = () => journalStore({ append: async (more) => void lines.push(...more), read: () => [...lines] });
  return { store: make(), reopen: async () => make() };
}

/** The few lines that somebody writes whose medium is one long text. */
function openText() {
  let text = '';
  const make = () =>
    journalStore({
      append: async (lines) => void (text += lines.map((line) => `${line}\n`).join('')),
      read: async () => text.split('\n'),
    });
  return { store: make(), reopen: async () => make() };
}

function openFile() {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-journal-'));
  const path = join(folder, 'sessions.journal');
  const make = () => fileJournal(path, { sync: false });
  return { store: make(), reopen: async () => make(), dispose: async () => rmSync(folder, { recursive: true }) };
}

function openStorage() {
  const options = { storage: memoryArea(), locks: memoryLocks() };
  const make = () => localStorageJournal('sessions', options);
  return { store: make(), reopen: async () => make() };
}

storeTests('callbacks', openCallbacks, alone);
storeTests('journal of lines', openLines, alone);
storeTests('journal in a text', openText, alone);
storeTests('journal in a file', openFile, alone);
storeTests('journal in a storage', openStorage, alone);
