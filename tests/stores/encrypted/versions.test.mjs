// Texts that another build has sealed: they are refused by name, whatever is read as plain text, and nothing is
// written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { source } from '../../support/source.mjs';
import { MARK, append, context, create, key, nameKey, overMemory, update } from './support.mjs';

const { LAYOUT } = await source('stores/encrypted/version.ts');

const what = (layout) =>
  `has ${layout}, written by an unreleased build of statepad; this build reads ${LAYOUT}: open it with the build that made it, or delete it`;
/** The beginnings of texts, and the message about each. */
const marks = {
  'sealed1:': what('a layout without a fingerprint'),
  'sealed2:': what('a layout without a fingerprint'),
  'sealed1.0badcafe:': what('the layout 0badcafe'),
  'sealed2.0badcafe:': 'has version 2, newer than 1: update statepad',
};
const ways = {
  'visible names': {},
  'encrypted names': { names: 'encrypted', nameKey },
  'plain text beside it': { plaintext: 'read' },
};
/** As another build has sealed it: with its own mark, and bound to that. */
const foreign = (mark) => `${mark}k1:${Buffer.alloc(40, 7).toString('base64')}:k1`;

for (const [mark, message] of Object.entries(marks)) {
  for (const [way, options] of Object.entries(ways)) {
    test(`a text that begins with ${mark} is refused by name: ${way}`, async () => {
      const { inner, store } = overMemory(options);
      const sealed = { set: { a: foreign(mark) } };
      const event = { id: 'c', time: 1, data: foreign(mark) };
      await inner.commit(create('c', { app: sealed, session: sealed }, { event }), context);
      await inner.commit(append('e'), context);
      const before = JSON.stringify(await inner.load(key, { events: { from: 0 } }, context));
      const refused = (error) => {
        assert.equal(error.code, 'rejected');
        assert.ok(error.message.endsWith(message), error.message);
        return true;
      };
      await assert.rejects(store.load(key, { events: { from: 0, to: 0 } }, context), refused);
      await assert.rejects(store.list({ app: 'app', descending: false }, context), refused);
      await assert.rejects(store.loadScope({ app: 'app' }, context), refused);
      await assert.rejects(store.readLog({ app: 'app' }, {}, context), refused);
      const guard = { keys: { app: { set: { a: 1 } } } };
      await assert.rejects(
        store.commit(update('u', { app: { set: { b: 1 } } }, { key: { appName: 'app' }, guard }), context),
        ({ code }) => code === 'rejected' || code === 'conflict',
      );
      assert.equal(JSON.stringify(await inner.load(key, { events: { from: 0 } }, context)), before);
    });
  }
}

test('what is sealed says the version and the layout', async () => {
  const { inner, store } = overMemory();
  await store.commit(create('c', { app: { set: { a: 1 } } }), context);
  const { a } = (await inner.loadScope({ app: 'app' }, context)).state;
  assert.equal(MARK, `sealed1.${LAYOUT}:`);
  assert.ok(a.startsWith(`${MARK}k1:`));
});
