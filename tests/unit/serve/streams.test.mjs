// The stream of changes, as any client of HTTP has it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { handlerOf } from '../../support/client.mjs';
import { closedAfterEach } from '../../support/services.mjs';

const IDS = { appName: 'app', userId: 'user', sessionId: 'one' };
const append = (service, session, stateDelta = {}) =>
  service.appendEvent({ session, event: { author: 'user', actions: { stateDelta } } });

const serviceOf = closedAfterEach();

/** A request for the changes of one target. */
const watching = (parameters, headers) =>
  new Request(`http://host/v1/watch?${new globalThis.URLSearchParams(parameters)}`, {
    headers: { accept: 'text/event-stream', ...headers },
  });

describe('the stream of a watch', () => {
  it('is the session as JSON to who does not ask for events', async () => {
    const service = serviceOf();
    const session = await service.createSession({ ...IDS, state: { topic: 'tides' } });
    await append(service, session, { n: 1 });
    await append(service, session, { n: 2 });
    const handler = handlerOf(service);
    const read = async (more) =>
      await (await handler(watching({ ...IDS, ...more }, { accept: 'application/json' }))).json();
    assert.deepEqual(await read({}), { ...(await service.getSession(IDS)) });
    assert.deepEqual(
      (await read({ numRecentEvents: 1 })).events.map(({ id }) => id),
      [session.events[1].id],
    );
    assert.equal((await read({ sessionId: 'none' })).error.code, 'SESSION_NOT_FOUND');
  });

  it('refuses what it cannot understand', async () => {
    const service = serviceOf();
    await service.createSession(IDS);
    const handler = handlerOf(service, { onError() {}, limits: { body: 1_000_000 } });
    const status = async (address, init) => {
      const response = await handler(new Request(`http://host/v1/watch${address}`, init));
      return [response.status, response.body && (await response.json()).error.code];
    };
    const events = { headers: { accept: 'text/event-stream' } };
    const one = '?appName=app&userId=user&sessionId=one';
    assert.deepEqual(await status(one, { method: 'PUT' }), [405, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status(one, { method: 'OPTIONS' }), [405, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status('?userId=user', events), [400, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status('?appName=app&sessionId=one', events), [400, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status('?appName=app&userId=user&whole=true', events), [400, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status(`${one}&since=x`, events), [400, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status(`${one}&since=1:%25`, events), [400, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status(`${one}&whole=true&since=1`, events), [400, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status(`${one}2`, events), [404, 'SESSION_NOT_FOUND']);
    assert.deepEqual(await status(`${one}2&whole=true&since=1,1,1`, events), [404, 'SESSION_NOT_FOUND']);
    assert.deepEqual(await status('?appName=app'), [406, 'INVALID_ARGUMENT']);
    assert.deepEqual(await status(`${one}&numRecentEvents=-1`), [400, 'INVALID_ARGUMENT']);
    for (const body of ['', 'x', '{}', '[]', '[1]', '[{}]', '[{"appName":1}]', '[{"appName":"a","since":1}]']) {
      assert.deepEqual(await status('', { method: 'POST', body }), [400, 'INVALID_ARGUMENT'], body);
      const several = `?targets=${encodeURIComponent(body)}`;
      assert.deepEqual(await status(several), [400, 'INVALID_ARGUMENT'], several);
    }
    const many = JSON.stringify(Array(1001).fill({ appName: 'app' }));
    assert.deepEqual(await status('', { method: 'POST', body: many }), [413, 'TOO_LARGE']);
    assert.deepEqual(await status('', { method: 'POST', body: ' '.repeat(1_000_001) }), [413, 'TOO_LARGE']);
    await service.close();
    assert.deepEqual(await status(one, events), [503, 'CLOSED']);
  });

  it('holds no writer up when its client does not read', async () => {
    const service = serviceOf();
    const session = await service.createSession(IDS);
    const response = await handlerOf(service)(
      new Request('http://host/v1/watch?appName=app&userId=user&sessionId=one', {
        headers: { accept: 'text/event-stream' },
      }),
    );
    const reader = response.body.getReader();
    await reader.read();
    for (let count = 0; count < 1000; count++) await append(service, session, { count });
    let text = '';
    while (!text.includes('"revision":1000')) text += new TextDecoder().decode((await reader.read()).value);
    assert.equal(text.match(/^event: event$/gm).length, 1000, 'each of them');
    await reader.cancel();
  });
});
