// Several processes count one key of one app, all the time: nothing is lost, and they take reservations of the store.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import pg from 'pg';
import { postgresServer } from './databases.mjs';
import { openService } from './places.mjs';
import { startProcesses } from './processes.mjs';
import { USER } from '../support/fixtures.mjs';

const [PROCESSES, TIMES] = [4, 40];
const targets = {
  'through the app': () => ({ appName: 'app' }),
  'through a session each': (process) => ({ ...USER, sessionId: `s${process}` }),
  'through one session': () => ({ ...USER, sessionId: 's0' }),
};

const { skip, newPlace, stop } = await postgresServer();

if (skip) {
  test('several processes count one key of one app', { skip }, () => {});
} else {
  const processes = startProcesses(PROCESSES);
  after(async () => {
    await processes.stop();
    await stop();
  });

  for (const [how, target] of Object.entries(targets)) {
    test(`several processes count one key of one app, ${how}: nothing is lost, and they take reservations`, async () => {
      const place = newPlace();
      await processes.all('open', place);
      await processes.all('create', (process) => ({ ...USER, sessionId: `s${process}` }));
      const answers = await processes.all('count', (process) => ({
        target: target(process),
        key: 'app:n',
        times: TIMES,
        atOnce: 2,
      }));
      assert.deepEqual(
        answers.map(({ rejected }) => rejected),
        answers.map(() => []),
      );
      const values = answers.flatMap(({ acknowledged }) => acknowledged).sort((a, b) => a - b);
      assert.deepEqual(
        values,
        Array.from({ length: PROCESSES * TIMES }, (_, index) => index + 1),
      );
      await processes.all('end');

      const fresh = await openService(place);
      assert.deepEqual({ ...(await fresh.service.getAppState({ appName: 'app' })) }, { n: PROCESSES * TIMES });
      await fresh.end();
      const client = new pg.Client({ connectionString: place.url });
      await client.connect();
      const { rows } = await client.query(`select is_called as asked from ${place.name}.tickets`);
      await client.end();
      assert.deepEqual(rows, [{ asked: true }]);
    });
  }
}
