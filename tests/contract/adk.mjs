// ADK's own in-memory service, State and templates as a side of the contract.

import {
  InMemoryArtifactService,
  InMemorySessionService,
  LogLevel,
  State,
  createEvent,
  setLogLevel,
} from '@google/adk';
import assert from 'node:assert/strict';
import { KEY } from '../support/fixtures.mjs';
import { followed, listed, makeSessions } from './lists.mjs';
import { plain } from './read.mjs';
import { runScenario, stepsOfOneSession } from './scenario.mjs';
import { callState } from './state.mjs';

// ADK does not export it: it lies beside its index.
const { injectSessionState } = await import(
  new URL('agents/instructions.js', import.meta.resolve('@google/adk')).href
);

// It warns of what the cases do on purpose.
setLogLevel(LogLevel.ERROR);

/** A new service of ADK. What has no name there is read where it is kept. */
export function adkSide(service = new InMemorySessionService()) {
  return {
    create: (request) => service.createSession(request),
    get: ({ last, after, ...session }) =>
      service.getSession({ ...session, config: { numRecentEvents: last, afterTimestamp: after } }),
    append: ({ session, event }) => service.appendEvent({ session, event: adkEvent(event) }),
    delete: (session) => service.deleteSession(session),
    list: async (request) => (await service.listSessions(request)).sessions,
    appState: async (appName) => service.appState[appName] ?? {},
    userState: async (appName, userId) => service.userState[appName]?.[userId] ?? {},
  };
}

/** An event of ADK; its deletions in the form in which statepad stores them. */
function adkEvent({ unset, ...event }) {
  const stateDelta = { ...event.actions.stateDelta, ...Object.fromEntries(unset.map((name) => [name, null])) };
  const metadata = unset.length > 0 ? { customMetadata: { statepad: { deleted: unset } } } : {};
  return createEvent({ ...event, ...metadata, actions: { ...event.actions, stateDelta } });
}

/** By file, what holds a case against ADK: it throws when ADK answers otherwise. */
export const adkRuns = {
  scope: async ({ key: full, scope, bare }) => {
    const service = new InMemorySessionService();
    const side = adkSide(service);
    const session = await side.create({ ...KEY, state: {} });
    await side.append({ session, event: { invocationId: 'i', actions: { stateDelta: { [full]: 1 } }, unset: [] } });
    assert.deepEqual(plain((await side.get(KEY)).state), scope === 'temp' ? {} : { [full]: 1 });
    assert.deepEqual(plain(await side.appState('app')), scope === 'app' ? { [bare]: 1 } : {});
    assert.deepEqual(plain(await side.userState('app', 'u')), scope === 'user' ? { [bare]: 1 } : {});
    const sibling = await side.create({ ...KEY, sessionId: 't' });
    assert.deepEqual(plain(sibling.state), scope === 'app' || scope === 'user' ? { [full]: 1 } : {});
  },
  state: ({ value, do: calls, set, unset, record }) => {
    const delta = {};
    const state = new State(structuredClone(value), delta);
    calls.forEach((call) => callState(state, call));
    assert.deepEqual(plain(delta), { ...set, ...Object.fromEntries(unset.map((name) => [name, null])) });
    assert.deepEqual(plain(state.toRecord()), record);
  },
  session: (given) => runScenario(adkSide(), stepsOfOneSession(given)),
  sessions: ({ steps }) => runScenario(adkSide(), steps),
  list: async ({ list, ids, pages, error, page, limit, totalItems, totalPages }, { sessions }) => {
    const service = new InMemorySessionService();
    await makeSessions(service, sessions);
    // ADK sorts only when it is asked to. Two cases show that; in the others it must not hide what a page is.
    const isPage = ['limit', 'offset', 'page', 'cursor'].some((name) => name in list);
    const request = { appName: 'app', ...(isPage ? { order: 'asc' } : {}), ...list };
    if (error !== undefined) {
      await refuses(async () => listed(await service.listSessions(request)));
      return;
    }
    const answer = await service.listSessions(request);
    if (pages === undefined) {
      assert.deepEqual(listed(answer), ids);
      assert.deepEqual({ ...answer, sessions: [] }, { sessions: [], page, limit, totalItems, totalPages });
    } else {
      assert.deepEqual(await followed(service, request), pages);
    }
  },
  template: async ({ template, state = {}, artifacts, ok, missing }) => {
    const rendering = adkRender(template, state, artifacts);
    if (missing === undefined) {
      assert.equal(await rendering, ok);
    } else {
      await refuses(async () => await rendering);
    }
  },
};

/** Fails with the answer when there is one. */
async function refuses(call) {
  let actual;
  try {
    actual = await call();
  } catch {
    return;
  }
  throw new assert.AssertionError({ message: 'should be refused', actual, operator: 'refuses' });
}

/**
 * The answer of ADK in the place of the case, as JSON: the first answer that differs, with its question; or the error
 * that it throws. `undefined` when it does what the case asks for.
 */
export async function adkAnswer(run, given, all) {
  try {
    await run(given, all);
    return undefined;
  } catch (error) {
    const [step] = /^step \d+ \(\w+\)/.exec(error.message) ?? [];
    if (!(error instanceof assert.AssertionError)) {
      return { throws: error.message };
    }
    const asked = error.generatedMessage ? (step ?? 'the answer') : error.message.split('\n')[0];
    return { [asked]: told(error.actual) ?? 'nothing' };
  }
}

/** An answer without what chance and clocks put into it. */
function told(actual) {
  if (typeof actual === 'string') {
    return /^[\da-z]{8}$/i.test(actual)
      ? '<8 characters>'
      : actual.replace(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/, '<uuid>');
  }
  if (typeof actual === 'number') {
    return actual > 1e12 ? '<now>' : actual;
  }
  if (actual?.actions !== undefined) {
    return { id: told(actual.id), stateDelta: plain(actual.actions.stateDelta) };
  }
  return actual?.events === undefined
    ? plain(actual)
    : { id: told(actual.id), state: plain(actual.state), events: actual.events.map(({ id }) => told(id)) };
}

/** Renders with ADK's own function. */
export async function adkRender(template, state, artifacts) {
  let artifactService;
  if (artifacts !== undefined) {
    artifactService = new InMemoryArtifactService();
    artifactService.loadArtifact = async ({ filename }) =>
      Object.hasOwn(artifacts, filename) ? { text: String(artifacts[filename]) } : undefined;
  }
  const invocationContext = { session: { ...KEY, id: 's', state, events: [] }, artifactService };
  return await injectSessionState(template, { invocationContext });
}
