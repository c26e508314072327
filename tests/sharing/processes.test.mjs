// Two processes with a service each over one database, at the same time.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { postgresServer, redisServer, sqliteFiles } from './databases.mjs';
import { openService } from './places.mjs';
import { startProcesses } from './processes.mjs';
import { APP, USER } from '../support/fixtures.mjs';

const keyOf = (sessionId) => ({ ...USER, sessionId });

/** Each process does so much, and they wait for each other after each round: so they do work at the same time. */
const [ROUNDS, TIMES, AT_ONCE] = [8, 25, 8];
const EACH = ROUNDS * TIMES;
const TOTAL = 2 * EACH;

const numbers = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
/** The events of one process. */
const idsOf = (process) => numbers(1, EACH).map((number) => `p${process} ${number}`);
const allIds = [...idsOf(0), ...idsOf(1)].sort();

const processes = startProcesses(2);
const databases = [];
after(async () => {
  await processes.stop();
  await Promise.all(databases.map(({ stop }) => stop()));
});

/** Both processes append events with a key each. Answers with what each of them was told. */
async function appendBoth(sessionOf, deltaOf) {
  const told = [0, 1].map(() => ({ acknowledged: [], rejected: [] }));
  for (const round of numbers(1, ROUNDS)) {
    const ids = (process) => idsOf(process).slice((round - 1) * TIMES, round * TIMES);
    const events = (process) => ids(process).map((id) => ({ id, delta: deltaOf(id) }));
    const answers = await processes.all('append', (process) => ({
      key: sessionOf(process),
      events: events(process),
      atOnce: AT_ONCE,
    }));
    answers.forEach(({ acknowledged, rejected }, index) => {
      told[index].acknowledged.push(...acknowledged);
      told[index].rejected.push(...rejected);
    });
  }
  assert.deepEqual(
    told.map(({ rejected }) => rejected),
    [[], []],
  );
  assert.deepEqual(
    told.map(({ acknowledged }) => acknowledged.sort()),
    [idsOf(0).sort(), idsOf(1).sort()],
  );
}

/** Both processes count one key up. */
async function countBoth(target, key) {
  const values = [];
  for (let round = 0; round < ROUNDS; round++) {
    const answers = await processes.all('count', { target, key, times: TIMES, atOnce: AT_ONCE });
    assert.deepEqual(
      answers.map(({ rejected }) => rejected),
      [[], []],
    );
    answers.forEach(({ acknowledged }) => values.push(...acknowledged));
  }
  // Nobody ever came to the same number as somebody else.
  assert.deepEqual(
    values.sort((a, b) => a - b),
    numbers(1, TOTAL),
  );
}

/** The session as seen by a process that has read it, and by a service that has never seen it before. */
async function readAll(place, key) {
  const [first, second] = await processes.all('read', key);
  const fresh = await openService(place);
  try {
    const { events, state, revision } = await fresh.service.getSession(key);
    const third = { ids: events.map(({ id }) => id), state: { ...state }, revision };
    assert.deepEqual(first, third);
    assert.deepEqual(second, third);
    assert.equal(revision, events.length);
    return { events, ...third };
  } finally {
    await fresh.end();
  }
}

/** `only` names the tests to run: all of them, unless told otherwise. */
function sharingTests(kind, newPlace, only = ['app', 'user', 'app count', 'user count', 'session']) {
  const withPlace = async (use) => {
    const place = newPlace(kind);
    await processes.all('open', place);
    try {
      await use(place);
    } finally {
      await processes.all('end');
    }
  };

  for (const [scope, prefix] of [
    ['app', 'app:'],
    ['user', 'user:'],
  ].filter(([name]) => only.includes(name))) {
    test(`${kind}: two processes append to a session each, with keys of the ${scope}`, () =>
      withPlace(async (place) => {
        const sessionOf = (process) => keyOf(`s${process}`);
        await processes.all('create', sessionOf);
        await appendBoth(sessionOf, (id) => ({ [prefix + id]: id }));

        const shown = await processes.all('shown', sessionOf);
        for (const process of [0, 1]) {
          const own = await readAll(place, sessionOf(process));
          assert.deepEqual(own.ids.toSorted(), idsOf(process).sort());
          assert.deepEqual(
            Object.entries(own.state).sort(),
            allIds.map((id) => [prefix + id, id]),
          );
          assert.deepEqual(shown[process].ids, own.ids);
          assert.equal(shown[process].revision, EACH);
          assert.deepEqual(
            idsOf(process).filter((id) => shown[process].state[prefix + id] !== id),
            [],
          );
        }
      }));
  }

  for (const [scope, target, key] of [
    ['app', APP, 'app:n'],
    ['user', USER, 'user:n'],
  ].filter(([name]) => only.includes(`${name} count`))) {
    test(`${kind}: two processes count in the state of one ${scope}`, () =>
      withPlace(async (place) => {
        await processes.first('create', keyOf('s'));
        await countBoth(target, key);
        const { state, revision } = await readAll(place, keyOf('s'));
        assert.deepEqual(state, { [key]: TOTAL });
        assert.equal(revision, 0);
      }));
  }

  test(`${kind}: two processes count in one session`, () =>
    withPlace(async (place) => {
      await processes.first('create', keyOf('s'));
      await countBoth(keyOf('s'), 'n');
      const { state, events, ids } = await readAll(place, keyOf('s'));
      assert.deepEqual(state, { n: TOTAL });
      assert.deepEqual(
        events.map(({ actions }) => actions.stateDelta),
        numbers(1, TOTAL).map((n) => ({ n })),
      );
      assert.equal(new Set(ids).size, TOTAL);
    }));

  test(`${kind}: two processes append to one session, several events at a time`, () =>
    withPlace(async (place) => {
      const key = keyOf('s');
      await processes.first('create', key);
      await appendBoth(
        () => key,
        (id) => ({ last: id, [id]: true, [`user:${id}`]: true }),
      );

      const { ids, state } = await readAll(place, key);
      assert.deepEqual(ids.toSorted(), allIds);
      assert.equal(state.last, ids.at(-1));
      assert.deepEqual(Object.keys(state).sort(), ['last', ...allIds, ...allIds.map((id) => `user:${id}`)].sort());
      // They did meet: in each round both have written.
      assert.ok(ids.filter((id, index) => id.slice(0, 2) !== ids[index - 1]?.slice(0, 2)).length > ROUNDS);

      const shown = await processes.all('shown', key);
      for (const process of [0, 1]) {
        // As far as the handle is, it is in the same order; and it shows all that its process was told is done.
        const own = shown[process];
        assert.deepEqual(own.ids, ids.slice(0, own.ids.length));
        assert.equal(own.revision, own.ids.length);
        assert.deepEqual(own.ids.filter((id) => id.startsWith(`p${process}`)).sort(), idsOf(process).sort());
        assert.equal(own.state.last, own.ids.at(-1));
        assert.deepEqual(
          own.ids.filter((id) => !own.state[id] || !own.state[`user:${id}`]),
          [],
        );
      }
    }));
}

const started = { sqlite: sqliteFiles(), postgres: await postgresServer(), redis: await redisServer() };
for (const [name, { skip, newPlace, stop }] of Object.entries(started)) {
  if (skip) {
    test(`${name}: two processes`, { skip }, () => {});
    continue;
  }
  databases.push({ stop });
  sharingTests(name, newPlace);
  if (name !== 'sqlite') {
    // The hints about each other come between their own writes.
    sharingTests(`${name}, listening`, newPlace, ['app', 'session']);
  }
}
