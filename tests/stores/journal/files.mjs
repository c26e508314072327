// Journals in files of their own, in this process and in others.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fileJournal } from 'statepad/stores/journal';
import { KEY } from '../../support/fixtures.mjs';
import { opened } from './support.mjs';

/** Its user takes two bytes in UTF-8: a line can be torn between them. */
export const key = { ...KEY, userId: 'ü' };
const childScript = fileURLToPath(new URL('file-child.mjs', import.meta.url));

/** The cleanups after each test, the last one first. */
export const cleanups = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) {
    await cleanup();
  }
});

/** A folder that is deleted after the test. */
export function folder() {
  const path = mkdtempSync(join(tmpdir(), 'statepad-file-'));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A path for a journal, and what opens it; what is open is closed in the end. */
export function place(dir = folder()) {
  const path = join(dir, 'sessions.journal');
  const open = async (options = { sync: false }, migrate = 'create') => {
    const store = fileJournal(path, options);
    await opened(store, migrate);
    cleanups.push(() => store.close());
    return store;
  };
  return { path, lock: `${path}.lock`, dir, open };
}

/** Starts the other process; `next()` is what it says next. */
export function start(what, path, before = '') {
  const child =
    before === ''
      ? spawn(process.execPath, [childScript, what, path])
      : spawn('sh', ['-c', `${before} "$@"`, 'sh', process.execPath, childScript, what, path]);
  child.stderr.pipe(process.stderr);
  cleanups.push(() => child.kill('SIGKILL'));
  const lines = child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false });
  let text = '';
  const next = async () => {
    while (!text.includes('\n')) {
      const { value, done } = await lines.next();
      assert.ok(!done, 'the other process has ended');
      text += value;
    }
    const line = text.slice(0, text.indexOf('\n'));
    text = text.slice(line.length + 1);
    return JSON.parse(line);
  };
  return { child, next };
}

/** A function of the system that fails. */
export const failing = (code) => async () => {
  throw Object.assign(new Error(`${code}: it does not work`), { code });
};
