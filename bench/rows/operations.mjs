/**
 * One row for each public operation that no other file measures, on short sessions of ten events. Each sample has new
 * sessions, which are made before the clock starts; the operation runs once on each.
 */

import { applyChange, createEvent, increment, outputDelta, Template } from 'statepad';
import { fill, makeEvent, STATE, stateText, TEMPLATE } from '../workload.mjs';
import { time, timeSamples } from '../measure.mjs';

const SESSIONS = 32;
const LENGTH = 10;

const keyOf = (index) => ({ appName: `app-${index}`, userId: 'ana', sessionId: `session-${index}` });

/**
 * A row of one operation. `before` prepares a session for it; `run` answers what shows that it was done.
 *
 * @param {(service: any, session: any, key: any, prepared: any) => Promise<unknown>} run
 * @param {(service: any, session: any, key: any) => Promise<unknown>} [before]
 */
const operation = (run, before = async () => undefined) =>
  async function measure({ createService }, { quick }) {
    const service = createService();
    const proof = await run(service, ...(await prepared(service, 0, before)));
    let next = 1;
    const sample = async () => {
      const all = [];
      while (all.length < SESSIONS) all.push(await prepared(service, (next += 1), before));
      const started = performance.now();
      for (const each of all) await run(service, ...each);
      const elapsed = ((performance.now() - started) * 1e6) / SESSIONS;
      for (const [, key] of all) await service.deleteSession(key);
      return elapsed;
    };
    return { proof: JSON.stringify(proof), ...(await timeSamples(sample, quick ? 60 : 200)) };
  };

/** A session of its own app, with what `before` has prepared. */
async function prepared(service, index, before) {
  const key = keyOf(index);
  const session = await fill(service, key, LENGTH);
  return [session, key, await before(service, session, key)];
}

/** A row of a function that needs no service. */
const call = (run) =>
  async function measure(_side, options) {
    return { proof: JSON.stringify(run()), ...(await time(() => JSON.stringify(run()).length, options)) };
  };

export const remove = operation(async (service, _session, key) => {
  await service.deleteSession(key);
  return (await service.getSession(key)) === undefined;
});

export const getOrCreate = operation(async (service, _session, key) =>
  stateText((await service.getOrCreateSession(key)).state),
);

export const appState = operation(async (service, _session, { appName }) => service.getAppState({ appName }));

export const userState = operation(async (service, _session, { appName, userId }) =>
  service.getUserState({ appName, userId }),
);

const visit = ({ visits }) => ({ visits: visits + 1 });
export const update = operation(async (service, session) => (await service.updateState(session, visit)).visits);

export const updateShared = operation(
  async (service, _session, { appName }) =>
    (await service.updateState({ appName }, (state) => ({ 'app:served': state['app:served'] + 1 })))['app:served'],
);

export const updateByOperator = operation(
  async (service, session) => (await service.updateState(session, () => ({ visits: increment(1) }))).visits,
);

export const stateAt = operation(async (service, session) => (await service.stateAt(session, 5)).topic);

export const history = operation(async (service, session) => (await service.history(session, 'topic')).length);

export const sharedHistory = operation(
  async (service, _session, { appName }) => (await service.history({ appName, key: 'app:served' })).steps.length,
);

export const trim = operation(async (service, _session, { appName }) => {
  await service.trimHistory({ appName }, { before: Date.now() + 1_000 });
  return (await service.history({ appName, key: 'app:served' })).exact;
});

const REWOUND = { before: 'turn-3' };
export const rewind = operation(async (service, session) => (await service.rewind(session, REWOUND)).revision);

export const redo = operation(
  async (service, session) => (await service.redo(session)).revision,
  async (service, session) => service.rewind(session, REWOUND),
);

export const fork = operation(
  async (service, session, { sessionId }) =>
    (await service.fork(session, { at: 5, sessionId: `${sessionId}-fork` })).state.topic,
);

export const lease = operation(async (service, session) => {
  const taken = await service.lease(session, { ttl: 10_000 });
  await taken.release();
  return taken.session.revision;
});

/** From the append until a reader that waits for it has it. */
export const watch = operation(
  async (service, session, _key, { changes, first }) => {
    await service.appendEvent({ session, event: makeEvent(LENGTH) });
    const { value } = await first;
    await changes.return();
    return value.revision;
  },
  async (service, session) => {
    const changes = service.watch(session)[Symbol.asyncIterator]();
    return { changes, first: changes.next() };
  },
);

const template = new Template(TEMPLATE);
/** Rendered with nothing to wait for: the price of a promise. */
export async function renderAsync(_side, options) {
  const render = async () => (await template.renderAsync({ state: STATE })).length;
  return { proof: JSON.stringify(await render()), ...(await time(render, options)) };
}

export const event = call(() => createEvent({ id: 'e', author: 'tutor', timestamp: 1 }));

/** A change of a whole session, applied to the session before, as a page does at each change. */
export async function change({ createService }, options) {
  const service = createService();
  const key = keyOf(0);
  const session = await fill(service, key, LENGTH);
  const changes = service.watch({ ...key, whole: true })[Symbol.asyncIterator]();
  const before = applyChange(undefined, (await changes.next()).value);
  await service.appendEvent({ session, event: makeEvent(LENGTH) });
  const { value } = await changes.next();
  await changes.return();
  const apply = () => applyChange(before, value).revision;
  return { proof: apply(), ...(await time(apply, options)) };
}

const ANSWER = createEvent({ author: 'tutor', content: { role: 'model', parts: [{ text: 'The moon.' }] } });
export const output = call(() => outputDelta(ANSWER, { outputKey: 'answer' }));
