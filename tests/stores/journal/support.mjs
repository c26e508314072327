// Helpers of the tests of journals.

import * as changes from '../../support/changes.js';

/** A `Storage` in memory, which takes so many characters. */
export function memoryArea(quota = Infinity) {
  const items = new Map();
  const size = () => [...items].reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  return {
    items,
    get length() {
      return items.size;
    },
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (name) => items.get(name) ?? null,
    setItem: (name, value) => {
      const before = items.get(name);
      items.set(name, String(value));
      if (size() > quota) {
        before === undefined ? items.delete(name) : items.set(name, before);
        throw new globalThis.DOMException(`setting "${name}" exceeded the quota`, 'QuotaExceededError');
      }
    },
    removeItem: (name) => void items.delete(name),
  };
}

/** The exclusive locks of `navigator.locks` that are taken at once or not at all. */
export function memoryLocks() {
  const held = new Set();
  return {
    held,
    request: async (name, { mode, ifAvailable }, callback) => {
      if (mode !== 'exclusive' || !ifAvailable) {
        throw new TypeError('these locks do less');
      }
      if (held.has(name)) {
        return await callback(null);
      }
      held.add(name);
      try {
        return await callback({ name, mode });
      } finally {
        held.delete(name);
      }
    },
  };
}

/** The context of every operation. */
export const context = { signal: new AbortController().signal };

export const create = (key, id, delta, more = {}) => changes.create(id, key, delta, { time: 1, ...more });
export const append = (key, id, delta, more = {}) => {
  const data = JSON.stringify({ id, text: `événement ${id}` });
  return changes.append(id, key, delta, { time: 2, data, ...more });
};
export const update = (key, id, delta, more = {}) => changes.update(id, key, delta, { time: 3, ...more });

/** A store over a text, as somebody writes it in two lines; the text can be looked at and changed. */
export function textMedium(text = '') {
  const medium = {
    text,
    append: async (lines) => void (medium.text += lines.map((line) => `${line}\n`).join('')),
    read: () => medium.text.split('\n'),
  };
  return medium;
}

/** Opens a store. */
export async function opened(store, migrate = 'create') {
  await store.open?.({ migrate }, context);
  return store;
}

/** The answer of a load: the session as plain data, or the code of the error. */
export async function loaded(store, key, query = {}) {
  try {
    return JSON.parse(JSON.stringify(await store.load(key, query, context)));
  } catch (error) {
    if (error.code === undefined) {
      throw error;
    }
    return error.code;
  }
}

/** The checksum of a section, by another way than the journal's own: bit by bit. */
export function crc32(text) {
  let rest = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) {
      rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    }
  }
  return (~rest >>> 0).toString(16).padStart(8, '0');
}
