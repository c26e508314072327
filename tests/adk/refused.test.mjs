/**
 * A refused append changes no later append of anybody: neither what it stores nor what it says.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEvent, State } from '@google/adk';
import fc from 'fast-check';
import { isStatepadError, StoreError } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { StatepadSessionService } from 'statepad/adk';
import { KEY } from './harness.mjs';

/** @typedef {import('@google/adk').Event} Event */
/** @typedef {'stored' | 'invalid' | 'rejected' | 'unavailable' | 'cut' | 'answer lost'} Outcome */

/**
 * A service over a store that answers to each event once as it is told, and then lets it pass.
 *
 * @param {Map<string, Outcome>} outcomes by the event's id
 */
function refusing(outcomes) {
  const { commit, load, list, remove, loadScope } = memoryStore();
  return new StatepadSessionService({
    retry: { attempts: 1 },
    store: {
      load,
      list,
      remove,
      loadScope,
      async commit(change, context) {
        const outcome = outcomes.get(change.id);
        outcomes.delete(change.id);
        if (outcome === 'rejected' || outcome === 'unavailable') throw new StoreError(outcome, 'told to refuse');
        if (outcome === 'cut') throw new Error('the connection is cut');
        const committed = await commit(change, context);
        if (outcome === 'answer lost') throw new Error('the connection is cut');
        return committed;
      },
    },
  });
}

/** The content that an event is refused for before any store is asked. */
const INVALID = /** @type {import('@google/genai').Content} */ (/** @type {unknown} */ ({ parts: [{ text: 1n }] }));

/** A session, and agents that write to it and send events as ADK's agents do. */
class Branches {
  /** @param {StatepadSessionService} service @param {Map<string, Outcome>} outcomes */
  static async open(service, outcomes) {
    return new Branches(service, await service.createSession(KEY), outcomes);
  }

  /**
   * @param {StatepadSessionService} service @param {import('@google/adk').Session} session @param {Map<string,
   * Outcome>} outcomes
   */
  constructor(service, session, outcomes) {
    this.service = service;
    this.session = session;
    this.outcomes = outcomes;
    /** @type {Map<string, { delta: Record<string, unknown>, made: Map<string, number> }>} */
    this.pending = new Map();
    /**
     * The writes that are stored: of each key the one made last. @type {Map<string, { value: unknown, made: number }>}
     */
    this.model = new Map();
    this.clock = 0;
  }

  /** @param {string} agent */
  delta(agent) {
    const found = this.pending.get(agent) ?? { delta: {}, made: new Map() };
    this.pending.set(agent, found);
    return found;
  }

  /** @param {string} agent @param {string} key */
  write(agent, key) {
    const { delta, made } = this.delta(agent);
    made.set(key, ++this.clock);
    new State(this.session.state, delta).set(key, `${agent}${this.clock}`);
  }

  /**
   * An event with what an agent has written; the agent begins anew. @param {string} agent @param {readonly string[]}
   * unstamped
   */
  event(agent, unstamped) {
    const { delta, made } = this.delta(agent);
    this.pending.delete(agent);
    const event = createEvent({
      author: agent,
      invocationId: 'i',
      actions: /** @type {any} */ ({
        stateDelta: delta,
        artifactDelta: {},
        requestedAuthConfigs: {},
        requestedToolConfirmations: {},
      }),
    });
    for (const key of unstamped.filter((key) => !made.has(key))) {
      // As an output key: ADK does not stamp it, so that it counts as written when it is appended.
      made.set(key, Infinity);
      event.actions.stateDelta[key] = `${agent} on top ${++this.clock}`;
    }
    return { event, made };
  }

