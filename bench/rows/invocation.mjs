/**
 * An invocation on a session of ten events: a context and two children write a key each, a template is rendered that
 * reads all three, and each of them appends an event.
 */

import { fill, makeEvent, stateText, TEMPLATE } from '../workload.mjs';
import { timeSamples } from '../measure.mjs';

const INVOCATIONS = 8;
const keyOf = (index) => ({ appName: `app-${index}`, userId: 'ana', sessionId: 'session' });

const event = (number) => {
  const { id, timestamp, content, actions } = makeEvent(number);
  return { id, timestamp, content, actions: { ...actions, stateDelta: {} } };
};

async function play({ invocation }, service, session, events) {
  const context = invocation(service, session, 'user');
  context.state.set('topic', 'spring tides');
  const [research, answer] = [context.child('research'), context.child('answer')];
  research.state.set('user:level', 5);
  answer.state.set('app:served', 1);
  const text = await answer.render(TEMPLATE);
  await context.append(events[0]);
  await research.append(events[1]);
  await answer.append(events[2]);
  context.end();
  return text;
}

export async function invocation(side, { quick }) {
  const service = side.createService();
  const first = await fill(service, keyOf(0), 10);
  const text = await play(side, service, first, [11, 12, 13].map(event));
  const proof = { text, state: stateText((await service.getSession(keyOf(0))).state) };
  const sample = async () => {
    const sessions = [];
    for (let index = 0; index < INVOCATIONS; index += 1) {
      await service.deleteSession(keyOf(index));
      sessions.push({ session: await fill(service, keyOf(index), 10), events: [11, 12, 13].map(event) });
    }
    let length = 0;
    const started = performance.now();
    for (const { session, events } of sessions) length += (await play(side, service, session, events)).length;
    const elapsed = ((performance.now() - started) * 1e6) / INVOCATIONS;
    if (length !== INVOCATIONS * text.length) throw new Error('a text is not whole');
    return elapsed;
  };
  return { proof, ...(await timeSamples(sample, quick ? 60 : 200)) };
}
