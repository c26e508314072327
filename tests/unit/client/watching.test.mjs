// Watching over HTTP: no change is missing, and none comes twice, however often the connection is cut.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DELETED } from 'statepad';
import { connect } from 'statepad/client';
import { memoryStore } from 'statepad/stores/memory';
import { serveFetch } from '../../support/fetch-server.mjs';
import { countingClient, handlerOf, hurried } from '../../support/client.mjs';
import { closedAfterEach, countingWatches } from '../../support/services.mjs';

const IDS = { appName: 'app', userId: 'user', sessionId: 'one' };
const append = (service, session, stateDelta = {}) =>
  service.appendEvent({ session, event: { author: 'user', actions: { stateDelta } } });

const serviceOf = closedAfterEach();

/** A request for the changes of several targets. */
const asking = (targets, init) =>
  new Request('http://host/v1/watch', { method: 'POST', body: JSON.stringify(targets), ...init });

/** A request for the changes of one target. */
const watching = (parameters, headers) =>
  new Request(`http://host/v1/watch?${new globalThis.URLSearchParams(parameters)}`, {
    headers: { accept: 'text/event-stream', ...headers },
  });

/** The text of a stream until it has a part. */
async function textUntil(part, { body }) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (!text.includes(part)) {
    const { done, value } = await reader.read();
    assert.ok(!done, `it ended with ${JSON.stringify(text)}`);
    text += decoder.decode(value);
  }
  await reader.cancel();
  return text;
}

async function take(count, changes) {
  const seen = [];
  for await (const change of changes) {
    seen.push(change);
    if (seen.length === count) break;
  }
  return seen;
}

for (const [where, storeOf] of [
  ['in memory', () => ({})],
  ['over a store that others write to', () => ({ store: memoryStore() })],
]) {
  describe(`watching over HTTP, ${where}`, () => {
    it('tells 2,000 events over 1,000 connections that are cut: each once, in order', async () => {
      const options = storeOf();
      const service = serviceOf(options);
      const writer = options.store === undefined ? service : serviceOf(options);
      await service.createSession(IDS);
      let cuts = 0;
      const cutAfter = () => (cuts++ < 1000 ? 1 + Math.floor(Math.random() * 400) : Infinity);
      const { client, counts } = countingClient(handlerOf(service), { cutAfter });
      const seen = take(2000, client.watch(IDS, { since: 0 }));
      const session = await writer.getSession(IDS);
      for (let count = 0; count < 2000; count++) {
        await append(writer, session, { count });
        if (count % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      const changes = await seen;
      assert.deepEqual(
        changes.map(({ type, revision }) => `${type} ${revision}`),
        Array.from({ length: 2000 }, (_, index) => `event ${index + 1}`),
      );
      assert.deepEqual(
        changes.map(({ event }) => event),
        session.events,
      );
      assert.ok(counts.connections > 1000, `${counts.connections} connections`);
    });

    it('tells the changes of a user, however often it is cut', async () => {
      const options = storeOf();
      const service = serviceOf(options);
      const writer = options.store === undefined ? service : serviceOf(options);
      await service.createSession({ ...IDS, state: { 'user:n': 0, 'user:old': 1 } });
      let cuts = 0;
      const cutAfter = () => (cuts++ < 50 ? 1 + Math.floor(Math.random() * 300) : Infinity);
      const { client } = countingClient(handlerOf(service), { cutAfter });
      const values = {};
      let position = 0;
      const done = (async () => {
        for await (const change of client.watch({ appName: 'app', userId: 'user' }, { initial: true })) {
          assert.equal(change.type, 'values');
          assert.equal(change.from, position, 'no gap, no repeat');
          position = change.position;
          for (const [key, value] of Object.entries(change.delta)) {
            if (value === DELETED) delete values[key];
            else values[key] = value;
          }
          if (values['user:n'] === 200) break;
        }
      })();
      for (let n = 1; n <= 200; n++) {
        await writer.updateState({ appName: 'app', userId: 'user' }, () => ({
          'user:n': n,
          'user:old': n % 2 ? DELETED : n,
        }));
        if (n % 10 === 0) await new Promise((resolve) => setTimeout(resolve, 2));
      }
      await done;
      assert.deepEqual(values, { 'user:n': 200, 'user:old': 200 });
    });
  });
}

describe('a watch', () => {
  it('begins at now, and does not miss what comes before the first change is told', async () => {
    const service = serviceOf();
    const session = await service.createSession(IDS);
    await append(service, session);
    // The first connection breaks right behind the place that it begins with.
    const handler = handlerOf(service);
    const begin = await textUntil('id: ', await handler(asking([{ ...IDS, initial: false }])));
    const sizes = [hurried(new TextEncoder().encode(begin)).length];
    const { client, counts } = countingClient(handler, { cutAfter: () => sizes.shift() ?? Infinity });
    const changes = client.watch(IDS)[Symbol.asyncIterator]();
    const next = changes.next();
    while (counts.connections < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    await append(service, session);
    assert.equal((await next).value.revision, 2);
    await changes.return();
  });

  it('tells of a session that was deleted, or made anew, and of one that has gone back', async () => {
    const service = serviceOf();
    const handler = handlerOf(service);
    let session = await service.createSession(IDS);
    await append(service, session);
    const { client } = countingClient(handler);
    const changes = client.watch(session, { since: 1 })[Symbol.asyncIterator]();
    const next = changes.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await service.deleteSession(IDS);
    assert.deepEqual((await next).value, { type: 'deleted' });
    assert.equal((await changes.next()).done, true);
    const ask = (id) =>
      handler(
        new Request('http://host/v1/watch?appName=app&userId=user&sessionId=one', {
          headers: { accept: 'text/event-stream', 'last-event-id': id },
        }),
      );
    assert.equal((await ask('1')).status, 404);
    session = await service.createSession(IDS);
    await append(service, session);
    const told = async (id) => /event: (.*)\n/.exec(await textUntil('data:', await ask(id)))[1];
    assert.equal(await told('1:other'), 'reload', 'another event stands at this revision');
    assert.equal(await told('7:seventh'), 'reload', 'there is no such revision');
    const [, place] = /id: (.*)\n/.exec(await textUntil('id: ', await handler(watching(IDS))));
    await append(service, session);
    assert.equal(await told(place), 'event');
  });

  it('writes to a quiet connection now and then, and lets go of everything when it is cut', async () => {
    const service = serviceOf();
    await service.createSession(IDS);
    const watches = countingWatches(service);
    const handler = handlerOf(watches.source, { heartbeat: 5 });
    const server = await serveFetch(handler);
    try {
      const client = connect({ url: `${server.origin}/?x`, silence: 60_000 });
      const changes = client.watch(IDS)[Symbol.asyncIterator]();
      const next = changes.next().catch((error) => error);
      while (watches.open() === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      const response = await handler(
        new Request('http://host/v1/watch?appName=app&userId=user&sessionId=one', {
          headers: { accept: 'text/event-stream' },
        }),
      );
      const reader = response.body.getReader();
      let text = '';
      while (!text.endsWith(': \n\n: \n\n')) text += new TextDecoder().decode((await reader.read()).value);
      await reader.cancel();
      server.cut();
      while (watches.open() > 1) await new Promise((resolve) => setTimeout(resolve, 5));
      await append(service, await service.getSession(IDS));
      assert.equal((await next).value.revision, 1, 'it has connected again');
      await changes.return();
      while (watches.open() > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    } finally {
      await server.stop();
    }
  });
});
