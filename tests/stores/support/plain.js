// Stores as tests call them: in Node, in pages and in workers.

/** The methods of a store without the context that each of them gets. Workers can make a signal in a request only. */
export function plain(store, context = { signal: new AbortController().signal }) {
  const methods = Object.entries(store).map(([name, member]) => [
    name,
    typeof member === 'function' ? (...args) => member.call(store, ...args, context) : member,
  ]);
  const remove = (key, guard) => store.remove(key, context, guard);
  return { ...Object.fromEntries(methods), remove };
}
