// A store that lacks much, and says so, passes the cases that this leaves; one that is broken besides does not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runStoreCase, storeCases } from 'statepad/testing';
import { storeTests } from '../support/run.mjs';
import { foreignStore, LACKS } from './foreign.mjs';

const FEATURES = ['marks', 'changed', 'calls', 'creations', 'removals', 'log', 'digests', 'limits', 'expiry'];
const MEMBERS = [
  'reopen',
  'another',
  'removeScope',
  'commitMany',
  'watch',
  'lease',
  'trimLog',
  'sweep',
  'claim',
  'owners',
  'listApps',
  'listUsers',
  'sweep',
  'claim',
];
const OPERATORS = ['increment', 'append', 'setOnce', 'compareAndSet'];
const without = [...LACKS, ...FEATURES, ...MEMBERS, ...OPERATORS];

storeTests('foreign', () => ({ store: foreignStore() }), { without });

const left = storeCases.filter(({ needs }) => !needs.some((need) => without.includes(need)));

test('many cases are left', () => assert.ok(left.length > 20, `${left.length}`));

/** @type {Record<string, Parameters<typeof foreignStore>[0]>} */
const BROKEN = {
  'loses a value of the app': ({ load }) => ({
    load: async (...given) => {
      const loaded = await load(...given);
      const app = Object.fromEntries(Object.entries(loaded?.state.app ?? {}).slice(1));
      return loaded && { ...loaded, state: { ...loaded.state, app: Object.setPrototypeOf(app, null) } };
    },
  }),
  'loses a member of an event': ({ load }) => ({
    load: async (...given) => {
      const loaded = await load(...given);
      return loaded && { ...loaded, events: loaded.events.map((event) => ({ ...event, data: '{"id":"e1"}' })) };
    },
  }),
  'counts events wrongly': ({ load }) => ({
    load: async (...given) => {
      const loaded = await load(...given);
      return loaded && { ...loaded, rev: loaded.rev + 1 };
    },
  }),
  'writes an event again': ({ commit }) => ({
    commit: async (change, context) =>
      await commit(change.kind === 'append' ? { ...change, id: `${change.id}-${Math.random()}` } : change, context),
  }),
  'makes a session anew that is there': ({ commit, remove }) => ({
    commit: async (change, context) => {
      if (change.kind === 'create') await remove(change.key, context);
      return await commit(change, context);
    },
  }),
  'compares no values': ({ commit }) => ({
    commit: async (change, context) => await commit({ ...change, guard: undefined }, context),
  }),
  'lists one session less': ({ list }) => ({
    list: async (...given) => {
      const page = await list(...given);
      return { ...page, rows: page.rows.slice(1) };
    },
  }),
  'counts one session less': ({ list }) => ({
    list: async (...given) => {
      const page = await list(...given);
      return { ...page, total: Math.max(0, page.total - 1) };
    },
  }),
  'keeps what was deleted': ({ remove }) => ({ remove: async (key, context) => void (remove, key, context) }),
};

for (const [name, change] of Object.entries(BROKEN)) {
  test(`one that ${name} is caught`, async () => {
    const failed = [];
    for (const storeCase of left) {
      await runStoreCase(storeCase, () => ({ store: foreignStore(change) })).catch(() => failed.push(storeCase.name));
    }
    assert.notDeepEqual(failed, []);
  });
}
