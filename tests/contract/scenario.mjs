// Runs the steps of sessions.json, session.json, error.json and history.json over one side: statepad, or ADK's
// service.
//
// A side is an object with create, get, append, delete, list, appState and userState, for history.json stateAt and
// history besides, and an `errors` that says whether its errors have codes and details.

import assert from 'node:assert/strict';
import { plain } from './read.mjs';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Runs a case. Throws when the side answers otherwise. */
export async function runScenario(side, steps) {
  const handles = new Map();
  for (const [index, step] of steps.entries()) {
    try {
      await runStep(side, handles, step);
    } catch (error) {
      error.message = `step ${index + 1} (${step.do}): ${error.message}`;
      throw error;
    }
  }
}

/** The steps of session.json: its session is created first, and named where a step names none. */
export function stepsOfOneSession({ state = {}, steps }) {
  const named = steps.map((step) => ({
    ...(step.do === 'append' ? { to: 'a' } : step.do === 'get' ? { id: 's' } : {}),
    ...step,
  }));
  return [{ do: 'create', as: 'a', id: 's', state }, ...named];
}

async function runStep(side, handles, step) {
  const { app = 'app', user = 'u', id, error } = step;
  const key = { appName: app, userId: user, sessionId: id };
  const run = {
    create: () => side.create({ ...key, state: step.state }),
    get: () => side.get({ ...key, last: step.last, after: step.after }),
    append: () => side.append({ session: handles.get(step.to), event: eventOf(step.event), revision: step.revision }),
    delete: () => side.delete(key),
    list: () => side.list({ appName: app, userId: step.user }),
    appState: () => side.appState(app),
    userState: () => side.userState(app, user),
    stateAt: () => side.stateAt(handles.get(step.of), step.revision),
    history: () => side.history(handles.get(step.of), step.key, { until: step.until, last: step.last }),
  }[step.do];
  if (error !== undefined) {
    await refuses(side, run, error);
    return;
  }
  const answer = await run();
  if (step.as !== undefined) {
    handles.set(step.as, answer);
  }
  if (step.stored !== undefined) {
    compareStored(answer, step.stored);
  }
  if (step.expect !== undefined) {
    compare(step.do === 'append' ? handles.get(step.to) : answer, step);
  }
}

/** An event as the cases write it: {id, set, unset, at, by, inv, text, more}. */
export function eventOf({ id, set = {}, unset = [], at, by = 'agent', inv = 'i', text, more = {} }) {
  return {
    ...(id === undefined ? {} : { id }),
    invocationId: inv,
    author: by,
    ...(at === undefined ? {} : { timestamp: at }),
    ...(text === undefined ? {} : { content: { role: 'model', parts: [{ text }] } }),
    actions: { stateDelta: { ...set } },
    unset,
    ...more,
  };
}

async function refuses(side, run, { code, message, says, ...details }) {
  const error = await run().then(
    (actual) => {
      throw new assert.AssertionError({
        message: `should be refused with ${code}`,
        actual,
        expected: code,
        operator: 'refuses',
      });
    },
    (reason) => reason,
  );
  if (!side.errors || error instanceof assert.AssertionError) {
    if (error instanceof assert.AssertionError) {
      throw error;
    }
    return;
  }
  side.errors(error, code);
  assert.deepEqual(Object.fromEntries(Object.keys(details).map((name) => [name, error[name]])), details);
  if (message !== undefined) {
    assert.equal(error.message, message);
  }
  if (says !== undefined) {
    assert.ok(error.message.includes(says), `the message must name ${says}: ${error.message}`);
  }
}

function compareStored(event, { set, unset, at }) {
  if (set !== undefined) {
    assert.deepEqual(plain(event.actions.stateDelta), set, 'the stored delta');
  }
  if (unset !== undefined) {
    assert.deepEqual(event.customMetadata?.statepad?.deleted, unset, 'the stored deletions');
  }
  if (at !== undefined) {
    assert.equal(event.timestamp, at, 'the stored timestamp');
  }
}

function compare(answer, { do: what, expect, order }) {
  if (what === 'appState' || what === 'userState' || what === 'stateAt') {
    assert.deepEqual(plain(answer), expect);
    if (order !== undefined) {
      assert.deepEqual(Object.keys(answer), order, 'the order of the keys');
    }
  } else if (what === 'history') {
    assert.deepEqual(
      answer.map((write, index) => told(write, expect[index])),
      expect,
    );
  } else if (what === 'list') {
    assert.equal(answer.length, expect.count, 'the number of sessions');
    expect.states?.forEach((state, index) => assert.deepEqual(plain(answer[index].state), state));
    answer.forEach(({ events }) => assert.deepEqual(events, [], 'a list shows no events'));
  } else if (expect === null) {
    assert.equal(answer, undefined, 'there is a session');
  } else {
    assert.ok(answer, 'there is no session');
    compareSession(answer, expect);
  }
}

/** A write of a key as the cases write it, with author and time where they are wanted. */
function told({ revision, timestamp, event, ...values }, { by, time } = {}) {
  return {
    revision,
    ...(event === undefined ? {} : { event: event.id }),
    ...(by === undefined ? {} : { by: event?.author }),
    ...(time === undefined ? {} : { time: timestamp }),
    ...plain(values),
  };
}

function compareSession(session, { id, state, order, events, revision, time }) {
  if (id !== undefined) {
    sameId(session.id, id);
  }
  if (state !== undefined) {
    assert.deepEqual(plain(session.state), state, 'the state');
  }
  if (order !== undefined) {
    assert.deepEqual(Object.keys(session.state), order, 'the order of the keys');
  }
  if (events !== undefined) {
    assert.equal(session.events.length, events.length, 'the number of events');
    events.forEach((wanted, index) => sameId(session.events[index].id, wanted));
  }
  if (revision !== undefined && 'revision' in session) {
    assert.equal(session.revision, revision, 'the revision');
  }
  if (time !== undefined) {
    assert.equal(session.lastUpdateTime, time, 'the time');
  }
}

function sameId(id, wanted) {
  if (wanted === '<uuid>') {
    assert.match(id, UUID);
  } else {
    assert.equal(id, wanted);
  }
}
