// A store in memory that tells no more than one over the storage of others can.

import { StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';

/** All that a store may lack. */
export const LACKS = [
  'revisions',
  'order',
  'texts',
  'ids',
  'times',
  'clock',
  'created',
  'beginnings',
  'repeats',
  'scopes',
  'operators',
  'sizes',
];

const reversed = (value) => {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reversed);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, inner]) => [name, reversed(inner)]),
  );
};
const names = (values) => values && Object.setPrototypeOf(reversed(values), null);
const text = (data) => JSON.stringify(reversed({ ...JSON.parse(data), timestamp: 77 }));
const position = () => ({ app: Math.random(), user: Math.random() });

/**
 * A store whose positions say nothing, whose times are its own, whose creations have other ids, which keeps no
 * beginnings and gives names and members back in another order. `change` may spoil it.
 */
export function foreignStore(change = () => ({})) {
  const inner = memoryStore({ log: false });
  const commit = async ({ event, ...rest }, context) => {
    const kept = rest.kind === 'create' ? rest : { ...rest, event };
    const { rev, prev, duplicate, data } = await inner.commit(kept, context);
    return { rev, prev, pos: position(), ...(duplicate && { duplicate, ...(data && { data: text(data) }) }) };
  };
  const load = async (key, query, context) => {
    const loaded = await inner.load(key, query, context);
    return (
      loaded && {
        created: 'theirs',
        rev: loaded.rev,
        time: 77,
        pos: position(),
        state: Object.fromEntries(Object.entries(loaded.state).map(([scope, values]) => [scope, names(values)])),
        events: loaded.events.map(({ rev, data }) => ({ rev, data: text(data) })),
      }
    );
  };
  const list = async (query, context) => {
    const page = await inner.list(query, context);
    const rows = page.rows.map((row) => ({ ...row, created: 'theirs', time: 77, rev: 0, state: names(row.state) }));
    const users = new Map([...page.users].map(([user, values]) => [user, names(values)]));
    return { rows, app: names(page.app), users, total: page.total };
  };
  const loadScope = async (scope, context) => {
    const { state } = await inner.loadScope(scope, context);
    if (Object.keys(state).length === 0) {
      throw new StoreError('rejected', 'there is no session to tell it by');
    }
    return { pos: Math.random(), state: names(state) };
  };
  const store = { commit, load, list, loadScope, remove: inner.remove, lacks: LACKS, guards: 'keys' };
  return { ...store, ...change(store) };
}
