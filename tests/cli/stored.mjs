// Stores with sessions for the commands that read them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { exportLines } from 'statepad/jsonl';

/** A folder that is gone after the tests of a file. */
export function testFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-cli-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Fills a store: two apps, three users, of whom one has values alone, a deleted key, a rewind and a fork.
 *
 * @param {import('statepad/store').SessionStore} store
 */
export async function fill(store) {
  const service = new SessionService({ store });
  const monday = await service.createSession({
    appName: 'shop',
    userId: 'ana',
    sessionId: 'monday',
    state: { topic: 'tides', draft: 'no', 'user:visits': 1, 'app:open': true },
  });
  const append = async (id, invocationId, stateDelta) =>
    await service.appendEvent({
      session: monday,
      event: {
        id,
        invocationId,
        author: 'tutor',
        timestamp: 1_769_817_600_000 + Number(id.slice(1)),
        actions: { stateDelta },
      },
    });
  await append('e1', 'i1', { topic: 'moon', 'app:asked': 1 });
  await append('e2', 'i2', { draft: DELETED, 'user:visits': 2 });
  await service.rewind(monday, { before: 'i2' });
  await service.fork(monday, { at: 1, sessionId: 'tuesday' });
  await service.createSession({ appName: 'shop', userId: 'bob', sessionId: 'monday', state: {} });
  await service.updateState({ appName: 'shop', userId: 'cleo' }, () => ({ 'user:name': 'Cleo' }));
  await service.createSession({ appName: 'tutor', userId: 'ana', sessionId: 'first', state: { lesson: 1 } });
  await service.close();
}

/** All lines of the apps of a store, as an export has them. */
export async function linesOf(store, apps = ['shop', 'tutor']) {
  const service = new SessionService({ store, migrate: 'check' });
  const lines = [];
  for (const appName of apps) for await (const line of exportLines(service, { appName })) lines.push(line);
  await service.close();
  return lines;
}
