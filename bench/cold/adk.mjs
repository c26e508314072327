/** A process that imports ADK, creates one session and ends. */
import { InMemorySessionService } from '@google/adk';

const session = await new InMemorySessionService().createSession({
  appName: 'app',
  userId: 'ana',
  state: { topic: 'tides' },
});
process.exit(session.state.topic === 'tides' ? 0 : 1);
