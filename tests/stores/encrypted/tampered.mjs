// Encrypted stores whose inner store answers with what was tampered with, and texts that are damaged.

import assert from 'node:assert/strict';
import { MARK, append, context, create, data, instead, key, nameKey, overMemory, refusal } from './support.mjs';

export const keys = [{ id: 'key-1', key: new Uint8Array(32).fill(7) }];
/** Both ways to encrypt: a name, and the options. */
export const ways = [
  ['with visible names', { keys }],
  ['with encrypted names', { keys, names: 'encrypted', nameKey }],
];
export const query = { app: 'app', descending: false };

/** Four sessions: two of one user, one of another, one in another app. */
export const places = [key, { ...key, sessionId: 's2' }, { ...key, userId: 'bob' }, { ...key, appName: 'other' }];

/**
 * A store with the same kinds of values and events everywhere, and one whose inner store answers what `forge` makes of
 * it.
 */
export async function filled(options, forge) {
  const { inner, store } = overMemory(options);
  for (const [index, place] of places.entries()) {
    const set = { a: { text: `canary${index}` }, b: `canary${index}` };
    const event = { id: `c${index}`, time: 1, data: data(`c${index}`, `canary${index}`) };
    await store.commit(
      create(event.id, { app: { set }, user: { set }, session: { set } }, { key: place, event }),
      context,
    );
    await store.commit(
      append('e1', {}, { key: place, event: { id: 'e1', time: 2, data: data('e1', `canary${index}`) } }),
      context,
    );
    await store.commit(
      append('e2', {}, { key: place, event: { id: 'e2', time: 2, data: data('e2', `canary${index}`) } }),
      context,
    );
  }
  const forged = instead(inner, {
    load: async (method, ...args) => (forge.load ?? same)(copyOf(await method(...args)), args[0]),
    list: async (method, ...args) => (forge.list ?? same)(copyOf(await method(...args))),
    loadScope: async (method, ...args) => (forge.scope ?? same)(copyOf(await method(...args))),
    commit: async (method, ...args) => {
      const committed = await method(...args);
      return committed.data === undefined ? committed : { ...committed, data: forge.duplicate(committed.data) };
    },
  });
  return { inner, store: overMemory(options, forged).store };
}

const same = (answer) => answer;

/** Answers that can be changed. */
function copyOf(answer) {
  return structuredClone(answer);
}

/** Texts that differ from one in one place, in each place. */
function* flipped(text) {
  for (let index = 0; index < text.length; index++) {
    const other = text[index] === 'A' ? 'B' : 'A';
    for (const instead of [other, ' ', ':', String.fromCharCode(text.charCodeAt(index) ^ 1)]) {
      if (instead !== text[index]) {
        yield text.slice(0, index) + instead + text.slice(index + 1);
      }
    }
  }
}

/** Everything that is done to a text without regard for what is in it. */
export function* damaged(text) {
  yield* flipped(text);
  for (let length = 0; length < text.length; length++) {
    yield text.slice(0, length);
    yield text.slice(0, length) + text.slice(length + 1);
  }
  yield `${text} `;
  yield `${text}A`;
  yield `${text}:key-1`;
  yield text + text;
  yield `${MARK}key-1::key-1`;
  yield `${MARK}key-1:AAAA:key-1`;
  yield text.replace(MARK, 'sealed1:');
  yield text.replace(MARK, 'sealed2.0badcafe:');
  yield 'plain text';
  yield JSON.stringify({ id: 'e1' });
}

/** Fails unless the promise is refused as corrupt, without a word of the plain text. */
export async function isCorrupt(promise, what) {
  const error = await refusal(promise);
  assert.equal(error?.code, 'corrupt', `${what}: ${error?.stack ?? 'it was read'}`);
  assert.doesNotMatch(error.message, /canary/);
}
