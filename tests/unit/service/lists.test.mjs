// Following the cursor of a list while sessions come, go and move: each one that was there all the time and did not
// move is visited exactly once.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { APP, runs } from '../../support/fixtures.mjs';

const nameOf = ({ userId, id, sessionId = id }) => `${userId}/${sessionId}`;

/** A store that cannot read the sessions in `bad`. `tells`: whether it says where a page ends. */
function partlyCorrupt(tells) {
  const inner = memoryStore();
  const bad = new Set();
  const list = async (query, context) => {
    const page = await inner.list(query, context);
    const last = page.rows.at(-1);
    const corrupt = page.rows.map(({ key }) => key).filter((key) => bad.has(nameOf(key)));
    return {
      ...page,
      rows: page.rows.filter(({ key }) => !bad.has(nameOf(key))),
      ...(corrupt.length === 0 ? {} : { corrupt }),
      ...(tells && last ? { next: { time: last.time, sessionId: last.key.sessionId, userId: last.key.userId } } : {}),
    };
  };
  return { store: { ...inner, list }, bad };
}

const places = {
  'in memory': () => ({ options: {}, bad: undefined }),
  'over a store': () => ({ options: { store: memoryStore() }, bad: undefined }),
  'over a store that cannot read all': () => {
    const { store, bad } = partlyCorrupt(true);
    return { options: { store }, bad };
  },
  'over a store that cannot read all and does not say where a page ends': () => {
    const { store, bad } = partlyCorrupt(false);
    return { options: { store }, bad };
  },
};

/** The disturbances between two pages: to sessions by their number. */
const disturbance = fc.record({
  kind: fc.constantFrom('delete', 'append', 'create', 'corrupt', 'delete the page'),
  at: fc.nat(29),
  time: fc.nat(40),
});
const listings = fc.record({
  count: fc.integer({ min: 0, max: 30 }),
  limit: fc.integer({ min: 1, max: 7 }),
  order: fc.constantFrom('asc', 'desc'),
  corrupt: fc.array(fc.nat(29), { maxLength: 25 }),
  between: fc.array(fc.array(disturbance, { maxLength: 4 }), { maxLength: 12 }),
});

for (const [place, make] of Object.entries(places)) {
  describe(place, () => {
    test('what stays where it is is visited exactly once, whatever happens to the others', () =>
      fc.assert(
        fc.asyncProperty(listings, async ({ count, limit, order, corrupt, between }) => {
          const { options, bad } = make();
          let clock = 0;
          const service = new SessionService({ ...options, now: () => clock });
          const keyOf = (number) => ({ ...APP, userId: `u${number % 3}`, sessionId: `s${number}` });
          for (let number = 0; number < count; number++) {
            clock = (number * 7) % 20;
            await service.createSession(keyOf(number));
          }
          const steady = new Set(Array.from({ length: count }, (_, number) => nameOf(keyOf(number))));
          const spoil = (number) => {
            if (bad !== undefined) bad.add(nameOf(keyOf(number)));
            return bad !== undefined;
          };
          corrupt.forEach((number) => spoil(number) && steady.delete(nameOf(keyOf(number))));
          const steadilyBad = new Set(
            corrupt.filter((number) => bad && number < count).map((number) => nameOf(keyOf(number))),
          );

          const disturb = async ({ kind, at, time }, page) => {
            clock = time;
            const key = keyOf(at);
            if (kind === 'create') {
              await service
                .createSession({ ...APP, userId: 'new', sessionId: `n${at} ${time}` })
                .catch(({ code }) => assert.equal(code, 'SESSION_EXISTS'));
              return;
            }
            if (kind === 'delete the page') {
              for (const { userId, id: sessionId } of page) {
                steady.delete(`${userId}/${sessionId}`);
                gone.add(`${userId}/${sessionId}`);
                await service.deleteSession({ ...APP, userId, sessionId });
              }
              return;
            }
            steady.delete(nameOf(key));
            gone.add(nameOf(key));
            if (kind === 'delete') {
              await service.deleteSession(key);
            } else if (kind === 'append') {
              const event = { author: 'a', timestamp: time };
              await service
                .appendEvent({ session: { ...APP, userId: key.userId, id: key.sessionId }, event })
                .catch(({ code }) => assert.equal(code, 'SESSION_NOT_FOUND'));
            } else {
              spoil(at);
            }
          };
          /** The disturbed sessions: they may be visited, or not. */
          const gone = new Set();
          const visited = [];
          const unreadable = new Set();
          let cursor;
          let pages = 0;
          do {
            const page = await service.listSessions({
              ...APP,
              limit,
              order,
              ...(cursor === undefined ? {} : { cursor }),
            });
            assert.ok(page.sessions.length <= limit);
            visited.push(...page.sessions.map(nameOf));
            (page.corrupt ?? []).forEach((key) => unreadable.add(nameOf(key)));
            cursor = page.cursor;
            for (const each of between[pages] ?? []) {
              await disturb(each, page.sessions);
            }
            pages += 1;
            assert.ok(pages < 200, 'it comes to an end');
          } while (cursor !== undefined);
          const wanted = [...steady].sort();
          assert.deepEqual(visited.filter((name) => steady.has(name)).sort(), wanted);
          assert.deepEqual(
            [...steadilyBad].filter((name) => !gone.has(name) && !unreadable.has(name)),
            [],
          );
        }),
        { numRuns: runs(150) },
      ));

    test('list 10, delete them, go on: all of 100 are visited', async () => {
      const service = new SessionService(make().options);
      for (let number = 0; number < 100; number++) {
        await service.createSession({ ...APP, userId: 'u', sessionId: `s${number}` });
      }
      const visited = new Set();
      let cursor;
      do {
        const page = await service.listSessions({ ...APP, limit: 10, ...(cursor && { cursor }) });
        for (const { id: sessionId } of page.sessions) {
          visited.add(sessionId);
          await service.deleteSession({ ...APP, userId: 'u', sessionId });
        }
        cursor = page.cursor;
      } while (cursor !== undefined);
      assert.equal(visited.size, 100);
      assert.equal((await service.listSessions(APP)).totalItems, 0);
    });
  });
}

test('a page of corrupt sessions does not end the listing', async () => {
  for (const tells of [true, false]) {
    const { store, bad } = partlyCorrupt(tells);
    const service = new SessionService({ store, now: () => 1 });
    const ids = Array.from({ length: 20 }, (_, index) => `s${String(index).padStart(2, '0')}`);
    for (const sessionId of ids) {
      await service.createSession({ ...APP, userId: 'u', sessionId });
    }
    ids.slice(3, 17).forEach((id) => bad.add(`u/${id}`));
    const [seen, corrupt] = [[], new Set()];
    let cursor;
    do {
      const page = await service.listSessions({ ...APP, limit: 3, ...(cursor && { cursor }) });
      seen.push(...page.sessions.map(({ id }) => id));
      page.corrupt?.forEach(({ sessionId }) => corrupt.add(sessionId));
      cursor = page.cursor;
    } while (cursor !== undefined);
    assert.deepEqual(seen, [...ids.slice(0, 3), ...ids.slice(17)]);
    assert.deepEqual([...corrupt].sort(), ids.slice(3, 17));
  }
});
