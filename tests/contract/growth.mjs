// Runs the steps of limits.json and expiry.json over a service for JavaScript: the package's, or the crate's own.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { casesOf, plain } from './read.mjs';
import { eventOf } from './scenario.mjs';

/** The details of an error that a case may ask for. */
const DETAILS = ['code', 'exceeded', 'key', 'path', 'size', 'limit', 'message'];

/**
 * Tests of the cases of limits. `module` has the class `SessionService`, the functions of operators, and `deleted`,
 * the mark of a deletion; `more` makes further options for each service.
 */
export function limitTests(title, module, more = () => ({})) {
  describe(`${title}: limits`, () => {
    const { sizes, cases } = casesOf('limits');
    for (const [value, size] of sizes) {
      test(`the value ${JSON.stringify(value)} has ${size} bytes`, async () => {
        assert.equal(Buffer.byteLength(JSON.stringify(value)), size);
        const steps = [
          { do: 'create', as: 'a', id: 's' },
          { do: 'append', to: 'a', event: { id: 'e', set: { x: value } } },
          { do: 'update', id: 's', set: { x: value } },
          { do: 'create', id: 's', user: 'v', state: { x: value } },
        ];
        await run(module, { limits: { value: size }, steps }, more());
        const error = { code: 'LIMIT_EXCEEDED', exceeded: 'value', key: 'x', id: 's', size, limit: size - 1 };
        const refused = steps.map((step, place) => (place === 0 ? step : { ...step, error }));
        await run(module, { limits: { value: size - 1 }, steps: refused }, more());
      });
    }
    for (const given of cases) {
      test(given.name, () => run(module, given, more()));
    }
  });
}

/** As {@link limitTests}, of the cases of expiry: for services whose sessions end by the clock of the service. */
export function expiryTests(title, module, more = () => ({})) {
  describe(`${title}: expiry`, () => {
    for (const given of casesOf('expiry').cases) {
      test(given.name, () => run(module, given, more()));
    }
  });
}

async function run(module, { limits, ttl, steps }, more) {
  const clock = { now: 1000 };
  const service = new module.SessionService({ now: () => clock.now, limits, ttl, ...more });
  const growth = { module, service, clock, handles: new Map() };
  for (const [index, step] of steps.entries()) {
    try {
      await runStep(growth, step);
    } catch (error) {
      error.message = `step ${index + 1} (${step.do}): ${error.message}`;
      throw error;
    }
  }
}

async function runStep({ module, service, clock, handles }, step) {
  const { app: appName = 'app', user = 'u', id: sessionId, error, expect } = step;
  const userId = user ?? undefined;
  const of = handles.get(step.of);
  const end = endOf(step);
  const calls = {
    clock: () => (clock.now = step.now),
    create: () => service.createSession({ appName, userId, sessionId, state: step.state, ...end }),
    fork: () => service.fork(of, { sessionId, ...end }),
    get: () => service.getSession({ appName, userId, sessionId }),
    append: async () => {
      const session = handles.get(step.to);
      await service.appendEvent({ session, event: eventFor(module, step.event), expectedRevision: step.revision });
      return session;
    },
    update: () => service.updateState({ appName, userId, sessionId }, () => step.set),
    delete: () => service.deleteSession({ appName, userId, sessionId }),
    list: async () => {
      const { sessions, totalItems } = await service.listSessions({ appName });
      assert.equal(totalItems, sessions.length);
      return sessions.map(({ id }) => id);
    },
    sweep: () => service.sweep({ appName: step.app, limit: step.limit }),
    history: () => service.history(of, step.key),
    stateAt: () => service.stateAt(of, step.revision),
    rewind: () => service.rewind(of, { before: step.before }),
    redo: () => service.redo(of),
    lease: () => service.lease(of, { ttl: 1000 }),
  };
  if (error !== undefined) {
    await assert.rejects(calls[step.do](), (thrown) => isRefusal(thrown, error));
    return;
  }
  const answer = await calls[step.do]();
  if (step.as !== undefined) {
    handles.set(step.as, answer);
  }
  if (expect !== undefined) {
    compare(step.do, answer, expect);
  }
}

function endOf({ ttl, expireTime }) {
  return {
    ...(ttl !== undefined && { ttl: ttl === 'none' ? Infinity : ttl }),
    ...(expireTime !== undefined && { expireTime }),
  };
}

/** An event as the cases write it, with its deletions and its operators. */
function eventFor(module, given) {
  const { unset, ...event } = eventOf(given);
  const stateDelta = { ...event.actions.stateDelta };
  for (const key of unset) {
    stateDelta[key] = module.deleted;
  }
  for (const [key, operator] of Object.entries(given.operate ?? {})) {
    const [[name, operand]] = Object.entries(operator);
    stateDelta[key] = name === 'append' ? module.append(...operand) : module[name](operand);
  }
  return { ...event, actions: { ...event.actions, stateDelta } };
}

function isRefusal(thrown, wanted) {
  for (const name of DETAILS.filter((detail) => wanted[detail] !== undefined)) {
    assert.deepEqual(thrown[name], wanted[name], `${name}: ${thrown.stack}`);
  }
  if (wanted.id !== undefined) {
    assert.equal(thrown.id, wanted.id);
  }
  return true;
}

function compare(call, answer, expect) {
  if (call === 'list' || call === 'sweep') {
    assert.deepEqual(plain(answer), expect);
  } else if (expect === null) {
    assert.equal(answer, undefined, 'there is a session');
  } else {
    assert.ok(answer !== undefined, 'there is no session');
    const { state, revision, expireTime } = expect;
    if (state !== undefined) {
      assert.deepEqual(plain(withoutTemp(answer.state)), state);
    }
    if (revision !== undefined) {
      assert.equal(answer.revision, revision);
    }
    if (expireTime !== undefined) {
      assert.equal(answer.expireTime, expireTime ?? undefined);
      assert.equal('expireTime' in answer, expireTime !== null);
    }
  }
}

function withoutTemp(state) {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith('temp:')));
}
