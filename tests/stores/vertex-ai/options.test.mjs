// The options of the store: refused ones, engines, tokens, the address of requests, and the members of new sessions.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { increment, SessionService } from 'statepad';
import { vertexAiStore } from 'statepad/stores/vertex-ai';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { append, APP, context, create, keyOf, opened, PROJECT, storeOver } from './words.mjs';

test('options that cannot be used are refused, and the message says what to give', () => {
  for (const [options, says] of [
    [undefined, /options are missing: vertexAiStore\(/],
    [{}, /project must be a text: 'my-project'/],
    [{ project: 'p' }, /location must be a text: 'us-central1'/],
    [{ apiKey: '' }, /apiKey must be a text/],
    [{ apiKey: 'a b' }, /apiKey has characters that a key cannot have/],
    [{ ...PROJECT, apiKey: 'k' }, /project cannot go together with apiKey/],
    [{ location: 'us-central1', apiKey: 'k' }, /location cannot go together with apiKey/],
    [{ apiKey: 'k', token: () => 't' }, /token cannot go together with apiKey/],
    [{ apiKey: 'k', engine: 'shop' }, /engine must be an id .*, not "shop"/],
    [{ ...PROJECT, project: 'a/b' }, /project has characters that cannot be in a resource name/],
    [{ ...PROJECT, location: '' }, /location must be a text/],
    [{ ...PROJECT, engin: '1' }, /engin is not known in the options.*did you mean engine\?/],
    [{ ...PROJECT, engine: 'shop' }, /engine must be an id .*, not "shop"/],
    [{ ...PROJECT, engine: 1234 }, /engine must be an id .*, not 1234/],
    [{ ...PROJECT, token: 'secret' }, /token must be a function, not a string/],
    [{ ...PROJECT, fetch: {} }, /fetch must be a function/],
    [{ ...PROJECT, baseUrl: 'localhost' }, /baseUrl must be a URL/],
    [{ ...PROJECT, apiVersion: 'v1/x' }, /apiVersion has characters/],
    [{ ...PROJECT, ttl: 3600 }, /ttl must be seconds with an s: '86400s', not 3600/],
    [{ ...PROJECT, ttl: '1h' }, /ttl must be seconds/],
    [{ ...PROJECT, expireTime: 'tomorrow' }, /expireTime must be in RFC 3339, not "tomorrow"/],
    [{ ...PROJECT, ttl: '60s', expireTime: '2030-01-01T00:00:00Z' }, /ttl cannot go together with expireTime/],
    [{ ...PROJECT, attempts: 0 }, /attempts must be at least 1/],
    [{ ...PROJECT, pause: -1 }, /pause must be a whole number/],
    [{ ...PROJECT, clockSkew: 0.5 }, /clockSkew must be a whole number/],
  ]) {
    assert.throws(() => vertexAiStore(options), { code: 'INVALID_ARGUMENT', message: says });
  }
});

test('an app is an engine by its id, its resource name, or as a function tells', async () => {
  const name = 'projects/other/locations/europe-west4/reasoningEngines/77';
  for (const [engine, app, host, path] of [
    [undefined, '1234', 'us-central1-', `projects/my-project/locations/us-central1/reasoningEngines/1234`],
    [undefined, name, 'europe-west4-', name],
    ['55', 'shop', 'us-central1-', 'projects/my-project/locations/us-central1/reasoningEngines/55'],
    [name, 'shop', 'europe-west4-', name],
    [(given) => (given === 'shop' ? '66' : '0'), 'shop', 'us-central1-', /reasoningEngines\/66$/],
    [() => name, 'shop', 'europe-west4-', name],
  ]) {
    const vertex = fakeVertexAi();
    const urls = [];
    const fetch = (url, init) => (urls.push(url), vertex.fetch(url, init));
    const store = storeOver({ fetch }, engine === undefined ? {} : { engine });
    await store.commit(create('c1', keyOf('s1', 'ana', app)), context);
    const [, origin, found] = /^(https:\/\/[^/]+)\/v1beta1\/(.*)\/sessions\?sessionId=s1$/.exec(urls[0]);
    assert.equal(origin, `https://${host}aiplatform.googleapis.com`);
    assert.match(found, path instanceof RegExp ? path : new RegExp(`^${path}$`));
  }
  const { store } = opened({ engine: () => undefined });
  await assert.rejects(store.load(keyOf('s1'), {}, context), { code: 'rejected', message: /is no Agent Engine/ });
  for (const app of ['shop', '', 'projects/p/locations/l/reasoningEngines/x', '../1234']) {
    const key = keyOf('s1', 'ana', app);
    for (const run of [
      (plain) => plain.load(key, {}, context),
      (plain) => plain.list({ app, descending: true }, context),
      (plain) => plain.remove(key, context),
      (plain) => plain.loadScope({ app }, context),
    ]) {
      await assert.rejects(run(opened().store), {
        code: 'rejected',
        message: /its name must be the id of an engine/,
      });
    }
  }
});

test('requests go where they are told to, in the version that is told', async () => {
  const urls = [];
  const vertex = fakeVertexAi();
  const fetch = (url, init) => (urls.push(url), vertex.fetch(url, init));
  const local = storeOver({ fetch }, { baseUrl: 'http://localhost:8080/', apiVersion: 'v1' });
  await local.load(keyOf('s1'), {}, context);
  assert.match(urls[0], /^http:\/\/localhost:8080\/v1\/projects\/my-project\//);
  for (const [location, host] of [
    ['global', 'aiplatform.googleapis.com'],
    ['us', 'aiplatform.us.rep.googleapis.com'],
    ['eu', 'aiplatform.eu.rep.googleapis.com'],
    ['us-east5', 'us-east5-aiplatform.googleapis.com'],
    ['europe-west4', 'europe-west4-aiplatform.googleapis.com'],
  ]) {
    await storeOver({ fetch }, { location }).load(keyOf('s1'), {}, context);
    const start = `https://${host}/v1beta1/projects/my-project/locations/${location}/`;
    assert.ok(urls.at(-1).startsWith(start), urls.at(-1));
    const engine = `projects/other/locations/${location}/reasoningEngines/77`;
    await storeOver({ fetch }, { engine }).load(keyOf('s1'), {}, context);
    assert.ok(urls.at(-1).startsWith(`https://${host}/v1beta1/${engine}/`), urls.at(-1));
  }
});

test('express mode has a key in the place of a project, a location and a token', async () => {
  const vertex = fakeVertexAi({ token: 'required' });
  const asked = [];
  const fetch = (url, init) => (asked.push([url, init.headers]), vertex.fetch(url, init));
  const full = 'projects/p/locations/us-central1/reasoningEngines/1234';
  for (const [engine, app] of [
    [undefined, '1234'],
    [undefined, full],
    ['1234', 'shop'],
    [full, 'shop'],
  ]) {
    const id = `s${asked.length}`;
    const store = vertexAiStore({ apiKey: 'express-key', fetch, pause: 1, ...(engine && { engine }) });
    const service = new SessionService({ store });
    const key = keyOf(id, 'ana', app);
    vertex.disturb({ kind: 'pending', polls: 2 });
    const session = await service.createSession({ ...key, state: { n: 1 } });
    await service.appendEvent({ session, event: { actions: { stateDelta: { n: 2 } } } });
    assert.deepEqual({ ...(await service.getSession(key)).state }, { n: 2 });
    assert.ok((await service.listSessions({ appName: app })).sessions.some((each) => each.id === id));
    await service.deleteSession(key);
    assert.equal(await service.getSession(key), undefined);
  }
  const engineUrl = 'https://aiplatform.googleapis.com/v1beta1/reasoningEngines/1234/sessions';
  for (const [url, headers] of asked) {
    assert.ok(url.startsWith(engineUrl) || url.includes('/operations/'), url);
    assert.deepEqual([headers['x-goog-api-key'], headers.authorization], ['express-key', undefined]);
  }
  // Each key has a project of its own.
  const store = vertexAiStore({ apiKey: 'express-key', engine: '1234', fetch: vertex.fetch });
  const other = vertexAiStore({ apiKey: 'other-key', engine: '1234', fetch: vertex.fetch });
  await store.commit(create('c1', keyOf('s1')), context);
  assert.equal(await other.load(keyOf('s1'), {}, context), null);
});

test('new sessions end when they are told to', async () => {
  for (const expiry of [{ ttl: '3600s' }, { expireTime: '2100-01-01T00:00:00Z' }]) {
    const { vertex, store } = opened(expiry);
    await store.commit(create('c1', keyOf('s1')), context);
    const { body } = vertex.requests[0];
    assert.deepEqual(body, { userId: 'ana', labels: { 'statepad-creation': 'c1' }, ...expiry });
  }
  let now = Date.now();
  const { store, service } = opened({ ttl: '3600s' }, { now: () => now });
  await store.commit(create('c1', keyOf('s1')), context);
  now += 3_700_000;
  assert.equal(await service.getSession(keyOf('s1')), undefined);
});

test('the id of a creation is kept in a label, whatever it is made of', async () => {
  const { store } = opened();
  const ids = ['c', crypto.randomUUID(), 'UPPER', 'with space', 'a_b', '_', 'é😀', '_5f_', 'x'.repeat(63)];
  for (const [index, id] of ids.entries()) {
    const key = keyOf(`s${index}`);
    await store.commit(create(id, key), context);
    assert.equal((await store.load(key, {}, context)).created, id);
    assert.equal((await store.commit(create(id, key), context)).duplicate, true);
  }
  const key = keyOf('long');
  await store.commit(create('x'.repeat(64), key), context);
  assert.match((await store.load(key, {}, context)).created, /^20\d\d-.*Z$/);
  await assert.rejects(store.commit(create('x'.repeat(64), key), context), { code: 'exists' });
});

test('session ids that the API does not take are refused by name, and nothing is asked', async () => {
  const { vertex, service } = opened();
  for (const sessionId of ['Upper', 'under_score', '-a', 'a-', 'a/b', 'a.b', 'é', 'x'.repeat(64), '..']) {
    await assert.rejects(service.createSession(keyOf(sessionId)), {
      code: 'INVALID_ARGUMENT',
      message: /cannot be stored: the API accepts ids of up to 63 lower-case letters, digits and hyphens/,
    });
    await assert.rejects(service.getSession(keyOf(sessionId)), { code: 'INVALID_ARGUMENT' });
  }
  assert.deepEqual(vertex.requests, []);
  const { id } = await service.createSession({ appName: APP, userId: 'ana' });
  assert.match(id, /^[0-9a-f-]{36}$/);
});

test('what the API has no words for is refused by name', async () => {
  const { vertex, store, service } = opened();
  const session = await service.createSession(keyOf('s1'));
  const before = vertex.requests.length;
  const ofApp = { appName: APP };
  for (const [run, message] of [
    [() => service.appendEvent({ session, event: {}, expectedRevision: 0 }), /expectedRevision/],
    [() => service.rewind(session, { before: 'i' }), /revision/],
    [() => service.redo(session), /revision/],
    [() => service.fork(session, { at: 0 }), /revision/],
    [() => service.stateAt(session, 0), /revision/],
    [() => service.history({ ...ofApp, key: 'app:x' }), /revision/],
    [() => service.lease(session), /the store does not support leases/],
    [
      () => service.appendEvent({ session, event: { actions: { stateDelta: { n: increment(1) } } } }),
      /increment of "n" cannot be protected/,
    ],
  ]) {
    await assert.rejects(run(), { code: 'INVALID_ARGUMENT', message });
  }
  assert.equal(vertex.requests.length, before);
  await assert.rejects(
    service.updateState(ofApp, () => ({ 'app:x': 1 })),
    { code: 'INVALID_ARGUMENT', message: /written only with a session/ },
  );
  await assert.rejects(
    service.updateState(session, ({ x = 0 }) => ({ x: x + 1 })),
    { code: 'INVALID_ARGUMENT', message: /updateState cannot protect/ },
  );
  await assert.rejects(service.getUserState({ ...ofApp, userId: 'nobody' }), {
    code: 'INVALID_ARGUMENT',
    message: /the state of user "nobody" cannot be read: the API returns app and user state only with a session/,
  });
  for (const guard of [{ rev: 0 }, { pos: { app: 0 } }, { keys: { session: { set: { a: 1 } } } }, { fence: 1 }]) {
    await assert.rejects(store.commit({ ...append('e1', keyOf('s1')), guard }, context), { code: 'rejected' });
  }
  const operators = { session: { n: { increment: 1 } } };
  await assert.rejects(store.commit({ ...append('e1', keyOf('s1')), operators }, context), { code: 'rejected' });
  assert.equal(vertex.requests.filter(({ method }) => method === 'POST').length, 1);
});

test('the host’s own fetch and the credentials that Google’s library finds are what is used otherwise', async () => {
  const [{ fetch }, asked] = [globalThis, []];
  const vertex = fakeVertexAi();
  globalThis.fetch = (url, init) => (asked.push(init.headers.authorization), vertex.fetch(url, init));
  try {
    const store = vertexAiStore({ ...PROJECT, token: () => 'mine' });
    await store.commit(create('c1', keyOf('s1')), context);
    assert.deepEqual(asked, ['Bearer mine']);
  } finally {
    globalThis.fetch = fetch;
  }
  const previous = process.env.GOOGLE_APPLICATION_CREDENTIALS;
  process.env.GOOGLE_APPLICATION_CREDENTIALS = '/nowhere/credentials.json';
  try {
    const store = vertexAiStore({ ...PROJECT, fetch: vertex.fetch });
    await assert.rejects(store.load(keyOf('s1'), {}, context), {
      code: 'unavailable',
      message: /no access token is available: .*credentials/i,
    });
  } finally {
    if (previous === undefined) delete process.env.GOOGLE_APPLICATION_CREDENTIALS;
    else process.env.GOOGLE_APPLICATION_CREDENTIALS = previous;
  }
});

test('the token of a machine in the cloud is found by Google’s library, and one that is refused is asked for anew', async () => {
  let given = 0;
  const metadata = createServer((request, response) => {
    response.setHeader('metadata-flavor', 'Google');
    response.setHeader('content-type', 'application/json');
    const isToken = request.url.includes('/token');
    response.end(
      isToken
        ? JSON.stringify({ access_token: `machine-${(given += 1)}`, expires_in: 3_600, token_type: 'Bearer' })
        : JSON.stringify({}),
    );
  });
  await new Promise((resolve) => metadata.listen(0, '127.0.0.1', resolve));
  const environment = {
    GCE_METADATA_HOST: `127.0.0.1:${metadata.address().port}`,
    METADATA_SERVER_DETECTION: 'assume-present',
    GOOGLE_APPLICATION_CREDENTIALS: undefined,
    // The folder where the credentials of a developer would be.
    HOME: '/nowhere',
  };
  const previous = Object.fromEntries(Object.keys(environment).map((name) => [name, process.env[name]]));
  const apply = (values) =>
    Object.entries(values).forEach(([name, value]) => {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    });
  apply(environment);
  try {
    const asked = [];
    const vertex = fakeVertexAi();
    const fetch = (url, init) => (asked.push(init.headers.authorization), vertex.fetch(url, init));
    const store = vertexAiStore({ ...PROJECT, fetch });
    await store.commit(create('c1', keyOf('s1')), context);
    await store.load(keyOf('s1'), {}, context);
    assert.deepEqual(new Set(asked), new Set(['Bearer machine-1']));
    vertex.expireTokens();
    await store.load(keyOf('s1'), {}, context);
    assert.deepEqual(asked.slice(2), ['Bearer machine-1', 'Bearer machine-2']);
  } finally {
    apply(previous);
    metadata.close();
  }
});
