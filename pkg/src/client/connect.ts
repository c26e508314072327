// Connecting to a server.

import { checkConnection, type ConnectOptions } from './options.js';
import { SessionClient } from './session-client.js';

/**
 * Connects to a server of `statepad/serve`. The client has the methods of a `SessionService`, and is a source for
 * `statepad/react`. Nothing is sent before the first call.
 *
 * Throws `INVALID_ARGUMENT` for options that it cannot use.
 *
 * @example
 * const client = connect({ url: 'https://example.com/agents', token });
 * const session = await client.getOrCreateSession({ appName: 'tutor', userId: 'ana', sessionId: 'monday' });
 * await client.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { topic: 'tides' } } } });
 * session.state; // { topic: 'tides' }
 */
export function connect(options: ConnectOptions | string | URL): SessionClient {
  return new SessionClient(checkConnection(options));
}
