// The inspector's parts in a page of somebody else's, who brings a service and colours.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { openPage } from '../support/chromium.mjs';
import { site } from './support.mjs';

const program = `
  import { SessionService } from 'statepad';
  import { Inspection } from './www/inspector/index.ts';

  const service = new SessionService();
  const ids = { appName: 'shop', userId: 'kim' };
  const session = await service.createSession({ ...ids, sessionId: 'cart-1', state: { 'app:open': true } });
  for (const [author, stateDelta] of [['user', { items: ['tea'] }], ['clerk', { items: ['tea', 'milk'], 'user:points': 3 }]]) {
    await service.appendEvent({ session, event: { author, invocationId: 'i', actions: { stateDelta } } });
  }
  const inspection = new Inspection(service, { apps: ['shop'], author: 'support' });
  await inspection.open({ ...ids, sessionId: 'cart-1' });
  for (const part of document.querySelectorAll('statepad-state, statepad-timeline')) part.inspection = inspection;
  globalThis.read = () => service.getSession({ ...ids, sessionId: 'cart-1' });
`;

const html = (script) => `<!doctype html><html lang="en"><title>shop</title>
<style>:root { color-scheme: light; --sp-session: rgb(120, 0, 200); } h1 { color: red }</style>
<h1>A shop</h1><statepad-state></statepad-state><statepad-timeline></statepad-timeline>
<script type="module">${script.replaceAll('</script', '<\\/script')}</script>`;

const { outputFiles } = await build({
  stdin: { contents: program, resolveDir: fileURLToPath(new URL('../..', import.meta.url)), loader: 'ts' },
  bundle: true,
  format: 'esm',
  target: 'es2022',
  conditions: ['browser'],
  write: false,
  logLevel: 'error',
});

describe('parts of the inspector in another page', () => {
  const it_ = site({ pages: { '/shop': html(outputFiles[0].text) } });

  it('show a service in memory, move together, write to it, and take the page’s colours', async (t) => {
    const { page, complaints } = await openPage(await it_.context(t), it_.origin);
    await page.goto(`${it_.origin}/shop`);
    const items = page.getByRole('button', { name: 'items', exact: true }).first();
    await items.waitFor();
    assert.equal(await items.evaluate((element) => getComputedStyle(element).color), 'rgb(120, 0, 200)');
    await page.getByText('["tea","milk"]').waitFor();

    await page.getByRole('slider', { name: 'moment' }).fill('1');
    await page.getByText('["tea"]', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Now', exact: true }).click();

    await page.getByRole('button', { name: 'edit user:points' }).click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('4');
    await page.keyboard.press('ControlOrMeta+Enter');
    await page.waitForFunction(async () => (await globalThis.read()).state['user:points'] === 4);
    assert.equal(await page.evaluate(async () => (await globalThis.read()).events.at(-1).author), 'support');
    await page.getByText('#3 of 3', { exact: false }).waitFor();
    assert.deepEqual(complaints, []);
  });
});
