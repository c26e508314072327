// The cases of tests/cases, held against the package.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as statepad from 'statepad';
import {
  SessionService,
  State,
  Template,
  DELETED,
  isFinalResponse,
  isStatepadError,
  outputDelta,
  outputDeltaAsync,
} from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { storedWith } from '../support/store.mjs';
import { expiryTests, limitTests } from '../contract/growth.mjs';
import { runInvocation } from '../contract/invocation.mjs';
import { listed, followed, makeSessions } from '../contract/lists.mjs';
import { casesOf, plain } from '../contract/read.mjs';
import { runRestoring, runWalk } from '../contract/rewind.mjs';
import { runScenario, stepsOfOneSession } from '../contract/scenario.mjs';
import { person } from '../contract/schema.mjs';
import { callState } from '../contract/state.mjs';
import { statepadSide } from '../contract/statepad.mjs';
import { KEY } from '../support/fixtures.mjs';
import { source } from '../support/source.mjs';

const { operatorName, resolveOperator } = await source('model/operators.ts');
const { decideLease } = await source('store/lease.ts');

/** Throws what a call throws, unless it is the error wanted: with this message, where there is one. */
function hasCode(code, message) {
  return (error) => {
    assert.ok(isStatepadError(error), `not a StatepadError: ${error?.stack}`);
    assert.equal(error.code, code);
    assert.equal(error.message, message ?? error.message);
    return true;
  };
}

describe('scope', () => {
  for (const { name, key: full, scope, bare } of casesOf('scope').cases) {
    test(name, async () => {
      const service = new SessionService();
      const session = await service.createSession(KEY);
      await service.appendEvent({ session, event: { invocationId: 'i', actions: { stateDelta: { [full]: 1 } } } });
      assert.deepEqual(plain(session.state), { [full]: 1 });
      const stored = await service.getSession(KEY);
      assert.deepEqual(plain(stored.state), scope === 'temp' ? {} : { [full]: 1 });
      assert.deepEqual(plain(await service.getAppState(KEY)), scope === 'app' ? { [bare]: 1 } : {});
      assert.deepEqual(plain(await service.getUserState(KEY)), scope === 'user' ? { [bare]: 1 } : {});
      const sibling = await service.createSession({ ...KEY, sessionId: 't' });
      assert.deepEqual(plain(sibling.state), scope === 'app' || scope === 'user' ? { [full]: 1 } : {});
    });
  }
});

describe('delta', () => {
  for (const { name, before = {}, set = {}, unset = [], change, temp = {}, after, order } of casesOf('delta').cases) {
    test(name, async () => {
      const changes = [];
      const service = new SessionService(storedWith((given) => changes.push(given)));
      const session = await service.createSession({ ...KEY, state: before });
      const stateDelta = { ...set, ...Object.fromEntries(unset.map((deleted) => [deleted, DELETED])) };
      await service.appendEvent({ session, event: { invocationId: 'i', actions: { stateDelta } } });
      assert.deepEqual(plain(changes.at(-1).delta), change);
      assert.deepEqual(plain(session.state), { ...after, ...temp });
      const { state } = await service.getSession(KEY);
      assert.deepEqual(plain(state), after);
      if (order !== undefined) {
        assert.deepEqual(Object.keys(state), order);
      }
    });
  }
});

describe('state', () => {
  for (const { name, value, do: calls, set, unset, record } of casesOf('state').cases) {
    test(name, () => {
      const delta = {};
      const committed = structuredClone(plain(value));
      const state = new State(value, delta);
      calls.forEach((call) => callState(state, call));
      const deleted = Object.keys(delta).filter((name) => delta[name] === DELETED);
      assert.deepEqual(deleted, unset);
      assert.deepEqual(plain(Object.fromEntries(Object.entries(delta).filter(([, given]) => given !== DELETED))), set);
      assert.deepEqual(plain(state.toRecord()), record);
      assert.deepEqual(plain(value), committed, 'what lies under the writes is never changed');
    });
  }
});

