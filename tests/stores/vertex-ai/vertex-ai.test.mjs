// The store in Agent Engine, over a fake of it: the store cases that its needs allow.

import { fakeVertexAi } from 'statepad/testing/vertex';
import { storeTests } from '../support/run.mjs';
import { storeOver } from './words.mjs';

/** What the API has nothing for. */
const LACKS = ['revisions', 'order', 'texts', 'ids', 'times', 'clock', 'beginnings', 'repeats', 'scopes', 'operators'];
const FEATURES = ['marks', 'changed', 'calls', 'creations', 'log'];
const MEMBERS = ['removeScope', 'commitMany', 'watch', 'lease', 'trimLog', 'keys'];
const OPERATORS = ['increment', 'append', 'setOnce', 'compareAndSet'];
const without = [...LACKS, ...FEATURES, ...MEMBERS, ...OPERATORS];

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
  'agent engine, whose clock is an hour behind': { now: () => Date.now() - 3_600_000 },
})) {
  storeTests(
    name,
    () => {
      const [vertex, engine] = [fakeVertexAi(clock), engines()];
      const make = () => storeOver(vertex, { engine });
      return { store: make(), reopen: make, another: make };
    },
    { without },
  );
}
