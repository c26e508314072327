// The bundled inspector opens over every kind of source, in two browsers.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { workbench } from './support.mjs';

const seed = async ({ service, arg }) => {
  const session = await service.createSession({ appName: 'shop', userId: 'kim', sessionId: 'cart' });
  await service.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { items: arg } } } });
};

describe('an inspector in a browser', () => {
  const bench = workbench();

  it('shows a service in the page', async (t) => {
    const page = await bench.inPage(t, { seed, arg: ['tea'] });
    const rows = await page.evaluate(() => globalThis.inspection.rows.map(({ key, value }) => [key, value]));
    assert.deepEqual(rows, [['items', ['tea']]]);
  });

  it('shows the sessions of a server', async (t) => {
    const service = new SessionService();
    await seed({ service, arg: ['milk'] });
    const page = await bench.overServer(t, service, { mount: { write: true } });
    const rows = await page.evaluate(() => globalThis.inspection.rows.map(({ key, value }) => [key, value]));
    assert.deepEqual(rows, [['items', ['milk']]]);
  });

  it('opens in Firefox', async (t) => {
    const drive = ({ inspection }) => inspection.rows.map(({ key, text }) => `${key} ${text}`);
    assert.deepEqual(await bench.inFirefox(t, { seed, arg: ['tea'], drive }), ['items ["tea"]']);
  });
});