describe('event', () => {
  const { cases, depth, tooDeep, final } = casesOf('event');
  for (const { name, before = {}, event, stored, json = {}, error, message, state } of cases) {
    test(name, async () => {
      const service = new SessionService();
      const session = await service.createSession({ ...KEY, state: before });
      const given = JSON.stringify(event);
      const append = service.appendEvent({ session, event });
      if (error === undefined) {
        const answer = plain(await append);
        for (const [place, wanted] of Object.entries(stored)) {
          const value = place.split('.').reduce((member, step) => member?.[step], answer);
          assert.deepEqual(value, wanted ?? undefined, place);
        }
        assert.deepEqual(plain((await service.getSession(KEY)).events), [answer]);
        const said = { ...answer, state: (await service.getSession(KEY)).state };
        for (const [place, text] of Object.entries(json)) {
          assert.equal(JSON.stringify(place.split('.').reduce((member, step) => member[step], said)), text, place);
        }
      } else {
        await assert.rejects(append, hasCode(error, message));
        assert.equal(session.revision, 0);
      }
      assert.deepEqual(plain((await service.getSession(KEY)).state), state ?? plain(before));
      assert.equal(JSON.stringify(event), given, "the caller's event is never changed");
    });
  }
  for (const [levels, fits] of depth) {
    test(`a list ${levels} levels deep ${fits ? 'is stored' : 'is refused'}`, async () => {
      let value = 1;
      for (let level = 0; level < levels; level++) {
        value = [value];
      }
      const service = new SessionService();
      const append = async () => {
        const session = await service.createSession({ appName: 'app', userId: 'u' });
        await service.appendEvent({ session, event: { actions: { stateDelta: { x: value } } } });
        return session.state.x;
      };
      const isTooDeep = hasCode('VALUE_NOT_JSON', tooDeep.replace('{way}', '[0]'.repeat(100)));
      await (fits ? append().then((stored) => assert.deepEqual(stored, value)) : assert.rejects(append(), isTooDeep));
    });
  }
  for (const { name, event, final: isFinal } of final) {
    test(`${name}: ${isFinal ? '' : 'not '}final`, () => assert.equal(isFinalResponse(event), isFinal));
  }
});

describe('session', () => {
  for (const given of casesOf('session').cases) {
    test(given.name, () => runScenario(statepadSide(), stepsOfOneSession(given)));
  }
});

for (const file of ['sessions', 'error']) {
  describe(file, () => {
    for (const { name, steps } of casesOf(file).cases) {
      test(name, () => runScenario(statepadSide(), steps));
    }
  });
}

describe('history', () => {
  const services = {
    'in memory': (log) => new SessionService({ log }),
    'over a store': (log) => new SessionService({ store: memoryStore({ log }) }),
    'over a store, with no room': (log) => new SessionService({ store: memoryStore({ log }), cachedEvents: 0 }),
  };
  for (const [where, make] of Object.entries(services)) {
    // The history has the writes of others to shared keys only where there is a log of them.
    for (const log of [true, false]) {
      for (const { name, steps } of casesOf('history').cases.filter(({ without }) => !log || without !== 'log')) {
        test(`${name}, ${where}, ${log ? 'with' : 'without'} a log of shared keys`, () =>
          runScenario(statepadSide(make(log)), steps));
      }
    }
  }
});

describe('rewind', () => {
  const { walk, delta } = casesOf('rewind');
  walk.forEach((given) => test(given.name, () => runWalk(given)));
  delta.forEach((given) => test(given.name, () => runRestoring(given)));
});

describe('operators', () => {
  for (const { name, value, operator, result, fault } of casesOf('operators').cases) {
    test(`${operatorName(operator)}: ${name}`, () => {
      const answer = resolveOperator(operator, value);
      assert.equal(answer.fault, fault);
      assert.equal(JSON.stringify(answer.value), result);
      assert.ok(!Object.is(answer.value, -0), 'JSON has no minus zero');
    });
  }
});

