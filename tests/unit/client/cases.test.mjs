// The cases of tests/cases, held against a client of a server: it answers as the service itself.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { followed, listed, makeSessions } from '../../contract/lists.mjs';
import { casesOf, plain } from '../../contract/read.mjs';
import { runScenario, stepsOfOneSession } from '../../contract/scenario.mjs';
import { statepadSide } from '../../contract/statepad.mjs';
import { clientOf } from '../../support/client.mjs';
import { hasCode, KEY } from '../../support/fixtures.mjs';

const places = {
  'in memory': () => new SessionService(),
  'over a store': () => new SessionService({ store: memoryStore() }),
};

/** The steps without messages: where a store has refused something, the server says it in words of its own. */
const withoutMessages = (steps) =>
  steps.map(({ error, ...step }) =>
    error === undefined ? step : { ...step, error: { ...error, message: undefined } },
  );

for (const [where, serviceOf] of Object.entries(places)) {
  const run = (steps) =>
    runScenario(statepadSide(clientOf(serviceOf())), where === 'in memory' ? steps : withoutMessages(steps));

  describe(`session, ${where}`, () => {
    for (const given of casesOf('session').cases) {
      test(given.name, () => run(stepsOfOneSession(given)));
    }
  });

  for (const file of ['sessions', 'error', 'history']) {
    describe(`${file}, ${where}`, () => {
      for (const { name, steps } of casesOf(file).cases.filter(({ without }) => without !== 'log')) {
        test(name, () => run(steps));
      }
    });
  }

  describe(`scope, ${where}`, () => {
    for (const { name, key: full, scope, bare } of casesOf('scope').cases) {
      test(name, async () => {
        const client = clientOf(serviceOf());
        const session = await client.createSession(KEY);
        await client.appendEvent({ session, event: { invocationId: 'i', actions: { stateDelta: { [full]: 1 } } } });
        assert.deepEqual(plain(session.state), { [full]: 1 });
        assert.deepEqual(plain((await client.getSession(KEY)).state), scope === 'temp' ? {} : { [full]: 1 });
        assert.deepEqual(plain(await client.getAppState(KEY)), scope === 'app' ? { [bare]: 1 } : {});
        assert.deepEqual(plain(await client.getUserState(KEY)), scope === 'user' ? { [bare]: 1 } : {});
      });
    }
  });

  describe(`delta, ${where}`, () => {
    for (const { name, before = {}, set = {}, unset = [], temp = {}, after, order } of casesOf('delta').cases) {
      test(name, async () => {
        const client = clientOf(serviceOf());
        const session = await client.createSession({ ...KEY, state: before });
        const stateDelta = { ...set, ...Object.fromEntries(unset.map((deleted) => [deleted, DELETED])) };
        await client.appendEvent({ session, event: { invocationId: 'i', actions: { stateDelta } } });
        assert.deepEqual(plain(session.state), { ...after, ...temp });
        const { state } = await client.getSession(KEY);
        assert.deepEqual(plain(state), after);
        assert.deepEqual(Object.keys(state), order ?? Object.keys(state));
      });
    }
  });

  describe(`event, ${where}`, () => {
    for (const { name, before = {}, event, stored, error, message, state } of casesOf('event').cases) {
      test(name, async () => {
        const client = clientOf(serviceOf());
        const session = await client.createSession({ ...KEY, state: before });
        const given = JSON.stringify(event);
        const append = client.appendEvent({ session, event });
        if (error === undefined) {
          const answer = plain(await append);
          for (const [place, wanted] of Object.entries(stored)) {
            const value = place.split('.').reduce((member, step) => member?.[step], answer);
            assert.deepEqual(value, wanted ?? undefined, place);
          }
          assert.deepEqual(plain((await client.getSession(KEY)).events), [answer]);
        } else {
          await assert.rejects(append, (refusal) => {
            assert.equal(refusal.message, message ?? refusal.message);
            return hasCode(error)(refusal);
          });
          assert.equal(session.revision, 0);
        }
        assert.deepEqual(plain((await client.getSession(KEY)).state), state ?? plain(before));
        assert.equal(JSON.stringify(event), given, "the caller's event is never changed");
      });
    }
  });

  describe(`list, ${where}`, () => {
    const { sessions, cases } = casesOf('list');
    for (const { name, list, ids, pages, error, message, ...wanted } of cases) {
      test(name, async () => {
        const client = clientOf(serviceOf());
        await makeSessions(client, sessions);
        const request = { appName: 'app', ...list };
        if (error !== undefined) {
          await assert.rejects(client.listSessions(request), (refusal) => {
            assert.equal(refusal.message, message ?? refusal.message);
            return hasCode(error)(refusal);
          });
        } else if (pages !== undefined) {
          assert.deepEqual(await followed(client, request), pages);
        } else {
          const answer = await client.listSessions(request);
          assert.deepEqual(listed(answer), ids);
          const { page, limit, totalItems, totalPages, cursor } = answer;
          const shown = { page, limit, totalItems, totalPages };
          assert.deepEqual('cursor' in wanted ? { ...shown, cursor: cursor !== undefined } : shown, wanted);
        }
      });
    }
  });
}
