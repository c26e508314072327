/**
 * Lines in a file, as long as those of the journal. Lines that come while the disk is at work are written together.
 */

import { randomUUID } from 'node:crypto';
import { open } from 'node:fs/promises';
import { rawService } from './service.mjs';

/** A service over a new file. */
export function rawJournal(path) {
  let file;
  let waiting = [];
  let writing;
  const drain = async () => {
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await file.write(Buffer.from(batch.map(({ line }) => line).join('')));
      await file.datasync();
      batch.forEach(({ resolve }) => resolve());
    }
    writing = undefined;
  };
  const write = (change) =>
    new Promise((resolve) => {
      waiting.push({ line: lineOf(change), resolve });
      writing ??= drain();
    });
  const start = async () => {
    file = await open(path, 'a');
  };
  return {
    connect: () => rawService({ open: start, create: async () => {}, write }),
    close: async () => await file?.close(),
  };
}

/** The journal's line of an append, without its checksums. */
function lineOf({ session: { appName, userId, id: sessionId, rev }, id, time, data, values }) {
  const delta = (part) => ({
    set: Object.fromEntries(part.map(([name, text]) => [name, JSON.parse(text)])),
    unset: [],
  });
  const guard = { created: randomUUID(), rev, pos: { app: rev, user: rev } };
  const shared = JSON.stringify({ app: delta(values.app), user: delta(values.user) });
  const event = { id, time, data };
  const own = { id, kind: 'append', time, event, guard, call: randomUUID(), delta: delta(values.session) };
  const key = `K00000000${JSON.stringify([rev, appName, userId, sessionId, rev])}`;
  return `${key}\tS00000000${shared}\tP00000000${JSON.stringify(own)}\t${key}\n`;
}
