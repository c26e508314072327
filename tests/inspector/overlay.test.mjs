// The overlay: an inspector over a page whose styles are hostile.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { focused } from './story.mjs';
import { workbench } from './support.mjs';

const HOSTILE = `
  html { font-size: 10px }
  * { color: red !important; border: 3px solid lime !important; display: inline-block !important; direction: rtl;
      letter-spacing: 4px !important; font-family: serif !important; text-transform: uppercase; opacity: 0.5 !important }
  button { background: yellow !important } section { position: static !important }
`;

const seed = async ({ service }) => {
  const session = await service.createSession({ appName: 'trips', userId: 'ana', sessionId: 'lisbon' });
  await service.appendEvent({ session, event: { author: 'user', actions: { stateDelta: { city: 'Lisbon' } } } });
};

const opener = (page) => page.getByRole('button', { name: 'Open the statepad inspector' });
const panel = (page) => page.getByRole('region', { name: 'statepad inspector' });

/** A page with an overlay beside a field of its own. */
async function overlaid(bench, t) {
  const page = await bench.inPage(t, { seed });
  await page.evaluate(async (css) => {
    globalThis.mounted.dispose();
    const style = document.createElement('style');
    style.textContent = css;
    document.head.append(style);
    document.querySelector('main').innerHTML = '<h1>A page</h1><input aria-label="own">';
    globalThis.keys = [];
    document.addEventListener('keydown', ({ key }) => globalThis.keys.push(key));
    const { overlay } = await import('statepad/inspector');
    globalThis.over = await overlay({ source: globalThis.service, label: 'dev.db' });
  }, HOSTILE);
  return page;
}

describe('the overlay', () => {
  const bench = workbench();

  it('opens a panel at the bottom, which Escape and a button close', async (t) => {
    const page = await overlaid(bench, t);
    await opener(page).click();
    await panel(page).getByText('dev.db').waitFor();
    const { x, y, width, height } = await panel(page).boundingBox();
    assert.deepEqual([x, y + height, width], [0, 900, 1440]);
    await page.keyboard.press('Escape');
    await opener(page).waitFor();
    assert.equal(await panel(page).count(), 0);
    assert.equal(await focused(page), 'Open the statepad inspector');
    await opener(page).click();
    await panel(page).getByRole('button', { name: 'Close', exact: true }).click();
    await opener(page).waitFor();
  });

  it('looks as it does in a page of its own', async (t) => {
    const page = await overlaid(bench, t);
    await opener(page).click();
    const search = panel(page).getByRole('button', { name: /^Search or run/ });
    const looks = await search.evaluate((button) => {
      const style = getComputedStyle(button);
      const names = ['direction', 'letterSpacing', 'textTransform', 'display', 'fontSize', 'borderBlockStartWidth'];
      return names.map((name) => style[name]);
    });
    assert.deepEqual(looks, ['ltr', 'normal', 'none', 'flex', '13px', '1px']);
    const isRed = await panel(page).evaluate((section) => getComputedStyle(section).color === 'rgb(255, 0, 0)');
    assert.equal(isRed, false);
    const host = await page.evaluate(() => {
      const { opacity, position, borderBlockStartWidth } = getComputedStyle(globalThis.over.element);
      return [opacity, position, borderBlockStartWidth];
    });
    assert.deepEqual(host, ['1', 'fixed', '0px']);
  });

  it('keeps its keys from the page, and takes none of the page', async (t) => {
    const page = await overlaid(bench, t);
    await opener(page).click();
    await panel(page).getByText('dev.db').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('city');
    await panel(page).getByRole('searchbox', { name: 'Find in this session' }).and(page.locator(':focus')).waitFor();
    assert.deepEqual(await page.evaluate(() => globalThis.keys), []);
    await page.getByRole('textbox', { name: 'own' }).focus();
    await page.keyboard.type('?s/');
    assert.equal(await page.getByRole('textbox', { name: 'own' }).inputValue(), '?s/');
    assert.equal(await page.locator('dialog[open]').count(), 0);
    assert.deepEqual(await page.evaluate(() => globalThis.keys), ['?', 's', '/']);
  });

  it('has an upper edge that can be moved, and keeps its place', async (t) => {
    const page = await overlaid(bench, t);
    await opener(page).click();
    const height = async () => (await panel(page).boundingBox()).height;
    const before = await height();
    const edge = page.getByRole('separator', { name: 'Size of the inspector' });
    const { x, y } = await edge.boundingBox();
    await page.mouse.move(x + 300, y + 2);
    await page.mouse.down();
    await page.mouse.move(x + 300, y - 98);
    await page.mouse.up();
    assert.equal(await height(), before + 100);
    await page.evaluate(async () => {
      globalThis.over.dispose();
      const { overlay } = await import('statepad/inspector');
      globalThis.over = await overlay({ source: globalThis.service });
      await globalThis.over.open();
    });
    assert.equal(await height(), before + 100);
  });

  it('says what is wrong with a source that cannot be read', async (t) => {
    const page = await overlaid(bench, t);
    await page.evaluate(async () => {
      globalThis.over.dispose();
      const { overlay } = await import('statepad/inspector');
      const source = Object.create(globalThis.service, {
        listApps: { value: () => Promise.reject(new Error('the disk is gone')) },
      });
      globalThis.over = await overlay({ source });
    });
    await opener(page).click();
    await panel(page).getByRole('alert').getByText('the disk is gone').waitFor();
  });

  it('is gone after its disposal', async (t) => {
    const page = await overlaid(bench, t);
    await page.evaluate(() => globalThis.over.open());
    await page.evaluate(() => globalThis.over.dispose());
    assert.equal(await page.locator('statepad-overlay').count(), 0);
  });
});
