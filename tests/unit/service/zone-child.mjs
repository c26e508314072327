// Uses the package in a program in which zone.js has taken the place of the global promise. Prints what came of it, as
// JSON.

import 'zone.js/node';
import { runInNewContext } from 'node:vm';
import { SessionService, injectSessionState, outputDelta, outputDeltaAsync } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY } from '../../support/fixtures.mjs';

const TARGETS = { session: KEY, user: { appName: 'app', userId: 'u' }, app: { appName: 'app' } };
const PLACES = {
  'in memory': () => ({}),
  'over a store': () => ({ store: memoryStore() }),
  'over a store that answers with promises of zone.js': () => ({ store: zoned(memoryStore()) }),
  'over callbacks': () => {
    const kept = [];
    return {
      persist: (changes) => new Promise((resolve) => setTimeout(() => resolve(void kept.push(...changes)), 1)),
      restore: () => Promise.resolve(kept),
    };
  },
};
const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));
const next = (state) => ({ 'app:n': (state['app:n'] ?? 0) + 1 });

/** Functions that count, each answering in another way. */
const FUNCTIONS = {
  'a plain object': next,
  'an async function': async (state) => next(state),
  'an async function that waits': async (state) => {
    await sleep(1);
    return next(state);
  },
  'a promise of zone.js': (state) => Promise.resolve(next(state)),
  'a promise of zone.js that is settled later': (state) =>
    new Promise((resolve) => setTimeout(() => resolve(next(state)), 1)),
  'a thenable': (state) => ({ then: (resolve) => resolve(next(state)) }),
  'a thenable that is settled later': (state) => ({
    then: (resolve) => void setTimeout(() => resolve(next(state)), 1),
  }),
  'a promise of another realm': (state) => runInNewContext('Promise.resolve(delta)', { delta: next(state) }),
};

/** A store whose methods answer with promises of zone.js, which are no promises of the language. */
function zoned(store) {
  const methods = Object.entries(store).filter(([, method]) => typeof method === 'function');
  return {
    ...store,
    ...Object.fromEntries(
      methods.map(([name, method]) => [
        name,
        (...args) => {
          const answer = method.apply(store, args);
          return typeof answer?.then === 'function'
            ? new Promise((resolve, reject) => answer.then(resolve, reject))
            : answer;
        },
      ]),
    ),
  };
}

/** The final content of a service. */
async function use(options) {
  const service = new SessionService(options);
  const session = await service.createSession(KEY);
  const counted = [];
  for (const target of Object.values(TARGETS)) {
    for (const fn of Object.values(FUNCTIONS)) {
      counted.push((await service.updateState(target, fn))['app:n']);
    }
  }
  const atOnce = await Promise.all(Object.values(FUNCTIONS).map((fn) => service.updateState(KEY, fn)));
  counted.push(...atOnce.map((state) => state['app:n']).toSorted((one, other) => one - other));

  const context = service.invocation(session, { invocationId: 'i', author: 'agent' });
  const event = { author: 'agent', content: { role: 'model', parts: [{ text: '{"a": 1}' }] } };
  const schema = (validate) => ({ '~standard': { version: 1, vendor: 'test', validate } });
  context.state.update(outputDelta(event, { outputKey: 'text' }));
  context.state.update(outputDelta(event, { outputKey: 'parsed', outputSchema: schema((value) => ({ value })) }));
  const later = { outputKey: 'awaited', outputSchema: schema((value) => sleep(1).then(() => ({ value }))) };
  let refused;
  try {
    outputDelta(event, later);
  } catch ({ code }) {
    refused = code;
  }
  context.state.update(await outputDeltaAsync(event, later));
  await Promise.all([context.append(event), context.append({ actions: { stateDelta: { 'user:own': true } } })]);
  const rendered = [
    await context.readonly.render(() => sleep(1).then(() => 'a promise')),
    await injectSessionState('{text} {artifact.f}', {
      state: session.state,
      artifact: (name) => Promise.resolve(`<${name}>`),
    }),
  ];
  context.end();

  const stored = await service.getSession(KEY);
  await service.close();
  return { counted, refused, rendered, handle: session.state, stored: stored.state, revision: stored.revision };
}

const unhandled = [];
process.on('unhandledRejection', (reason) => unhandled.push(String(reason)));
const heard = [];
const zone = globalThis.Zone.current.fork({
  name: 'test',
  onHandleError: (_parent, _current, _target, error) => void heard.push(String(error)),
});
const places = {};
for (const [name, options] of Object.entries(PLACES)) {
  places[name] = { outside: await use(options()), inside: await zone.run(() => use(options())) };
}
await sleep(5);
const isReplaced = Promise.name !== 'Promise' && !((async () => undefined)() instanceof Promise);
console.log(
  JSON.stringify({
    isReplaced,
    functions: Object.keys(FUNCTIONS).length,
    targets: Object.keys(TARGETS).length,
    places,
    unhandled,
    heard,
  }),
);
