// Files that are renamed, deleted or replaced under a running process: what went to the old one is not acknowledged.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { clearInterval, setInterval } from 'node:timers';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { sqliteStore } from 'statepad/stores/sqlite';
import { moves } from '../support/replaced-files.mjs';
import {
  create,
  creation,
  event,
  failure,
  hasLog,
  key,
  libraries,
  observed,
  plain,
  update,
  withFile,
} from './libraries.mjs';

const lease = { holder: 'h', ttl: 1_000 };

for (const name of Object.keys(libraries)) {
  for (const [how, { move, back, told }] of Object.entries(moves)) {
    test(`${name}: over a file that was ${how} nothing is done, and everything when it is back`, () =>
      withFile(name, async (file) => {
        const store = plain(file.store());
        await store.open(create);
        await store.commit(creation('s'));
        await store.commit(event('e1'));
        move(file.path);
        // node-sqlite3-wasm makes a lock beside the file first, and cannot.
        const message = hasLog(name) || existsSync(dirname(file.path)) ? told : /unable to open|disk I\/O|locked/;
        for (const asked of [
          () => store.commit(event('e2')),
          () => store.commitMany([event('e2'), update('u', { app: { set: { n: 1 } } })]),
          () => store.commit(creation('t')),
          // One that is there already.
          () => store.commit(event('e1')),
          () => store.load(key(), {}),
          () => store.list({ app: 'a', descending: false }),
          () => store.loadScope({ app: 'a' }),
          () => store.lease(key(), lease),
          () => store.remove(key()),
          () => store.removeScope({ app: 'a' }),
        ]) {
          await assert.rejects(asked, { code: 'unavailable', message });
        }
        back(file.path);
        const { rev, duplicate, pos } = await store.commit(event('e2'));
        assert.deepEqual([rev, duplicate, pos.app], [2, undefined, 0], 'nothing was written meanwhile');
        assert.equal(await store.load(key('t'), {}), null);
      }));

    test(`${name}: of a change during which its file was ${how} it is not known what became`, () =>
      withFile(name, async (file) => {
        let isDue = false;
        const after = (sql) => isDue && sql === 'COMMIT' && move(file.path);
        const store = plain(sqliteStore(observed(file.connect(), { after })));
        await store.open(create);
        await store.commit(creation('s'));
        isDue = true;
        assert.match(await failure(store.commit(event('e1'))), told);
        isDue = false;
        assert.equal(await failure(store.commit(event('e1'))), 'unavailable');
        back(file.path);
        assert.equal((await store.commit(event('e1'))).duplicate, true);
      }));

    test(`${name}: who watches a file that was ${how} hears of it`, () =>
      withFile(name, async (file) => {
        const store = plain(file.store({ pollMs: 1 }));
        await store.open(create);
        const heard = new Promise((resolve) => store.watch(resolve));
        await store.commit(creation('s'));
        // To watch keeps no process alive.
        const waiting = setInterval(() => {}, 1_000);
        move(file.path);
        assert.deepEqual(await heard, key());
        clearInterval(waiting);
        back(file.path);
      }));
  }
}

const retry = { attempts: 2, pause: 1 };

for (const [how, { move, back, told }] of Object.entries(moves)) {
  test(`a service whose file was ${how} acknowledges nothing, and one that opens the file has all that was`, () =>
    withFile(Object.keys(libraries)[0], async ({ path }) => {
      const place = { appName: 'a', userId: 'u', sessionId: 's' };
      const service = new SessionService({ store: sqliteStore(path), retry });
      const session = await service.createSession(place);
      const acknowledged = [(await service.appendEvent({ session, event: { author: 'u' } })).id];
      move(path);
      for (let count = 0; count < 8; count++) {
        await assert.rejects(service.appendEvent({ session, event: { author: 'u' } }), {
          code: 'STORE_UNAVAILABLE',
          message: told,
        });
      }
      await assert.rejects(service.getSession(place), { code: 'STORE_UNAVAILABLE' });
      await service.close();
      back(path);
      const again = new SessionService({ store: sqliteStore(path), retry });
      const { events } = await again.getSession(place);
      assert.deepEqual(
        events.map(({ id }) => id),
        acknowledged,
      );
      await again.close();
      assert.ok(existsSync(path));
    }));
}
