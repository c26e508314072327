/** Creating sessions with three keys: one of the session, one of the user, one of the app. */

import { readState, stateText } from '../workload.mjs';
import { timeSamples } from '../measure.mjs';

const SESSIONS = 32;
const STATE = { topic: 'tides', 'user:level': 3, 'app:served': 0 };
const keyOf = (index) => ({ appName: 'app', userId: `user-${index}`, sessionId: `session-${index}` });

export async function create({ createService }, { quick }) {
  const service = createService();
  const first = await service.createSession({ ...keyOf(0), state: STATE });
  let next = 1;
  const sample = async () => {
    const requests = Array.from({ length: SESSIONS }, () => ({ ...keyOf((next += 1)), state: { ...STATE } }));
    const sessions = [];
    const started = performance.now();
    for (const request of requests) sessions.push(await service.createSession(request));
    const elapsed = ((performance.now() - started) * 1e6) / SESSIONS;
    if (!sessions.every((session) => readState(session) === 3)) throw new Error('a session has not its state');
    for (const { appName, userId, sessionId } of requests) await service.deleteSession({ appName, userId, sessionId });
    return elapsed;
  };
  return { proof: stateText(first.state), ...(await timeSamples(sample, quick ? 150 : 400)) };
}
