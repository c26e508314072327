// Another process on an SQLite file: `node sqlite-process.mjs <library> <file> <what> <name> <count>`.

import { createInterface } from 'node:readline';
import { sqliteStore } from 'statepad/stores/sqlite';
import { creation, event, key, libraries, plain } from './libraries.mjs';

const [library, path, what, name, count] = process.argv.slice(2);
const database = libraries[library](path);
const say = (line) => process.stdout.write(`${line}\n`);

const tasks = {
  /** Opens the file, which may be new, and writes. Says which changes are done. */
  async write() {
    const store = plain(sqliteStore(database, { busyTimeout: 60_000 }));
    await store.open({ migrate: 'create' });
    await store.commit(creation(`session of ${name}`, { sessionId: name }));
    await store.commit(creation('shared')).catch(({ code }) => {
      if (code !== 'exists') throw new Error(code);
    });
    for (let number = 0; number < Number(count); number++) {
      const id = `${name} ${number}`;
      await store.commit(
        event(id, {
          sessionId: 'shared',
          session: { set: { [id]: number, last: name } },
          app: { set: { [id]: number } },
        }),
      );
      await store.commit(event(id, { sessionId: name, user: { set: { [name]: number } } }));
      say(`done ${number}`);
    }
    await store.close();
  },

  /** Increments a counter of the app in a session of its own. Says what it came to each time. */
  async increment() {
    const store = plain(sqliteStore(database, { busyTimeout: 60_000 }));
    await store.open({ migrate: 'create' });
    await store.commit(creation(`session of ${name}`, { sessionId: name }));
    for (let number = 0; number < Number(count); number++) {
      const change = event(`e${number}`, { sessionId: name });
      const { results } = await store.commit({ ...change, operators: { app: { n: { increment: 1 } } } });
      say(results.app.n);
    }
    await store.close();
  },

  /** Leases a session, and writes to it at each line that it gets. Says what comes of it. */
  async lease() {
    const store = plain(sqliteStore(database));
    await store.open({ migrate: 'check' });
    const { fence } = await store.lease(key(), { holder: name, ttl: Number(count) });
    const outcome = (promise) =>
      promise.then(
        () => 'done',
        ({ code, actual }) => `${code} ${actual}`,
      );
    say(`leased ${fence}`);
    let number = 0;
    for await (const line of createInterface({ input: process.stdin })) {
      number += 1;
      const change = event(`${name} ${number}`, { guard: { fence }, app: { set: { [name]: number } } });
      const attempts = {
        write: () => store.commit(change),
        retry: () => store.commit({ ...change, attempt: 2 }),
        renew: () => store.lease(key(), { holder: name, ttl: 60_000, fence }),
        release: () => store.lease(key(), { holder: name, ttl: 0, fence }),
      };
      if (line === 'end') {
        break;
      }
      say(`${line}: ${await outcome(attempts[line]())}`);
    }
    process.stdin.destroy();
  },

  /** Watches, and does nothing else. */
  async watch() {
    const store = plain(sqliteStore(database));
    await store.open({ migrate: 'create' });
    store.watch(() => {});
    say('watching');
  },

  /** Keeps others from writing for so many milliseconds. */
  async lock() {
    database.exec('BEGIN IMMEDIATE');
    say('locked');
    await new Promise((resolve) => setTimeout(resolve, Number(count)));
    database.exec('COMMIT');
  },
};

await tasks[what]();
database.close();
