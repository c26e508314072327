// The places where this server is less strict than Agent Engine: each line of the table lets through what it names,
// and the API, as its strict fake stands for it, refuses that.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { source } from '../../support/source.mjs';
import { asker } from '../../vertex/ask.mjs';
import { fetchOf, openServer } from './server.mjs';
import { SessionService } from 'statepad';
import { serve } from 'statepad/serve';

const { FIELDS, SESSION_IDS, REQUESTS, CHOICES } = await source('serve/agent-engine/leniencies.ts');

const EVENT = { author: 'user', invocationId: 'i1', timestamp: '2026-01-02T00:00:00Z' };
const CREATE = ['POST /sessions?sessionId=s1', { userId: 'ana' }];
const APPEND = 'POST /sessions/s1:appendEvent';

/** A value of each type, and the place of each message in an event. */
const VALUES = { struct: { a: 1 }, bool: true, string: 'i0', moment: { seconds: 1_767_312_000, nanos: 5 } };
const PLACES = {
  SessionEvent: (event) => event,
  EventActions: (actions) => ({ actions }),
  EventMetadata: (eventMetadata) => ({ eventMetadata }),
};

async function statuses(line, body, setUp = []) {
  const asks = [openServer().ask, asker(fakeVertexAi(), {})];
  return await Promise.all(
    asks.map(async (ask) => {
      for (const [before, with_] of setUp) assert.equal((await ask(before, with_)).status, 200);
      return (await ask(line, body)).status;
    }),
  );
}

describe('a field that the API refuses is taken', () => {
  for (const { client, message, field, type, besideRaw = false } of FIELDS) {
    const body = { ...EVENT, ...PLACES[message]({ [field]: VALUES[type] }) };
    const whole = { ...body, rawEvent: { ...EVENT, id: 'e1' } };

    test(`${message}.${field}, as ${client} sends it`, async () => {
      assert.deepEqual(await statuses(APPEND, whole, [CREATE]), [200, 400]);
      assert.deepEqual(await statuses(APPEND, body, [CREATE]), [besideRaw ? 400 : 200, 400]);
    });

    test(`${message}.${field} of another type is refused`, async () => {
      const wrong = { ...whole, ...PLACES[message]({ [field]: [[]] }) };
      assert.deepEqual(await statuses(APPEND, wrong, [CREATE]), [400, 400]);
    });
  }

  test('times that are objects are whole, and within the range of times', async () => {
    const wrong = [
      { seconds: 1.5 },
      { seconds: '1', nanos: 0 },
      { nanos: 1e9 },
      { seconds: 1e15 },
      { seconds: 1, x: 1 },
    ];
    for (const timestamp of wrong) {
      assert.deepEqual(
        await statuses(APPEND, { ...EVENT, timestamp }, [CREATE]),
        [400, 400],
        JSON.stringify(timestamp),
      );
    }
    assert.deepEqual(await statuses(APPEND, { ...EVENT, timestamp: {} }, [CREATE]), [200, 400]);
  });
});

describe('an id that the API refuses is taken', () => {
  for (const { client, pattern } of SESSION_IDS) {
    test(`as ${client} chooses it: ${pattern.source}`, async () => {
      for (const id of ['A_b-', '_', 'x'.repeat(100)]) {
        assert.match(id, pattern);
        assert.deepEqual(await statuses(`POST /sessions?sessionId=${id}`, { userId: 'ana' }), [200, 400], id);
      }
      for (const id of ['a.b', 'a b', 'é', '~a']) {
        const line = `POST /sessions?sessionId=${encodeURIComponent(id)}`;
        assert.deepEqual(await statuses(line, { userId: 'ana' }), [400, 400], id);
      }
    });
  }
});

