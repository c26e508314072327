// Lists of sessions of which some are corrupt: those that can be opened are listed, whichever store says what is not.

import { test } from 'node:test';
import Database from 'better-sqlite3';
import { encryptedStore } from 'statepad/stores/encrypted';
import { memoryStore } from 'statepad/stores/memory';
import { sqliteStore } from 'statepad/stores/sqlite';
import { checkCorruptPages } from '../support/corrupt-pages.mjs';
import { context, instead } from './support.mjs';
import { keys, ways } from './tampered.mjs';

/** Replaces the stored data of values by plain text. */
async function spoil(inner, keys, part) {
  for (const { sessionId, userId } of keys) {
    const place = { appName: 'app', userId, sessionId };
    const { state, rev, time } = await inner.load(place, {}, context);
    const delta = {
      [part]: { set: Object.fromEntries(Object.keys(state[part]).map((name) => [name, 'plain text'])) },
    };
    const event = { id: `spoil ${sessionId}`, time, data: String(rev) };
    await inner.commit({ id: event.id, kind: 'append', key: place, time, event, delta }, context);
  }
}

for (const [name, options] of ways) {
  for (const part of ['session', 'user']) {
    test(`${name}: a list is followed past sessions that are corrupt with their ${part}`, async () => {
      const inner = memoryStore();
      await checkCorruptPages({
        part,
        open: () => encryptedStore(inner, options),
        damage: (all) => spoil(inner, all, part),
      });
    });
  }
}

for (const tellsEnd of [true, false]) {
  test(`a list is followed past what the inner store cannot read, ${tellsEnd ? 'and says' : 'but does not say'} where that ends`, async () => {
    const database = new Database(':memory:');
    const sqlite = sqliteStore(database);
    const list = async (method, ...args) => {
      const page = { ...(await method(...args)) };
      delete page.next;
      return page;
    };
    const inner = tellsEnd ? sqlite : instead(sqlite, { list });
    const open = () => encryptedStore(inner, { keys });
    const damage = async (all) => {
      const tear = database.prepare(
        "UPDATE statepad_values SET value = '{' WHERE owner = (SELECT n FROM statepad_sessions WHERE id = ?)",
      );
      // Every third one is torn, the others are readable there, and cannot be opened.
      await spoil(
        sqlite,
        all.filter((_, index) => index % 3 !== 0),
        'session',
      );
      all.filter((_, index) => index % 3 === 0).forEach(({ sessionId }) => tear.run(sessionId));
    };
    await checkCorruptPages({ open, damage, tellsEnd });
    database.close();
  });
}
