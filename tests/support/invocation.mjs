// Sessions and contexts that tests of invocations begin with.

import { SessionService } from 'statepad';
import { KEY } from './fixtures.mjs';

/** A service with a session, and the context of an invocation of it. */
export async function begin(state = {}, options = {}) {
  const service = new SessionService(options);
  const session = await service.createSession({ ...KEY, state });
  return { service, session, context: service.invocation(session, { invocationId: 'i', author: 'agent' }) };
}