  /**
   * Appends it, and says whether it is stored. @param {ReturnType<Branches['event']>} sent @param {Outcome} outcome
   */
  async append({ event, made }, outcome) {
    const now = ++this.clock;
    const given = outcome === 'invalid' ? { ...event, content: INVALID } : event;
    if (outcome !== 'stored' && outcome !== 'invalid') this.outcomes.set(event.id, outcome);
    const isRefused = await this.service.appendEvent({ session: this.session, event: given }).then(
      () => false,
      (error) => {
        const codes = {
          invalid: 'VALUE_NOT_JSON',
          rejected: 'INVALID_ARGUMENT',
          unavailable: 'STORE_UNAVAILABLE',
          cut: 'COMMIT_UNKNOWN',
          'answer lost': 'COMMIT_UNKNOWN',
          stored: '',
        };
        assert.ok(isStatepadError(error), error?.stack);
        assert.equal(error.code, codes[outcome]);
        return true;
      },
    );
    assert.equal(isRefused, outcome !== 'stored');
    if (outcome === 'stored' || outcome === 'answer lost') {
      for (const [key, value] of Object.entries(event.actions.stateDelta)) {
        const time = Math.min(made.get(key) ?? now, now);
        made.set(key, time);
        if (time >= (this.model.get(key)?.made ?? 0)) this.model.set(key, { value, made: time });
      }
    }
  }

  async check() {
    const stored = await this.service.getSession(KEY);
    assert.deepEqual(
      { ...stored?.state },
      Object.fromEntries([...this.model].map(([key, { value }]) => [key, value])),
    );
  }
}

const agents = fc.constantFrom('a', 'b', 'c');
const keys = fc.constantFrom('k', 'user:k', 'app:k');

/** @param {readonly Outcome[]} outcomes */
const steps = (outcomes) =>
  fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.record({ agent: agents, key: keys }) },
      {
        weight: 2,
        arbitrary: fc.record({
          agent: agents,
          outcome: fc.constantFrom(...outcomes),
          unstamped: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.tuple(keys)),
          again: fc.boolean(),
        }),
      },
    ),
    { maxLength: 25 },
  );

/**
 * @param {readonly Outcome[]} outcomes
 * @param {(told: Map<string, Outcome>) => StatepadSessionService} make
 */
async function law(outcomes, make) {
  const property = fc.asyncProperty(steps(outcomes), async (taken) => {
    /** @type {Map<string, Outcome>} */
    const told = new Map();
    const branches = await Branches.open(make(told), told);
    /** @type {ReturnType<Branches['event']>[]} */
    const refused = [];
    for (const step of taken) {
      if ('key' in step) {
        branches.write(step.agent, step.key);
      } else {
        const sent = branches.event(step.agent, step.unstamped);
        await branches.append(sent, step.outcome);
        if (step.outcome !== 'stored' && step.again) refused.push(sent);
        await branches.check();
      }
    }
    for (const sent of refused) {
      await branches.append(sent, 'stored');
      await branches.check();
    }
  });
  await fc.assert(property, { numRuns: 150 });
}

test('the last write of what is stored wins, whatever is refused: in memory', async () => {
  await law(['stored', 'stored', 'invalid'], () => new StatepadSessionService());
});

test('the last write of what is stored wins, whatever is refused: over a store', async () => {
  await law(['stored', 'stored', 'invalid', 'rejected', 'unavailable', 'cut', 'answer lost'], refusing);
});

test('appends that are asked for at once judge each other by what becomes of them', async () => {
  const events = fc.array(
    fc.record({
      agent: agents,
      key: keys,
      outcome: fc.constantFrom(
        /** @type {Outcome} */ ('stored'),
        /** @type {Outcome} */ ('rejected'),
        /** @type {Outcome} */ ('answer lost'),
      ),
    }),
    { maxLength: 8 },
  );
  const property = fc.asyncProperty(events, fc.infiniteStream(fc.nat()), async (written, order) => {
    const told = new Map();
    const branches = await Branches.open(refusing(told), told);
    const sent = written.map(({ agent, key, outcome }) => {
      branches.write(agent, key);
      return { event: branches.event(agent, []), outcome, at: order.next().value };
    });
    sent.sort((one, other) => one.at - other.at);
    await Promise.all(sent.map(({ event, outcome }) => branches.append(event, outcome)));
    await branches.check();
    const log = await branches.service.getSession(KEY);
    const stored = sent.filter(({ outcome }) => outcome !== 'rejected');
    assert.deepEqual(
      log?.events.map(({ id }) => id),
      stored.map(({ event }) => event.event.id),
    );
  });
  await fc.assert(property, { numRuns: 100 });
});

