/** A process that imports statepad, creates one session and ends. */
import { SessionService } from 'statepad';

const session = await new SessionService().createSession({ appName: 'app', userId: 'ana', state: { topic: 'tides' } });
process.exit(session.state.topic === 'tides' ? 0 : 1);
