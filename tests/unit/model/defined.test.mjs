// Objects without members that are undefined.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../support/source.mjs';

const { defined } = await source('model/defined.ts');

test('members that are undefined are absent, and all others stay in their order', () => {
  const given = { b: 0, a: undefined, d: null, c: '', e: false };
  assert.deepEqual(Object.entries(defined(given)), [
    ['b', 0],
    ['d', null],
    ['c', ''],
    ['e', false],
  ]);
  assert.ok('a' in given, 'what was given stays as it is');
});
