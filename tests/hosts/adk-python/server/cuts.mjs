// Connections that are cut: google-adk's client repeats a request by itself, and nothing is there twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../support/random.js';

/** An event whose time does not depend on when it is made: sent again it is the same. */
const eventOf = (id, delta = {}) => ({
  ...{ id, invocationId: `i-${id}`, author: 'agent', timestamp: 1_700_000_000.5 },
  actions: { stateDelta: delta },
});
const isAppend = ({ path }) => path.endsWith(':appendEvent');
const isCreation = ({ method, path }) => method === 'POST' && /\/sessions(\?.*)?$/.test(path);

/** Cuts the next request that is like this, once. Answers how many it has cut. */
function cutNext(place, isLike, where) {
  const counted = { cuts: 0 };
  place.cutting.by = (asked) => {
    if (counted.cuts > 0 || !isLike(asked)) return undefined;
    counted.cuts += 1;
    return where;
  };
  return counted;
}

/** The tests, over the client and the place that `at` answers. */
export function cutTests(name, at) {
  for (const where of ['before', 'after']) {
    const when = where === 'before' ? 'before the server has them' : 'after the server has done what they ask';
    test(`${name}: POSTs that are cut ${when} are repeated, and done once`, async (t) => {
      const { client, place } = at();
      t.after(() => (place.cutting.by = () => undefined));
      const [user, session] = ['ida', `cut-${where}`];

      const creation = cutNext(place, isCreation, where);
      const created = await client.ask('create', { user, session, state: { n: 0 } });
      assert.deepEqual([creation.cuts, created.id, created.state.n], [1, session, 0]);

      const append = cutNext(place, isAppend, where);
      const delta = { n: 1, 'user:n': 1, 'app:n': 1 };
      await client.ask('append', { event: eventOf('only', delta) });
      assert.equal(append.cuts, 1);
      const read = await client.ask('get', { user, session });
      assert.deepEqual(
        read.events.map(({ id }) => id),
        ['only'],
      );
      assert.deepEqual([read.state.n, read.state['user:n'], read.state['app:n']], [1, 1, 1]);
    });
  }

  test(`${name}: a creation without an id that is cut leaves at most one session that nobody knows`, async (t) => {
    const { client, place } = at();
    t.after(() => (place.cutting.by = () => undefined));
    const creation = cutNext(place, isCreation, 'after');
    const created = await client.ask('create', { user: 'joe', state: { n: 0 } });
    assert.equal(creation.cuts, 1);
    const listed = await client.ask('list', { user: 'joe' });
    assert.ok(listed.some(({ id }) => id === created.id));
    assert.ok(listed.length <= 2, `${listed.length} sessions`);
  });

  test(`${name}: a rewind whose POST is cut is done once`, async (t) => {
    const { client, place } = at();
    t.after(() => (place.cutting.by = () => undefined));
    const marker = { cuts: 0 };
    let appends = 0;
    place.cutting.by = (asked) => {
      // Each turn appends two events; the fifth is the marker.
      if (!isAppend(asked) || (appends += 1) !== 5) return undefined;
      marker.cuts += 1;
      return 'after';
    };
    const { events, state } = await client.ask('converse', {
      ...{ over: 'server', user: 'kim', agent: 'counter', turns: ['1', '2', { rewind: 1 }], state: { tenant: 't1' } },
    });
    assert.equal(marker.cuts, 1);
    assert.equal(events.filter(({ actions }) => actions.rewindBeforeInvocationId).length, 1);
    assert.deepEqual([events.length, state.n, state.tenant], [5, 1, 't1']);
  });

  test(`${name}: a conversation whose connection is cut again and again is the one that it would have been`, async (t) => {
    const { client, place } = at();
    t.after(() => (place.cutting.by = () => undefined));
    const seed = 20261127;
    t.diagnostic(`seed ${seed}`);
    const random = randomFrom(seed);
    let cuts = 0;
    let previous = false;
    place.cutting.by = (asked) => {
      // Its client repeats a request once.
      const isCut = isAppend(asked) && !previous && random() < 0.3;
      previous = isCut;
      if (!isCut) return undefined;
      cuts += 1;
      return random() < 0.5 ? 'before' : 'after';
    };
    const conversation = { agent: 'counter', turns: ['1', '2', '3', '4', '5', '6'], state: { tenant: 't1' } };
    const ours = await client.ask('converse', { over: 'server', user: 'lea', ...conversation });
    const theirs = await client.ask('converse', { over: 'memory', user: 'lea', ...conversation });
    t.diagnostic(`${cuts} cuts`);
    assert.ok(cuts > 2);
    assert.deepEqual(ours.events, theirs.events);
  });

  test(`${name}: a program without aiohttp that appends again what was cut has it once`, async (t) => {
    const { place, host } = at();
    const client = await place.start(host, { httpx: true });
    t.after(() => client.stop());
    t.after(() => (place.cutting.by = () => undefined));
    const [user, session] = ['max', 'by-httpx'];
    await client.ask('create', { user, session });
    for (const [index, where] of ['before', 'after', 'middle'].entries()) {
      const counted = cutNext(place, isAppend, where);
      const event = eventOf(`e${index}`, { [`app:${where}`]: index });
      await assert.rejects(client.ask('append', { event }), { name: /RemoteProtocolError|ReadError/ });
      await client.ask('get', { user, session });
      await client.ask('append', { event });
      assert.equal(counted.cuts, 1);
    }
    const { events, state } = await client.ask('get', { user, session });
    assert.deepEqual(
      events.map(({ id }) => id),
      ['e0', 'e1', 'e2'],
    );
    assert.deepEqual([state['app:before'], state['app:after'], state['app:middle']], [0, 1, 2]);
  });
}
