// The golden answers that lie beside the project, at ../shared from its root, when they are there: instruction
// templates, with what ADK answers, and session scenarios.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { SessionService, Template, isStatepadError } from 'statepad';
import { adkRender } from '../contract/adk.mjs';
import { plain } from '../contract/read.mjs';

const folder = join(import.meta.dirname, '..', '..', 'shared', 'vectors');
const skip = existsSync(folder) ? false : 'no ../shared';
if (skip) {
  console.log('skipped: no ../shared');
}
const read = (name) => (skip ? { vectors: [], scenarios: [] } : JSON.parse(readFileSync(join(folder, name), 'utf8')));

describe('templates, as specified', { skip }, () => {
  for (const { name, template, state, artifacts = {}, expect } of read('templating.json').vectors) {
    test(name, () => {
      const artifact = (file) => (Object.hasOwn(artifacts, file) ? artifacts[file] : undefined);
      const render = () => new Template(template).render({ state, artifact });
      if (expect.missing === undefined) {
        assert.equal(render(), expect.ok);
      } else {
        assert.throws(render, (error) => {
          assert.ok(isStatepadError(error));
          assert.deepEqual(
            error.missing.map(({ key }) => key),
            expect.missing,
          );
          return true;
        });
      }
    });
  }
});

describe('templates, as ADK renders them', { skip }, () => {
  for (const { name, template, state, artifacts = {}, adk_js_2_0: answer } of read('templating.json').vectors) {
    test(name, async () => {
      // ADK does not save an empty text, so there is no such artifact.
      const saved = Object.fromEntries(Object.entries(artifacts).filter(([, text]) => text !== ''));
      const rendering = adkRender(template, state, name.includes('without service') ? undefined : saved);
      const outcome = await rendering.then(
        (ok) => ({ ok }),
        (error) => ({ error: String(error) }),
      );
      assert.deepEqual(outcome, answer.error === undefined ? { ok: answer.ok } : { error: answer.error });
    });
  }
});

/**
 * The scenarios whose answers differ from the specification: by scenario, the reason, and the answers of the steps
 * instead; `until` ends the scenario before a step that has no operation yet.
 */
const differences = {
  'append: stale by app state only': {
    reason: 'a handle that is brought up to date shows what others wrote meanwhile',
    steps: { 3: (answer) => ({ ...answer, session: withAppKey(answer.session) }), 4: withAppKey },
  },
  'copy: top-level write to the created session is not stored': {
    reason: 'a write that no service can see throws',
    steps: { 1: () => ({ throws: 'TypeError' }) },
  },
  'copy: nested write to a fetched session (session scope)': {
    reason: 'a write that no service can see throws',
    steps: { 2: () => ({ throws: 'TypeError' }) },
  },
  'rewind: values return to those before the invocation': { reason: 'there is no rewind yet', until: 'rewind' },
  'rewind: initial state given at create': { reason: 'there is no rewind yet', until: 'rewind' },
  'rewind: first invocation': { reason: 'there is no rewind yet', until: 'rewind' },
};

function withAppKey(session) {
  return { ...session, state: { ...session.state, 'app:a': 1 } };
}

describe('scenarios', { skip }, () => {
  const { scenarios } = read('sessions.json');
  for (const { name, base, steps, expect } of scenarios) {
    const { reason, until, steps: other = {} } = differences[name] ?? {};
    test(reason === undefined ? name : `${name} (differs: ${reason})`, async () => {
      const run = runner(base);
      for (const [index, step] of steps.entries()) {
        if (step.op === until) {
          assert.equal(run.service[until], undefined, `there is ${until} by now: take the scenario off the list`);
          return;
        }
        const answer = await run.step(step);
        const wanted = other[index] === undefined ? expect[index] : other[index](expect[index]);
        assert.notDeepEqual(other[index] === undefined ? undefined : wanted, expect[index], 'no difference any more');
        same(plain(answer), wanted, `step ${index + 1}: ${JSON.stringify(step)}`);
      }
      assert.equal(until, undefined, `the scenario has no ${until}`);
    });
  }
  test('the list of differences names only scenarios that there are', () => {
    const names = scenarios.map(({ name }) => name);
    assert.deepEqual(
      Object.keys(differences).filter((name) => !names.includes(name)),
      [],
    );
  });
});

/** Runs steps. Their times are seconds, those of statepad milliseconds. */
function runner(base) {
  const service = new SessionService();
  const handles = new Map();
  const seconds = (timestamp) => timestamp / 1000 - base;
  const eventView = ({ id, author, invocationId, timestamp, actions }) => ({
    id,
    author,
    inv: invocationId,
    ts: seconds(timestamp),
    delta: actions.stateDelta,
  });
  const view = ({ id, appName, userId, state, events, lastUpdateTime, revision }) => ({
    id,
    app: appName,
    user: userId,
    state,
    events: events.map(eventView),
    last_update_time: revision === 0 ? '<now>' : seconds(lastUpdateTime),
  });
  const config = ({ after_timestamp: after, num_recent_events: numRecentEvents } = {}) => ({
    numRecentEvents,
    afterTimestamp: after === undefined ? undefined : (base + after) * 1000,
  });
  const operations = {
    create: async ({ state, id }, key) => await service.createSession({ ...key, state, sessionId: id }),
    get: async ({ config: given }, key) => await service.getSession({ ...key, config: config(given) }),
    append: async ({ session, event: { id, ts, delta, author = 'agent', inv = 'inv', partial, text } }) => {
      const content = text === undefined ? undefined : { parts: [{ text }] };
      const timestamp = (base + ts) * 1000;
      const event = { id, author, invocationId: inv, timestamp, partial, content, actions: { stateDelta: delta } };
      const stored = await service.appendEvent({ session: handles.get(session), event });
      return { event: eventView(stored), session: view(handles.get(session)) };
    },
    list: async ({ user }, key) =>
      (await service.listSessions({ ...key, userId: user === null ? undefined : key.userId })).sessions.map(view),
    delete: async (_, key) => {
      await service.deleteSession(key);
      return { ok: true };
    },
    user_state: async (_, key) => await service.getUserState(key),
    peek: async ({ session }) => view(handles.get(session)),
    set_state: async ({ session, path, value }) => {
      try {
        const parent = path.slice(0, -1).reduce((inner, name) => inner[name], handles.get(session).state);
        parent[path.at(-1)] = value;
        return { ok: true };
      } catch (error) {
        return { throws: error.name };
      }
    },
  };
  const step = async (given) => {
    const { op, app = 'app', user = 'u1', id, as } = given;
    const answer = await operations[op](given, { appName: app, userId: user ?? 'u1', sessionId: id });
    if (as !== undefined) {
      handles.set(as, answer);
    }
    return op === 'create' || op === 'get' ? answer && view(answer) : answer;
  };
  return { service, step };
}

/** As deepEqual, where `<uuid>` stands for any UUID. */
function same(actual, expected, what) {
  const ids = [];
  const wanted = JSON.stringify(expected, (_, value) => (value === '<uuid>' ? `<uuid ${ids.push(value)}>` : value));
  if (ids.length === 0) {
    assert.deepEqual(actual, expected, what);
    return;
  }
  let seen = 0;
  const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  const shown = JSON.stringify(actual, (name, value) =>
    name === 'id' && uuid.test(value) ? `<uuid ${++seen}>` : value,
  );
  assert.deepEqual(JSON.parse(shown), JSON.parse(wanted), what);
}
