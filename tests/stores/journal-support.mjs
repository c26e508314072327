// What the tests of journals share.

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

/** What `navigator.locks` does for exclusive locks that are wanted at once or not at all. */
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
