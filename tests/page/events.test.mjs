// The list of events of the page, and one event in full.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { show, until } from './long-session.mjs';
import { site } from './support.mjs';

describe('the events', () => {
  const it_ = site();

  it('the list is gone through by keyboard, and says where one is', async (t) => {
    const page = await it_.open(t);
    const { list, option, event, at } = await show(page, 40);
    await page.getByText('40 events', { exact: true }).waitFor();
    for (const [key, n] of [
      ['ArrowUp', 40],
      ['ArrowUp', 39],
      ['ArrowDown', 40],
      ['ArrowDown', 40],
      ['PageUp', 30],
      ['Home', 1],
      ['PageDown', 11],
      ['End', 40],
    ]) {
      await list.press(key);
      await event(n);
      await until(`#${n} in view`, async () => (await list.getAttribute('aria-activedescendant')) === `event-${n}`);
    }
    await list.press('Home');
    await option(1).waitFor();
    assert.deepEqual(
      [await option(1).getAttribute('aria-posinset'), await option(1).getAttribute('aria-setsize')],
      ['1', '40'],
    );
    await list.press('Enter');
    await at('#1 of 40');
    await option(3).click();
    await event(3);
    assert.deepEqual(await option(3).locator('.key').allInnerTexts(), ['user:theme']);
  });

  it('an event is shown whole: what it said, wrote and has besides, and as JSON to copy', async (t) => {
    const context = await it_.context(t, { permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await it_.open(t, { context });
    const { details, mark, event, at } = await show(page, 40);
    await mark(12).click();
    await event(12);
    for (const text of [
      'words of event 12',
      'turn-2',
      'e12',
      '2026-01-01T00:00:12.000Z',
      'branch',
      '"root.planner"',
      '{"calm":true}',
    ]) {
      await details.getByText(text, { exact: true }).first().waitFor();
    }
    await details.getByText('JSON', { exact: true }).click();
    await details.getByRole('button', { name: 'Copy' }).click();
    await details.getByText('Copied').waitFor();
    const copied = JSON.parse(await page.evaluate(() => navigator.clipboard.readText()));
    assert.deepEqual(
      [copied.id, copied.mood, copied.actions.stateDelta],
      ['e12', { calm: true }, { 'user:theme': 12 }],
    );
    await details.getByRole('button', { name: 'first event of the turn (#9)' }).click();
    await event(9);
    await details.getByRole('button', { name: 'next event' }).click();
    await event(10);
    await details.getByRole('button', { name: 'previous event' }).click();
    await event(9);
    await details.getByRole('button', { name: 'Go to moment' }).click();
    await at('#9 of 40');
    await mark(30).click();
    await details.getByRole('row').filter({ hasText: 'topic' }).getByText('deleted').waitFor();
    await details.getByRole('button', { name: 'close the event' }).click();
    await details.waitFor({ state: 'detached' });
  });

  for (const [width, colorScheme] of [
    [380, 'dark'],
    [1280, 'light'],
  ]) {
    it(`nothing sticks out at ${width} px, ${colorScheme}`, async (t) => {
      const page = await it_.open(t, { options: { viewport: { width, height: 900 }, colorScheme } });
      const { mark, details, timeline, list } = await show(page, 40);
      await mark(40).click();
      await details.getByRole('button', { name: 'topic', exact: true }).click();
      await timeline.locator('.trace > div').first().waitFor();
      for (const part of [timeline, details, list]) {
        const box = await part.boundingBox();
        assert.ok(box.x >= 0 && box.x + box.width <= width);
        const isWide = await part.evaluate((element) => element.scrollWidth > element.clientWidth + 1);
        assert.equal(isWide, false);
      }
    });
  }
});
