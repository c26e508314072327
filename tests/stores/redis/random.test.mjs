// The store in Redis beside the one in memory: whatever is asked of them at random, they answer the same.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { redisStore } from 'statepad/stores/redis';
import { startRedis, whyNoRedis } from '../../support/redis.mjs';
import { openIoredis } from './clients.mjs';
import { serverForTests } from './servers.mjs';
import { append, assertSame, context, create, keyOf, numbers } from './words.mjs';

const why = whyNoRedis();

if (why) {
  test('redis beside memory', { skip: why });
} else {
  const { clientOf, withPrefix } = await serverForTests(startRedis);
  const ioredis = await clientOf(openIoredis);

  test('pages of lists are those of memory, whatever ties there are and wherever they begin', () =>
    withPrefix(async (prefix) => {
      const [store, memory] = [redisStore(ioredis, { prefix }), memoryStore()];
      const random = numbers(7);
      const pick = (list) => list[random(list.length)];
      const times = [-1e300, -5.5, 0, 1, 1, 1, 1.5, 1_700_000_000_000.25, 1e300];
      const pieces = ['a', 'b', 'Z', '\0', '\x01', 'é', '\uffff', '😀', '_', '-'];
      const text = () => Array.from({ length: random(4) }, () => pick(pieces)).join('');
      const places = [];
      for (let count = 0; count < 250; count++) {
        const place = { sessionId: text(), userId: pick(['u', 'v', 'u\0', '\0u', '']), time: pick(times) };
        const change = create(
          `${count}`,
          keyOf(place.sessionId, place.userId),
          { session: { set: { count } } },
          place.time,
        );
        const outcomes = await Promise.all(
          [store, memory].map((each) => each.commit(change, context).catch(({ code }) => code)),
        );
        assert.deepEqual(outcomes[0], outcomes[1]);
        places.push(place);
      }
      const queries = [];
      for (const descending of [false, true]) {
        for (const user of [undefined, 'u', 'u\0', 'nobody']) {
          queries.push({ descending, user });
          for (let count = 0; count < 60; count++) {
            const limit = pick([undefined, 0, 1, 2, 3, 10, 50]);
            const after =
              random(2) === 0
                ? pick(places)
                : { sessionId: text(), userId: pick(['u', 'w']), time: pick([...times, 0.5]) };
            queries.push({ descending, user, limit, offset: random(300) }, { descending, user, limit, after });
          }
        }
      }
      for (const { user, ...rest } of queries) {
        const query = { app: 'app', ...rest, ...(user !== undefined && { user }) };
        assertSame(await store.list(query, context), await memory.list(query, context), JSON.stringify(query));
      }
    }));

  test('windows over events are those of memory, also where times go back and forth', () =>
    withPrefix(async (prefix) => {
      const [store, memory] = [redisStore(ioredis, { prefix }), memoryStore()];
      const random = numbers(3);
      const key = keyOf('session');
      await Promise.all([store, memory].map((each) => each.commit(create('c', key), context)));
      const length = 700;
      for (let index = 0; index < length; index++) {
        // Now and then a clock is far ahead, or behind.
        const time = random(20) === 0 ? random(2 * length) : index + random(5) / 4;
        const change = append(`e${index}`, key, {}, { time });
        await Promise.all([store, memory].map((each) => each.commit(change, context)));
      }
      const queries = [
        {},
        { since: Infinity },
        { since: -Infinity },
        { since: -Infinity, last: 3 },
        { last: 0 },
        { since: 0, last: 0 },
        { from: 5, to: 4 },
        { to: 0 },
      ];
      for (let count = 0; count < 150; count++) {
        const maybe = (value) => (random(2) === 0 ? {} : value);
        queries.push({
          ...maybe({ from: random(length + 20) }),
          ...maybe({ to: random(length + 20) }),
          ...maybe({ since: random(2 * length) - 0.5 }),
          ...maybe({ last: random(random(2) === 0 ? 10 : length) }),
        });
      }
      for (const events of queries) {
        assertSame(
          await store.load(key, { events }, context),
          await memory.load(key, { events }, context),
          JSON.stringify(events),
        );
      }
    }));
}