test('NaN is refused, not taken for a write that was overtaken', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  const actions = /** @type {any} */ ({ stateDelta: { x: NaN, y: 1 } });
  await assert.rejects(
    service.appendEvent({ session, event: createEvent({ actions }) }),
    (error) => isStatepadError(error) && error.code === 'VALUE_NOT_JSON',
  );
  const stored = await service.appendEvent({
    session,
    event: createEvent({ actions: /** @type {any} */ ({ stateDelta: { x: 1 } }) }),
  });
  assert.deepEqual({ ...stored.actions.stateDelta }, { x: 1 });
});

test('an event that is given again says what it said, although its keys have been written since', async () => {
  const service = new StatepadSessionService();
  const branches = await Branches.open(service, new Map());
  branches.write('a', 'k');
  const early = branches.event('a', []);
  await branches.append(early, 'stored');
  branches.write('b', 'k');
  await branches.append(branches.event('b', []), 'stored');
  const again = await service.appendEvent({ session: branches.session, event: early.event });
  assert.deepEqual({ ...again.actions.stateDelta }, { k: 'a1' });
  await branches.check();
  assert.deepEqual({ ...branches.session.state }, { k: 'b3' });
  assert.equal(branches.session.events.length, 2);
});

/** @param {() => Promise<unknown>} run */
async function warningsOf(run) {
  /** @type {Error[]} */
  const heard = [];
  const listen = (/** @type {Error} */ warning) => heard.push(warning);
  process.on('warning', listen);
  await run();
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', listen);
  return heard.map(({ message }) => message);
}

test('a stored event resolves, also when the state holds a proxy that was revoked', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession({ ...KEY, state: { x: 0, y: 0 } });
  const { proxy, revoke } = Proxy.revocable({}, {});
  session.state.x = proxy;
  revoke();
  const warnings = await warningsOf(async () => {
    await service.service.updateState(KEY, () => ({ x: 2, y: 2 }));
    await service.appendEvent({
      session,
      event: createEvent({ actions: /** @type {any} */ ({ stateDelta: { z: 1 } }) }),
    });
  });
  assert.deepEqual(warnings, []);
  assert.equal(session.state.x, proxy, 'it waits for an event of its own');
  assert.equal(session.state.y, 2);
  assert.equal(session.state.z, 1);
  assert.deepEqual({ ...(await service.getSession(KEY))?.state }, { x: 2, y: 2, z: 1 });
});

test('a stored event resolves, also when the session cannot be brought up to date, which is told', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  Object.freeze(session.state);
  const warnings = await warningsOf(async () => {
    const event = await service.appendEvent({
      session,
      event: createEvent({ actions: /** @type {any} */ ({ stateDelta: { x: 1 } }) }),
    });
    assert.deepEqual({ ...event.actions.stateDelta }, { x: 1 });
  });
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0] ?? '',
    /^session "s1" could not be brought up to date, although its event is stored: TypeError/u,
  );
  assert.equal(session.events.length, 1);
  assert.deepEqual({ ...(await service.getSession(KEY))?.state }, { x: 1 });
});

test('what is no session and no event is refused', async () => {
  const service = new StatepadSessionService();
  const session = await service.createSession(KEY);
  for (const request of [
    { session: null, event: createEvent({}) },
    { session: undefined, event: createEvent({}) },
    { session, event: null },
    { session, event: undefined },
  ]) {
    await assert.rejects(
      service.appendEvent(/** @type {any} */ (request)),
      (error) => isStatepadError(error) && error.code === 'INVALID_ARGUMENT',
    );
  }
});