describe('lease', () => {
  for (const { name, row, ask, now, then, error, until } of casesOf('lease').cases) {
    test(name, () => {
      if (error === undefined) {
        const { fence, holder, until: end } = decideLease(row, ask, now);
        assert.deepEqual({ fence, holder, until: end }, { holder: undefined, until: undefined, ...then });
      } else {
        assert.throws(() => decideLease(row, ask, now), { code: error, ...(until !== undefined && { until }) });
      }
    });
  }
});

const module = { ...statepad, deleted: DELETED };
limitTests('the package', module);
limitTests('the package over a store', module, () => ({ store: memoryStore() }));
expiryTests('the package', module);

describe('list', () => {
  const { sessions, cases } = casesOf('list');
  for (const { name, list, ids, pages, error, message, ...wanted } of cases) {
    test(name, async () => {
      const service = new SessionService();
      await makeSessions(service, sessions);
      const request = { appName: 'app', ...list };
      if (error !== undefined) {
        await assert.rejects(service.listSessions(request), hasCode(error, message));
      } else if (pages !== undefined) {
        assert.deepEqual(await followed(service, request), pages);
      } else {
        const answer = await service.listSessions(request);
        assert.deepEqual(listed(answer), ids);
        const { cursor } = answer;
        const shown = {
          page: answer.page,
          limit: answer.limit,
          totalItems: answer.totalItems,
          totalPages: answer.totalPages,
        };
        assert.deepEqual('cursor' in wanted ? { ...shown, cursor: cursor !== undefined } : shown, wanted);
      }
    });
  }
});

describe('invocation', () => {
  for (const { name, state, steps } of casesOf('invocation').cases) {
    test(name, () => runInvocation(state, steps));
  }
});

describe('template', () => {
  const { cases, escapes } = casesOf('template');
  for (const { name, template, state = {}, artifacts, ok, missing, code, message, asked, needs } of cases) {
    test(name, async () => {
      const names = [];
      const artifact =
        artifacts &&
        ((file) => {
          names.push(file);
          return Object.hasOwn(artifacts, file) ? String(artifacts[file]) : undefined;
        });
      const compiled = new Template(template);
      if (missing === undefined) {
        assert.equal(compiled.render({ state, artifact }), ok);
        if (asked !== undefined) {
          assert.deepEqual(names, asked);
        }
        assert.equal(
          await compiled.renderAsync({ state, artifact: artifact && (async (file) => artifact(file)) }),
          ok,
        );
      } else {
        const check = (error) => {
          assert.ok(hasCode(code ?? 'TEMPLATE_KEY_MISSING', message)(error));
          const shown = error.missing.map(({ key: missed, line, column, nearest }) =>
            nearest === undefined ? [missed, line, column] : [missed, line, column, nearest],
          );
          assert.deepEqual(shown, missing);
          return true;
        };
        assert.throws(() => compiled.render({ state, artifact }), check);
        await assert.rejects(compiled.renderAsync({ state, artifact }), check);
      }
      if (needs !== undefined) {
        const shown = compiled.placeholders.map((it) => [it.kind, it.key, it.path, it.optional, it.line, it.column]);
        assert.deepEqual(shown, needs);
      }
    });
  }
  for (const text of escapes) {
    test(`the text ${JSON.stringify(text)} is escaped`, () => {
      assert.equal(new Template(Template.escape(text)).render({ state: { n: 'no' } }), text);
    });
  }
});

describe('output', () => {
  for (const { name, event, key: outputKey, author, schema, delta, told, throws } of casesOf('output').cases) {
    for (const [kind, call] of Object.entries({ '': outputDelta, ', awaited': outputDeltaAsync })) {
      test(name + kind, async () => {
        const heard = [];
        const options = {
          outputKey,
          author,
          outputSchema: schema && person,
          onInvalid: throws === undefined ? (error) => heard.push(error) : 'throw',
        };
        const run = async () => await call({ author: 'agent', ...event }, options);
        if (throws === undefined) {
          assert.deepEqual(plain(await run()), delta);
        } else {
          await assert.rejects(run, hasCode(throws));
        }
        assert.deepEqual(
          heard.map(({ code }) => code),
          told === undefined ? [] : [told],
        );
      });
    }
  }
});
