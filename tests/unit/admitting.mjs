// What tests of what comes in share.

import assert from 'node:assert/strict';
import { SessionService, isStatepadError } from 'statepad';
import { KEY } from '../support/fixtures.mjs';

/** A service in memory with a session that begins with `state`. */
export async function open(state = {}) {
  const service = new SessionService();
  return { service, session: await service.createSession({ ...KEY, state }) };
}

/** Fails unless the promise is refused as no JSON, at this place. */
export async function refused(promise, path) {
  await assert.rejects(promise, (error) => {
    assert.ok(isStatepadError(error), error?.stack);
    assert.equal(error.code, 'VALUE_NOT_JSON');
    assert.equal(error.path, path);
    assert.ok(error.message.includes(path), error.message);
    return true;
  });
}
