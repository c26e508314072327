// Whoever cannot see the page, or has no mouse: what axe finds, and the way through the page by keyboard.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { openPage } from '../support/chromium.mjs';
import { clickMark } from '../support/marks.mjs';
import { say, SCENES, site, stored, untilStored } from './support.mjs';

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

/** An event shown whole, a key's history, and the moment of the event. */
async function full(page) {
  await clickMark(page, 1);
  await page.locator('statepad-conversation').getByRole('button', { name: 'city' }).first().click();
}

describe('access', () => {
  const it_ = site();

  for (const [colorScheme, width] of [
    ['light', 1440],
    ['dark', 1440],
    ['light', 390],
    ['dark', 390],
  ]) {
    it(`axe finds no fault in ${colorScheme}, ${width} px wide`, async (t) => {
      const page = await it_.open(t, { options: { colorScheme, viewport: { width, height: 900 } } });
      assert.deepEqual(await faults(page), []);
      if (width > 400) await full(page);
      await page
        .getByLabel('A file with sessions')
        .setInputFiles({ name: 'x.jsonl', mimeType: 'text/plain', buffer: Buffer.from('{\n') });
      await page.getByRole('alert').filter({ hasText: 'x.jsonl cannot be opened' }).waitFor();
      assert.deepEqual(await faults(page), []);
    });
  }

  for (const width of [1440, 390]) {
    it(`targets are at least 24 px wide and high, ${width} px wide`, async (t) => {
      const page = await it_.open(t, { options: { viewport: { width, height: 900 } } });
      if (width > 400) await full(page);
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

  it('a newcomer is told what this is, where to read more, and three things to do', async (t) => {
    const page = await it_.open(t);
    await page.getByText('See what your agent knew, and when.', { exact: false }).waitFor();
    assert.deepEqual(await page.locator('header nav a[href]').allInnerTexts(), ['Guide', 'Rust', 'Download']);
    assert.deepEqual(await page.locator('header .doing > :is(button, code)').allInnerTexts(), [
      'Replay',
      'Open your file…',
      'npx statepad inspect sessions.db',
    ]);
    assert.equal((await page.getByRole('alert').allInnerTexts()).join(''), '');
  });

  it('a first visit plays by itself, can be paused, and goes on after a reload by Replay', async (t) => {
    const context = await it_.context(t);
    const { page, complaints } = await openPage(context, it_.origin);
    await page.goto(it_.address);
    await page.getByText('Hi, Ana here!', { exact: false }).first().waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Replay' }).waitFor();
    const [session] = (await stored(page)).sessions;
    assert.ok(session.rev >= 1 && session.rev < SCENES, `${session.rev} events`);
    assert.deepEqual(complaints, []);
  });

  it('“hello” is answered by a script that says what it is', async (t) => {
    const page = await it_.open(t);
    await say(page, 'hello');
    await page
      .getByText('Hello, Ana! I am a short script; there is no model behind this page.', { exact: false })
      .waitFor();
    await say(page, 'why is the sky blue?');
    await page.getByText('There is no model behind this page, so I cannot answer that.', { exact: false }).waitFor();
    await say(page, 'my name is Kim');
    await untilStored(page, ({ users }) => users.ana.name === 'Kim');
  });
});
