// Helpers of the tests of admission.

import assert from 'node:assert/strict';
import { isStatepadError } from 'statepad';
import { KEY } from '../../support/fixtures.mjs';

/** The service that is tested: the package's, or that of another module, whose URL STATEPAD_SERVICE is. */
const { SessionService } = await import(process.env.STATEPAD_SERVICE ?? 'statepad');

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
