import { SessionService, Template, createEvent } from 'statepad';

/** Creates, appends, reads and renders. The same on every host. */
export async function converse() {
  const service = new SessionService();
  const key = { appName: 'tutor', userId: 'ana', sessionId: 's1' };
  const session = await service.createSession({ ...key, state: { topic: 'tides' } });
  const event = createEvent({
    author: 'tutor',
    invocationId: 'inv-1',
    actions: { stateDelta: { 'user:name': 'Ana', level: 2, 'temp:draft': true } },
  });
  await service.appendEvent({ session, event });
  const again = await service.getSession(key);
  return {
    text: new Template('{topic} for {user:name}, level {level}').render({ state: again.state }),
    revision: again.revision,
    events: again.events.length,
    keptTemporary: 'temp:draft' in again.state,
  };
}