/** A request for each line of the table. */
const TRIED = {
  'paths without projects/P/locations/L, those of express mode': async () => {
    const { ask } = openServer();
    const { body } = await ask('POST reasoningEngines/77/sessions?sessionId=s1', { userId: 'ana' });
    assert.match(body.name, /^reasoningEngines\/77\/sessions\/s1\/operations\//);
    assert.equal(body.response.name, 'reasoningEngines/77/sessions/s1');
    assert.equal((await ask(`GET ${body.name}`)).body.done, true);
    assert.equal((await ask('GET reasoningEngines/77/sessions/s1')).body.userId, 'ana');
    assert.equal((await ask('POST reasoningEngines/77/sessions/s1:appendEvent', EVENT)).status, 200);
    assert.equal((await ask('GET reasoningEngines/77/sessions/s1/events')).body.sessionEvents.length, 1);
    const gone = await ask('DELETE reasoningEngines/77/sessions/s1');
    assert.equal((await ask(`GET ${gone.body.name}`)).body.done, true);
  },
  'a key in the header x-goog-api-key, which `authorize` reads': async () => {
    const authorize = (request) =>
      request.headers.get('x-goog-api-key') === 'secret' ? { id: 'a', apps: 'all', users: 'all' } : undefined;
    const fetch = fetchOf(serve(new SessionService(), { authorize }));
    const address = 'http://localhost/v1beta1/reasoningEngines/77/sessions';
    const { status } = await fetch(address, { headers: { 'x-goog-api-key': 'secret' } });
    const refused = await fetch(address, { headers: { 'x-goog-api-key': 'other' } });
    assert.deepEqual([status, refused.status], [200, 401]);
    assert.equal(refused.headers.get('www-authenticate'), 'Bearer');
    assert.equal((await refused.json()).error.status, 'UNAUTHENTICATED');
  },
  'DELETE with the body {}': async () => {
    assert.deepEqual(await statuses('DELETE /sessions/s1', {}, [CREATE]), [200, 200]);
    assert.deepEqual(await statuses('DELETE /sessions/s1', { a: 1 }, [CREATE]), [400, 400]);
  },
};

describe('a request that a client sends is taken', () => {
  for (const { client, leniency } of REQUESTS) {
    test(`${leniency}, as of ${client}`, async () => await TRIED[leniency]());
  }
});

/** The value of each choice, read from answers of the server. */
const OBSERVED = {
  operationParent: async (ask) =>
    /\/sessions\/s1\/operations\//.test((await ask(...CREATE)).body.name) ? 'session' : 'location',
  eventOrder: async (ask) => {
    await ask(...CREATE);
    for (const [author, timestamp] of [
      ['late', '2026-01-02T00:00:01Z'],
      ['early', '2026-01-02T00:00:00Z'],
    ]) {
      await ask(APPEND, { ...EVENT, author, timestamp });
    }
    return (await ask('GET /sessions/s1/events')).body.sessionEvents[0].author === 'early' ? 'timestamp' : '';
  },
  taken: async (ask) => {
    await ask(...CREATE);
    return (await ask('POST /sessions?sessionId=s1', { userId: 'bob' })).body.error.status;
  },
  hasEmptyContent: async (ask) => 'content' in (await eventOf(ask)),
  hasFurtherFields: async (ask) => {
    const { actions, eventMetadata } = await eventOf(ask);
    const found = ['requestedToolConfirmations' in actions, 'endOfAgent' in actions, 'usageMetadata' in eventMetadata];
    assert.equal(new Set(found).size, 1);
    return found[0];
  },
  hasAdkMetadata: async (ask) => '_usage_metadata' in ((await eventOf(ask)).eventMetadata.customMetadata ?? {}),
};

async function eventOf(ask) {
  await ask(...CREATE);
  const actions = { requestedToolConfirmations: { call: {} }, endOfAgent: true };
  await ask(APPEND, { ...EVENT, actions, eventMetadata: { usageMetadata: { totalTokenCount: 1 } } });
  return (await ask('GET /sessions/s1/events')).body.sessionEvents[0];
}

describe('the choices by version are those of the table', () => {
  for (const [version, choices] of Object.entries(CHOICES)) {
    for (const [name, value] of Object.entries(choices)) {
      test(`${name} of ${version}: ${JSON.stringify(value)}`, async () => {
        assert.equal(await OBSERVED[name](openServer({ version }).ask), value);
      });
    }
  }
});
