// Structural sharing of the sessions that components see.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../support/source.mjs';

const { shared } = await source('react/sharing.ts');

const session = (more) =>
  Object.freeze({
    ...{ id: 's', appName: 'app', userId: 'ana', state: { list: [1] }, events: [], lastUpdateTime: 1, revision: 0 },
    ...more,
  });

test('a session that is equal is the same object, and one whose end has moved is not', () => {
  const before = session({ expireTime: 100 });
  assert.equal(shared(before, session({ expireTime: 100 })), before);
  const moved = shared(before, session({ expireTime: 200 }));
  assert.equal(moved.expireTime, 200);
  assert.equal(moved.state, before.state);
  assert.equal(moved.events, before.events);
});
