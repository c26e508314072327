// Several processes of google-adk at one server.

import assert from 'node:assert/strict';
import { test } from 'node:test';

const NAMES = Array.from({ length: 4 }, (_, index) => `p${index}-`);

/** The tests, at the place that `at` answers. Each of the processes writes `count` keys. */
export function processTests(name, at, { count = 50 } = {}) {
  for (const [what, sessionOf] of [
    ['a session each', (index) => `own-${index}`],
    ['one session', () => 'together'],
  ]) {
    test(`${name}: four processes write ${4 * count} keys of each scope to ${what}, and none is lost`, async (t) => {
      const { client, place, host } = at();
      const user = sessionOf(0);
      const sessions = [...new Set(NAMES.map((_, index) => sessionOf(index)))];
      for (const session of sessions) await client.ask('create', { user, session });
      const processes = await Promise.all(NAMES.map(() => place.start(host)));
      t.after(() => Promise.all(processes.map((each) => each.stop())));
      await Promise.all(
        processes.map((each, index) =>
          each.ask('write', { user, session: sessionOf(index), name: NAMES[index], count }),
        ),
      );

      const keys = NAMES.flatMap((of) => Array.from({ length: count }, (_, index) => `${of}${index}`)).sort();
      const read = await Promise.all(sessions.map((session) => client.ask('get', { user, session })));
      const written = read.flatMap(({ events }) => events.map(({ id }) => id));
      assert.deepEqual(written.toSorted(), keys);
      const own = read.flatMap(({ state }) => Object.keys(state).filter((key) => /^p\d-/.test(key)));
      assert.deepEqual(own.sort(), keys);
      for (const { state } of read) {
        for (const prefix of ['user:', 'app:']) {
          const shared = keys.filter((key) => !(`${prefix}${key}` in state));
          assert.deepEqual(shared, [], prefix);
        }
        for (const of of NAMES) assert.equal(state[`app:count of ${of}`], count);
      }
      for (const of of NAMES) {
        const order = written.filter((id) => id.startsWith(of));
        assert.deepEqual(
          order,
          Array.from({ length: count }, (_, index) => `${of}${index}`),
        );
      }
    });
  }
}
