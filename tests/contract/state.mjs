// One call of state.json or invocation.json on a state.

import assert from 'node:assert/strict';
import { plain } from './read.mjs';

/** Makes the call and compares its answer. */
export function callState(state, { call: [method, ...args], is, absent }) {
  const answer = state[method](...args);
  if (absent) {
    assert.equal(answer, undefined, `${method} ${JSON.stringify(args)}`);
  } else if (is !== undefined) {
    assert.deepEqual(plain(answer), is, `${method} ${JSON.stringify(args)}`);
  }
}
