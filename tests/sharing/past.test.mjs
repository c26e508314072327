// The past of app and user values over every database that several services share: exact, of all writers.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { APP, KEY, runs, setting } from '../support/fixtures.mjs';
import { step, tellsThePast } from '../support/past.mjs';
import { postgresServer, redisServer, sqliteFiles } from './databases.mjs';
import { openService } from './places.mjs';

const files = sqliteFiles();
const servers = { postgres: await postgresServer(), redis: await redisServer() };
after(async () => {
  await files.stop();
  await Promise.all(Object.values(servers).map((server) => server.stop?.()));
});

for (const kind of ['sqlite', 'postgres', 'redis']) {
  const { newPlace, skip } = kind === 'sqlite' ? files : servers[kind];

  test(`two services over ${kind} tell what all sessions had written at any revision`, { skip }, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 20 }), async (steps) => {
        const place = newPlace(kind);
        const opened = [await openService(place), await openService(place)];
        try {
          await tellsThePast(
            opened.map(({ service }) => service),
            steps,
          );
        } finally {
          await Promise.all(opened.map(({ end }) => end()));
        }
      }),
      { numRuns: runs(10) },
    );
  });

  test(`over ${kind} what is trimmed is not exact any more, and what came after it is`, { skip }, async () => {
    const { service, end } = await openService(newPlace(kind));
    const session = await service.createSession({ ...KEY, state: { 'app:n': 0 } });
    for (let n = 1; n <= 4; n++) {
      await service.appendEvent({ session, event: setting({ 'app:n': n }) });
    }
    assert.equal(await service.trimHistory(APP, { upTo: 3 }), 3);
    const { exact, steps } = await service.history({ ...APP, key: 'app:n' });
    assert.deepEqual(
      [exact, steps.map(({ position, from, to }) => [position, from, to])],
      [
        false,
        [
          [4, 2, 3],
          [5, 3, 4],
        ],
      ],
    );
    assert.deepEqual(
      { ...(await service.stateAt(session, 3, { detailed: true })) },
      {
        exact: true,
        state: { 'app:n': 3 },
      },
    );
    assert.equal((await service.stateAt(session, 0, { detailed: true })).exact, false);
    await end();
  });
}
