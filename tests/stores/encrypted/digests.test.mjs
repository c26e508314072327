// The digests of requests, which the inner store keeps and cannot read: each belongs to one change.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { memoryStore } from 'statepad/stores/memory';
import { append, context, count, create, instead, isSealed, ofApp, overMemory, refusal, update } from './support.mjs';
import { isCorrupt, ways } from './tampered.mjs';

const digest = 'canary';
const refused = { attempt: 2, guard: { rev: 7 }, digest };

/** A store that answers each digest as `forge` makes it, and the digests as they lie in the inner store. */
async function forged(options) {
  const [tampered, stored] = [{ forge: (text) => text }, {}];
  const inner = memoryStore();
  const answerOf = (id, text) => tampered.forge((stored[id] = text));
  const { store } = overMemory(
    options,
    instead(inner, {
      commit: async (method, change, ctx) => {
        try {
          const committed = await method(change, ctx);
          return committed.digest === undefined
            ? committed
            : { ...committed, digest: answerOf(change.id, committed.digest) };
        } catch (error) {
          if (error.digest !== undefined) error.digest = answerOf(change.id, error.digest);
          throw error;
        }
      },
    }),
  );
  await store.commit(create('c', {}, { digest }), context);
  await store.commit(update('u', { app: count(1) }, { digest }), context);
  await refusal(store.commit(append('late', {}, refused), context));
  const asked = {
    c: () => store.commit(create('c'), context),
    u: () => store.commit(update('u', {}), context),
    late: () => store.commit(append('late'), context),
  };
  return { store, tampered, stored, asked };
}

for (const [way, options] of ways) {
  describe(way, () => {
    test('digests of the same request are different texts, and come back as they were', async () => {
      const { asked, stored } = await forged(options);
      assert.equal((await asked.c()).digest, digest);
      assert.equal((await asked.u()).digest, digest);
      const error = await refusal(asked.late());
      assert.deepEqual([error.code, error.digest], ['conflict', digest]);
      assert.deepEqual(Object.values(stored).map(isSealed), [true, true, true]);
      assert.equal(new Set(Object.values(stored)).size, 3);
    });

    test('a digest that is damaged, that of another change, or not encrypted is corrupt', async () => {
      const { asked, stored, tampered } = await forged(options);
      for (const ask of Object.values(asked)) await refusal(ask());
      for (const [id, ask] of Object.entries(asked)) {
        const others = Object.entries(stored).flatMap(([other, text]) => (other === id ? [] : [text]));
        for (const text of [...others, `${stored[id]} `, stored[id].replace(/.{8}:/, 'AAAAAAAA:'), '', digest]) {
          tampered.forge = () => text;
          await isCorrupt(ask(), `${id}: ${text}`);
        }
      }
    });
  });
}

test('a digest that is older than the encryption is taken as it is where plain text is read', async () => {
  const inner = memoryStore();
  await inner.commit(create('c', {}, { digest: 'plain' }), context);
  const { store } = overMemory({ plaintext: 'read' }, inner);
  assert.equal((await store.commit(create('c'), context)).digest, 'plain');
  await isCorrupt(overMemory({}, inner).store.commit(create('c'), context), 'plain text');
});

test('any text may be a digest', async () => {
  const { store } = overMemory();
  for (const [index, text] of ['', '\ud800', '\0', 'sealed', 'é'.repeat(200)].entries()) {
    await store.commit(update(`u${index}`, {}, { digest: text }), context);
    assert.equal((await store.commit(update(`u${index}`, {}), context)).digest, text);
  }
});

test('a call that was refused before is refused at once with its digest, whatever its guard compares', async () => {
  let commits = 0;
  const counting = instead(memoryStore(), { commit: (method, ...args) => ((commits += 1), method(...args)) });
  const { store } = overMemory({}, counting);
  await store.commit(create('c', { app: count(1) }), context);
  for (const keys of [{ app: count(1) }, { app: count(2) }]) {
    const id = `late ${keys.app.set.n}`;
    const late = (more) => update(id, { app: count(3) }, { ...ofApp, guard: { keys }, ...more });
    await refusal(store.commit(late({ guard: { pos: { app: 9 } }, attempt: 2, digest }), context));
    commits = 0;
    const error = await refusal(store.commit(late({}), context));
    assert.deepEqual([error.code, error.digest, commits], ['conflict', digest, 1]);
  }
});
