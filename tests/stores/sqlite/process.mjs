// Another process on an SQLite file: `node sqlite-process.mjs <library> <file> <what> <name> <count>`.

import { sqliteStore } from 'statepad/stores/sqlite';
import { creation, event, libraries, plain } from './libraries.mjs';

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
