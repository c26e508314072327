// Programs of several kinds write to one session at once: two services over the store, and at three servers, any
// request to any of them, a client of statepad/client, two processes of the Python package and one of google-adk with
// its own client. Servers and writers are killed, and connections are cut.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresServer, redisServer, sqliteFiles } from '../sharing/databases.mjs';
import { size } from '../support/long.mjs';
import { startAtServer } from '../hosts/adk-python/python.mjs';
import { occasionally, startServers } from './chaos.mjs';
import { openSource } from './sources.mjs';
import { Writer, watchByPython } from './writers.mjs';

const KEY = { appName: 'shop', userId: 'ana', sessionId: 'shared' };
const SERVERS = 3;
/** The events of each writer. */
const COUNT = size(40, 400);
const SEEDS = size(1, 4);
const WRITERS = [
  ['service', 'service-1'],
  ['service', 'service-2'],
  ['client', 'client-1'],
  ['python', 'python-1'],
  ['python', 'python-2'],
  ['google-adk', 'adk-1'],
];
const isOurs = ({ kind }) => kind !== 'google-adk';
/** A reader of a long session gets through to its end. */
const CUTS = { block: size(64_000, 640_000), rate: 0.2 };
const idsOf = ({ events }) => events.map(({ id }) => id);

const numbers = Array.from({ length: COUNT }, (_, index) => index + 1);
const databases = { sqlite: sqliteFiles(), postgres: await postgresServer(), redis: await redisServer() };
after(() => Promise.all(Object.values(databases).map(({ stop }) => stop?.())));

/**
 * Reads the session again and again, each time through another source, until it is told to stop. Answers the orders of
 * events that were seen.
 */
async function readUntil(signal, sources) {
  const seen = [];
  for (let turn = 0; !signal.aborted; turn += 1) {
    seen.push(idsOf(await sources[turn % sources.length].getSession(KEY)));
    await sleep(50);
  }
  return seen;
}

/** Watches the session from its first event on, until a revision is reached. Answers the ids that it was told. */
async function watchTo(source, reached) {
  const told = [];
  const changes = source.watch(KEY, { since: 0 });
  for await (const change of changes) {
    assert.equal(change.type, 'event');
    assert.equal(change.revision, told.length + 1);
    told.push(change.event.id);
    if (told.length === reached) break;
  }
  return told;
}

/** Fails unless the session has exactly what was acknowledged. */
function assertWhole({ events, state }, writers) {
  const ids = events.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'none is there twice');
  for (const { name, acknowledged } of writers) {
    assert.deepEqual(acknowledged, numbers);
    const own = numbers.map((number) => `${name}.${number}`);
    assert.deepEqual(
      ids.filter((id) => id.startsWith(`${name}.`)),
      own,
    );
    assert.deepEqual(
      own.filter((id, index) => state[id] !== index + 1 || state[`user:${id}`] !== index + 1),
      [],
    );
  }
  assert.equal(ids.length, writers.length * COUNT);
  // Those with operators count on keys that all share; google-adk has none, and counts on keys of its own.
  const counting = writers.filter(isOurs);
  assert.equal(state['app:total'], counting.length * COUNT);
  // An update has no id of its own: a program that is killed before it hears of it makes it again.
  const kills = counting.reduce((sum, writer) => sum + writer.kills, 0);
  const updates = state['app:updates'] - counting.length * COUNT;
  assert.ok(updates >= 0 && updates <= kills, `${updates} more updates than were acknowledged, ${kills} kills`);
  for (const writer of writers) {
    assert.equal(state[isOurs(writer) ? `user:${writer.name}` : `app:count of ${writer.name}`], COUNT);
  }
}

for (const [kind, { skip, newPlace }] of Object.entries(databases)) {
  for (let run = 1; run <= SEEDS; run += 1) {
    const seed = 20261127 + run;
    test(
      `${kind}: nothing acknowledged is lost, whatever is killed and cut, and all read one order`,
      { skip },
      async (t) => {
        const place = newPlace(kind === 'sqlite' ? kind : `${kind}, listening`);
        const servers = await startServers(place, { count: SERVERS, seed, cutRate: 0.03, bytes: CUTS });
        const own = await Promise.all([{ place }, { place }, { url: servers.url }].map(openSource));
        await own[0].source.createSession({ ...KEY, state: { kept: true } });
        const writers = [];
        const over = new AbortController();
        t.after(async () => {
          over.abort();
          writers.forEach((writer) => writer.stop());
          await servers.stop();
          await Promise.all(own.map(({ end }) => end()));
        });

        // One kind after the other.
        let turn = 0;
        const killWriter = () => {
          const busy = writers.filter(({ isDone }) => !isDone);
          busy[(turn += 1) % busy.length]?.kill();
        };
        const disturb = occasionally([servers.killOne, killWriter], { seed, least: 6, most: 14 });
        for (const [of, name] of WRITERS) {
          const told = {
            source: of === 'service' ? { place } : { url: servers.url },
            url: servers.url,
            key: KEY,
            ...KEY,
          };
          writers.push(await Writer.start({ kind: of, name, count: COUNT, ...told }, disturb));
        }
        const reader = await watchByPython({ url: servers.url, key: KEY, count: WRITERS.length * COUNT });
        t.after(() => reader.stop());
        const watching = watchTo(own[2].source, WRITERS.length * COUNT);
        const reading = readUntil(
          over.signal,
          own.map(({ source }) => source),
        );
        reading.catch(() => undefined);
        watching.catch(() => undefined);
        await Promise.all(writers.map((writer) => writer.finish()));
        servers.calm();
        await servers.whole();

        const whole = await own[0].source.getSession(KEY);
        assertWhole(whole, writers);
        assert.equal(whole.state.kept, true);
        const order = idsOf(whole);
        assert.deepEqual(await watching, order);
        const python = await reader.finish();
        assert.deepEqual([python.told, python.ids], [order, order]);
        assert.deepEqual(python.state, { ...whole.state });
        over.abort();
        for (const seen of await reading) assert.deepEqual(seen, order.slice(0, seen.length));
        for (const url of servers.urls()) {
          const adk = await startAtServer('adk-python', url, { appName: KEY.appName });
          const read = await adk.ask('get', { user: KEY.userId, session: KEY.sessionId });
          await adk.stop();
          assert.deepEqual(idsOf(read), order);
          assert.deepEqual(read.state, { ...whole.state });
        }
        const fresh = await openSource({ place });
        assert.deepEqual(idsOf(await fresh.source.getSession(KEY)), order);
        await fresh.end();

        const { cuts, kills, bytes } = servers.seen();
        const killed = writers.map((writer) => `${writer.name} ${writer.kills}`).join(', ');
        t.diagnostic(
          `seed ${seed}: kills: servers ${kills}, ${killed}; connections cut: ${cuts} around requests, ${bytes} at any byte`,
        );
        assert.ok(kills > 0 && cuts > 0 && bytes > 0);
        assert.ok(
          ['service', 'client', 'python', 'google-adk'].every((of) =>
            writers.some(({ kind, kills }) => kind === of && kills > 0),
          ),
        );
        // They did meet.
        const changes = order.filter((id, index) => id.split('.')[0] !== order[index - 1]?.split('.')[0]).length;
        assert.ok(changes > COUNT / 2, `${changes} times another one wrote`);
      },
    );
  }
}
