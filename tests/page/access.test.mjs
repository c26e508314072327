// Whoever cannot see the page, or has no mouse: what axe finds, and the way through the page by keyboard.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { site, untilStored } from './support.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds fault with: the rule, how bad it is, and where. */
async function faults(page) {
  await page.evaluate(axe);
  return await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'] });
    return violations.flatMap(({ id, impact, nodes }) =>
      nodes.map(({ target, failureSummary }) => `${impact} ${id}: ${target.flat().join(' ')} ${failureSummary}`),
    );
  });
}

const named = (page, name, role = 'button') => page.getByRole(role, { name, exact: true }).first();

/** Two turns, a key's history, an event shown whole. */
async function full(page) {
  await named(page, 'Step').click();
  await named(page, 'user:name').waitFor();
  await named(page, 'Step').click();
  await page.getByText('How lovely', { exact: false }).first().waitFor();
  await named(page, 'city').click();
  await page.getByRole('listbox', { name: 'Events' }).getByRole('option').first().click();
}

describe('access', () => {
  const it_ = site();

  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 380],
    ['dark', 380],
  ]) {
    it(`axe finds no fault in ${colorScheme}, ${width} px wide`, async (t) => {
      const page = await it_.open(t, { options: { colorScheme, viewport: { width, height: 900 } } });
      assert.deepEqual(await faults(page), []);
      await full(page);
      assert.deepEqual(await faults(page), []);
      await page.getByLabel('Search keys, values and events').fill('lisbon');
      await page.getByRole('button', { name: 'edit city' }).click();
      assert.deepEqual(await faults(page), []);
      await page.keyboard.press('Escape');
      await page.getByRole('slider', { name: 'moment' }).fill('1');
      await page
        .getByLabel('A file with sessions')
        .setInputFiles({ name: 'x.jsonl', mimeType: 'text/plain', buffer: Buffer.from('{\n') });
      await page.getByRole('alert').filter({ hasText: 'line 1' }).waitFor();
      assert.deepEqual(await faults(page), []);
    });
  }

  it('the tab key reaches everything that can be clicked, in the order of the page', async (t) => {
    const page = await it_.open(t);
    await named(page, 'Step').click();
    await named(page, 'city').waitFor();
    // The tab key begins at the top again.
    await page.reload();
    await named(page, 'city').waitFor();
    const reached = [];
    for (let count = 0; count < 200; count++) {
      await page.keyboard.press('Tab');
      const name = await page.evaluate(() => {
        let focused = document.activeElement;
        while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
        if (focused === null || focused === document.body) return undefined;
        return `${focused.localName} ${focused.getAttribute('aria-label') ?? focused.labels?.[0]?.textContent?.trim() ?? focused.textContent.trim().slice(0, 40)}`;
      });
      if (name === undefined) break;
      reached.push(name);
    }
    const places = [
      'select Theme',
      'button Open file…',
      'button Step',
      'textarea',
      'select User',
      'select Session',
      'input Search',
      'button add key',
      'input moment',
      'div Events',
    ];
    const found = places.map((place) => reached.findIndex((name) => name.startsWith(place)));
    assert.ok(
      found.every((at) => at >= 0),
      `${JSON.stringify(found)} of ${JSON.stringify(places)} in ${reached.join(' | ')}`,
    );
    const [, , ...talk] = found;
    assert.deepEqual(
      talk,
      [...talk].sort((a, b) => a - b),
    );
  });

  it('a turn is played, looked at and edited without a mouse', async (t) => {
    const page = await it_.open(t);
    await named(page, 'Step').focus();
    await page.keyboard.press('Enter');
    await named(page, 'city').waitFor();
    await page.getByRole('listbox', { name: 'Events' }).focus();
    await page.keyboard.press('Home');
    await page.getByRole('button', { name: 'go to this moment' }).waitFor();
    await named(page, 'edit city').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('"Porto"');
    await page.keyboard.press('ControlOrMeta+Enter');
    await untilStored(page, ({ sessions }) => sessions[0].state.city === 'Porto');
  });
});
