// The store in Agent Engine, over a fake of it: the store cases that its needs allow.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingNeeds, runStoreCase, storeCases } from 'statepad/testing';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { context, create, keyOf, storeOver } from './words.mjs';

/** The features that the API lacks. */
const LACKS = ['revisions', 'order', 'texts', 'ids', 'times', 'clock', 'beginnings', 'repeats', 'scopes', 'operators'];
const FEATURES = ['marks', 'changed', 'calls', 'creations', 'removals', 'log', 'digests', 'limits', 'expiry'];
const MEMBERS = ['removeScope', 'commitMany', 'watch', 'lease', 'trimLog', 'sweep', 'claim', 'keys', 'listApps'];
const OPERATORS = ['increment', 'append', 'setOnce', 'compareAndSet'];
const WITHOUT = [...LACKS, ...FEATURES, ...MEMBERS, ...OPERATORS];

/** Cases that ask for what the API refuses, and what is refused in them. */
const REFUSED = {
  // Two users of an app have sessions of one id: in an engine an id is taken once.
  'app values reach all users of the app, user values all sessions of the user in this app, session values only their session':
    'exists',
  'one session id may be in use by several users and in several apps': 'exists',
  'the owners of an id are the users that have a session with it: none, one or several': 'exists',
  'a user owns an id until the session is removed, and again once it is created anew': 'exists',
  'owners are those of all stores on the storage': 'exists',
  'owners stay when the storage is opened again': 'exists',
  // A value that is nested a hundred times: protobuf reads no deeper message.
  'values at the edges of JSON come back as they were, in every scope': 'rejected',
};

const depth = (value) =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0;

/** An engine for each app, whatever it is called. */
function engines() {
  const ids = new Map();
  return (app) => {
    ids.set(app, ids.get(app) ?? String(1_000 + ids.size));
    return ids.get(app);
  };
}

for (const [name, clock] of Object.entries({
  'agent engine': {},
  // Sessions that were last written to long ago are read with fewer requests.
  'agent engine, an hour ago': { now: () => Date.now() - 3_600_000 },
})) {
  const open = () => {
    const [vertex, engine] = [fakeVertexAi(clock), engines()];
    const make = () => storeOver(vertex, { engine });
    return { store: make(), reopen: make, another: make };
  };
  const cases = storeCases.filter(({ needs }) => !needs.some((need) => WITHOUT.includes(need)));
  for (const storeCase of cases.filter((each) => !(each.name in REFUSED))) {
    test(`${name}: ${storeCase.name}`, () => runStoreCase(storeCase, open));
  }
  for (const [refused, code] of Object.entries(REFUSED)) {
    const storeCase = cases.find((each) => each.name === refused);
    test(`${name}: what the API refuses is ${code}: ${refused}`, () =>
      assert.rejects(
        runStoreCase(storeCase, open),
        new RegExp(`it throws ${code}$|the answer is \\{"throws":"${code}"\\}, not`),
      ));
  }
  test(`${name}: values that are not nested as deep come back as they were`, async () => {
    const [made] = cases.find((each) => each.name.startsWith('values at the edges')).steps;
    const values = Object.fromEntries(
      Object.entries(made.commit.delta.app.set).filter(([, value]) => depth(value) < 50),
    );
    const { store } = open();
    for (const scope of ['app', 'user', 'session']) {
      const key = keyOf(scope);
      await store.commit(create(scope, key, { [scope]: { set: values } }), context);
      const { state } = await store.load(key, {}, context);
      assert.deepEqual({ ...state[scope] }, JSON.parse(JSON.stringify(values)));
    }
    assert.ok(Object.keys(values).length > 150);
  });
  test(`${name}: lacks what it says, and nothing else`, () => {
    assert.deepEqual(missingNeeds({ needs: WITHOUT }, open()), WITHOUT);
    assert.deepEqual(open().store.lacks, LACKS);
  });
}
