// Whoever cannot see the page, or has no mouse: what axe finds, and the way through the page by keyboard.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { site, untilStored } from './support.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The faults that axe finds: the rule, its impact, and the place. */
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

/** The element that has the focus. */
const focused = (page) =>
  page.evaluate(() => {
    let it = document.activeElement;
    while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
    if (it === null || it === document.body) return undefined;
    return `${it.localName} ${it.getAttribute('aria-label') ?? it.labels?.[0]?.textContent?.trim() ?? it.textContent.trim().slice(0, 40)}`;
  });

/** Everything that the Tab key reaches, from the top to the end. */
async function stops(page) {
  const reached = [];
  for (let count = 0; count < 200; count++) {
    await page.keyboard.press('Tab');
    const name = await focused(page);
    if (name === undefined) break;
    reached.push(name);
  }
  return reached;
}

/** Plays the first conversation to its end. */
async function playAll(page) {
  for (let turn = 1; turn <= 6; turn++) {
    await named(page, 'Step').click();
    await page.getByText(`${turn} of 6 turns`).waitFor();
  }
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
      await page.getByRole('alert').filter({ hasText: 'x.jsonl cannot be opened' }).waitFor();
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
    const reached = await stops(page);
    const places = [
      'select Theme',
      'button Open file…',
      'button Step',
      'textarea Message',
      'select User',
      'select Session',
      'input Search',
      'button add key',
      'div Events',
      'input moment',
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
    await page.getByRole('button', { name: 'Go to moment' }).waitFor();
    await named(page, 'edit city').focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type('"Porto"');
    await page.keyboard.press('ControlOrMeta+Enter');
    await untilStored(page, ({ sessions }) => sessions[0].state.city === 'Porto');
  });

  it('few stops of the Tab key lead through a long session, and the first ones lead to each part', async (t) => {
    const page = await it_.open(t);
    await playAll(page);
    await page.reload();
    await page.getByText('6 of 6 turns, the end').waitFor();
    await page.locator('.mark').nth(8).waitFor();
    const reached = await stops(page);
    t.diagnostic(`${reached.length} stops: ${reached.join(' | ')}`);
    assert.ok(reached.length <= 50, `${reached.length} stops: ${reached.join(' | ')}`);
    assert.deepEqual(reached.slice(0, 4), ['a Conversation', 'a State', 'a Events', 'a Timeline']);
    for (const [presses, wanted] of [
      [1, 'select Conversation to start'],
      [2, 'button add key to session'],
      [3, 'div Events'],
      [4, 'button Step back'],
    ]) {
      await page.reload();
      await page.locator('.mark').nth(8).waitFor();
      for (let count = 0; count < presses; count++) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      const found = [];
      for (let count = 0; count < 3 && !found.includes(wanted); count++) {
        await page.keyboard.press('Tab');
        found.push(await focused(page));
      }
      assert.ok(found.includes(wanted), `${wanted} in ${found.join(' | ')}`);
    }
  });

  it('the arrow keys go from key to key and from message to message', async (t) => {
    const page = await it_.open(t);
    await playAll(page);
    await named(page, 'city').focus();
    for (const [key, wanted] of [
      ['ArrowDown', 'button party'],
      ['Tab', 'button #1 user'],
      ['Tab', 'button edit party'],
      ['ArrowUp', 'button edit city'],
      // This turn has deleted it: nothing but its name is left.
      ['End', 'button seats'],
      ['Home', 'button city'],
    ]) {
      await page.keyboard.press(key);
      assert.equal(await focused(page), wanted, key);
    }
    const bubbles = page.getByRole('log').locator('.bubble');
    await bubbles.nth(8).focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    assert.equal(await bubbles.nth(6).evaluate((it) => it.getRootNode().activeElement === it), true);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Event #7', exact: true }).waitFor();
    await page.keyboard.press('Home');
    assert.equal(await bubbles.nth(0).evaluate((it) => it.getRootNode().activeElement === it), true);
  });

  for (const width of [1440, 390]) {
    it(`targets are at least 24 px wide and high, ${width} px wide`, async (t) => {
      const page = await it_.open(t, { options: { viewport: { width, height: 900 } } });
      await full(page);
      await page.getByText('What the agent understands').click();
      await page.getByRole('region', { name: 'Details' }).getByText('JSON', { exact: true }).click();
      const small = await page.evaluate(() => {
        const found = [];
        const look = (root) => {
          for (const it of root.querySelectorAll('*')) {
            if (it.shadowRoot !== null) look(it.shadowRoot);
            const isTarget = it.matches('a[href], button, input, select, textarea, summary, [role=option]');
            const { width, height } = it.getBoundingClientRect();
            const isHidden = it.matches('.hidden') || it.closest('.skip') !== null || width === 0;
            if (isTarget && !isHidden && (width < 24 || height < 23.99))
              found.push(`${it.localName} ${it.textContent.trim().slice(0, 30)} ${width}×${height}`);
          }
        };
        look(document);
        return found;
      });
      assert.deepEqual(small, []);
    });
  }

  it('in forced colours the moment, its slider and what is selected can be seen', async (t) => {
    const page = await it_.open(t, { options: { forcedColors: 'active', viewport: { width: 1440, height: 900 } } });
    await playAll(page);
    await page.locator('.mark[data-revision="4"]').click();
    await page.getByRole('heading', { name: 'Event #4' }).waitFor();
    const looks = await page.locator('statepad-timeline').evaluate((timeline) => {
      const find = (selector) => timeline.renderRoot.querySelector(selector);
      const canvas = getComputedStyle(document.body).backgroundColor;
      const line = getComputedStyle(find('.moment'), '::before');
      return {
        canvas,
        line: [line.borderInlineStartWidth, line.borderInlineStartColor],
        later: getComputedStyle(find('.later')).backgroundColor,
      };
    });
    assert.equal(looks.line[0], '2px');
    assert.notEqual(looks.line[1], looks.canvas);
    assert.match(looks.later, /, 0\)$/, 'what is later is not hidden');
    const outline = await page.locator('#event-4').evaluate((it) => getComputedStyle(it).outlineStyle);
    assert.equal(outline, 'solid');
    // The head of the line is drawn: its middle has another colour than the ruler beside it.
    const { x, y, width } = await page.getByRole('slider', { name: 'moment' }).boundingBox();
    const middle = x + 12 + ((width - 24) * 4) / 9;
    const clip = (left) => ({ x: left, y: y + 6, width: 2, height: 2 });
    const [head, ruler] = await Promise.all([
      page.screenshot({ clip: clip(middle - 1) }),
      page.screenshot({ clip: clip(middle + 14) }),
    ]);
    assert.notDeepEqual(head, ruler);
  });

  it('a newcomer is told what this is, where to read more, and what to do first', async (t) => {
    const page = await it_.open(t);
    await page.getByText('Look inside an AI agent’s session', { exact: false }).waitFor();
    const links = page.locator('header a[href]');
    assert.ok((await links.count()) >= 2);
    const main = page.locator('button.main:visible');
    assert.deepEqual(await main.allInnerTexts(), ['Play']);
    assert.equal((await page.getByRole('alert').allInnerTexts()).join(''), '');
    assert.equal(await page.locator('.bad:visible').count(), 0);
  });
});
