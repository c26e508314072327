// The timeline of the page: going through a session, by mouse and by keyboard.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { AUTHORS, drawn, isInView, middle, show, until } from './long-session.mjs';
import { site } from './support.mjs';

describe('the timeline', () => {
  const it_ = site();

  it('every author has a lane, and every event a mark in it that shows what it wrote', async (t) => {
    const page = await it_.open(t);
    const { timeline, picture, mark } = await show(page, 40);
    const lanes = timeline.getByRole('list', { name: 'Authors' }).getByRole('listitem');
    assert.deepEqual(await lanes.allInnerTexts(), ['planner', 'agent', 'user']);
    assert.deepEqual(
      await drawn(picture),
      Array.from({ length: 40 }, (_, index) => index + 1),
    );
    const boxes = await Promise.all((await lanes.all()).map((lane) => lane.boundingBox()));
    let before = 0;
    for (const n of [1, 2, 3, 15, 24, 40]) {
      const [x, y] = middle(await mark(n).boundingBox());
      const lane = boxes.find((box) => y > box.y && y < box.y + box.height);
      assert.equal(boxes.indexOf(lane), ['planner', 'agent', 'user'].indexOf(AUTHORS[n % 3]), `the lane of #${n}`);
      assert.ok(x > before, `#${n} stands after what was before it`);
      before = x;
    }
    const shows = (n) =>
      mark(n)
        .locator('path')
        .evaluateAll((paths) => paths.map((path) => path.getAttribute('class')));
    assert.deepEqual(await shows(15), ['session', 'user']);
    assert.deepEqual(await shows(40), ['session', 'app']);
    assert.deepEqual(await shows(24), ['app', 'user']);
    assert.deepEqual(await shows(7), []);
    assert.equal(await mark(7).locator('circle').count(), 1);
    assert.equal(
      await mark(15).locator('title').textContent(),
      '#15 user, wrote topic, user:theme: words of event 15',
    );
  });

  it('the slider goes back in time by keyboard, the state follows, and now is where it follows the session', async (t) => {
    const page = await it_.open(t);
    const { timeline, moment, mark, option, button, at, topic } = await show(page, 40);
    await at('#40 of 40 · planner · ');
    await moment.press('Home');
    await at('#0 of 40 · creation');
    await topic('none yet');
    assert.equal(await button('Step back').isDisabled(), true);
    for (let n = 0; n < 5; n++) await moment.press('ArrowRight');
    await at('#5 of 40 · agent · ');
    await topic('topic 5');
    assert.match(await moment.getAttribute('aria-valuetext'), /^#5 of 40 · agent/);
    await until('the list at the moment', () => isInView(option(5)));
    const [line] = middle(await timeline.locator('.moment').boundingBox());
    const [left, right] = await Promise.all([mark(5).boundingBox(), mark(6).boundingBox()]);
    assert.ok(
      line >= left.x + left.width && line <= right.x,
      'the line stands between what has happened and what has not',
    );
    await button('Step back').click();
    await topic('none yet');
    await button('Step forward').click();
    await topic('topic 5');
    await button('Now').click();
    await topic('topic 40');
    await at('#40 of 40');
    await until('the list at its end', () => isInView(option(40)));
    assert.equal(await button('Now').isDisabled(), true);
    assert.equal(await button('Step forward').isDisabled(), true);
  });

  it('a drag of the slider ends at the moment where it is let go', async (t) => {
    const page = await it_.open(t);
    const { timeline, moment, topic } = await show(page, 40);
    const { x, y, width, height } = await moment.boundingBox();
    await page.mouse.move(x + width - 8, y + height / 2);
    await page.mouse.down();
    for (let step = 1; step <= 60; step++)
      await page.mouse.move(x + width - 8 - (step / 60) * width * 0.75, y + height / 2);
    await page.mouse.up();
    const revision = Number(await moment.inputValue());
    assert.ok(revision >= 8 && revision <= 12, `a quarter of 40, not ${revision}`);
    await timeline.locator('output').getByText(`#${revision} of 40`).waitFor();
    await topic(`topic ${revision - (revision % 5)}`);
  });

  it('a click on a mark goes to its moment and shows its event, which then goes along with the slider', async (t) => {
    const page = await it_.open(t);
    const { picture, mark, moment, option, event, at, list, topic } = await show(page, 40);
    await mark(12).click();
    await event(12);
    await at('#12 of 40');
    await topic('topic 10');
    assert.equal(await option(12).getAttribute('aria-selected'), 'true');
    assert.equal(await picture.locator('.ring').getAttribute('data-revision'), '12');
    for (const [key, n] of [
      ['ArrowRight', 13],
      ['ArrowLeft', 12],
      ['ArrowUp', 13],
      ['PageDown', 9],
      ['Home', 0],
      ['ArrowLeft', 0],
      ['End', 40],
      ['ArrowRight', 40],
      ['PageUp', 40],
    ]) {
      await moment.press(key);
      await event(Math.max(n, 1));
      await at(`#${n} of 40`);
      assert.equal(await moment.inputValue(), String(n), key);
    }
    assert.match(await moment.getAttribute('aria-valuetext'), /^#40 of 40 · planner/);
    assert.equal(await list.locator('[aria-selected=true]').count(), 1);
    await list.press('Home');
    await event(1);
    await at('#40 of 40');
    await list.press('Enter');
    await at('#1 of 40');
  });

  it('the slider and the line of the moment are one: on the axis of the marks, and both can be dragged', async (t) => {
    const page = await it_.open(t);
    const { timeline, moment, mark, at } = await show(page, 40);
    assert.equal(await page.getByRole('slider').count(), 1, 'there is one control');
    const line = timeline.locator('.moment');
    // The thumb has no box of its own: its middle follows from the slider's.
    const thumb = async () => {
      const { x, width } = await moment.boundingBox();
      const [value, max] = [Number(await moment.inputValue()), Number(await moment.getAttribute('max'))];
      return x + 12 + ((width - 24) * value) / max;
    };
    for (const n of [40, 1, 17, 26]) {
      if (n < 40) await mark(n).click();
      await at(`#${n} of 40`);
      const [x] = middle(await line.boundingBox());
      assert.ok(Math.abs(x - (await thumb())) < 1, `the thumb is the head of the line at #${n}`);
      const box = await mark(n).boundingBox();
      assert.ok(x >= box.x + box.width && x - box.x - box.width < 6, `the line stands behind #${n}`);
    }
    // The line is dragged behind #9, and the click that ends the drag means no event.
    const [x, y] = middle(await line.boundingBox());
    const target = await mark(9).boundingBox();
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(target.x + 30, y, { steps: 5 });
    await page.mouse.move(target.x + target.width + 2, y, { steps: 5 });
    await page.mouse.up();
    await at('#9 of 40');
    assert.ok(new URL(page.url()).hash.endsWith('?moment=9&event=9'), page.url());
    // The head is dragged back.
    const [, top] = middle(await moment.boundingBox());
    await page.mouse.move(await thumb(), top);
    await page.mouse.down();
    await page.mouse.move(x, top, { steps: 8 });
    await page.mouse.up();
    await at('#26 of 40');
  });
});
