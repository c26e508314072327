// The part of a session that is in view, its drawing, and the events that a search goes to.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { drawn, isInView, isWithin, partsOf, show, until } from './long-session.mjs';
import { site, untilStored } from './support.mjs';

describe('what is in view of the timeline', () => {
  const it_ = site();

  it('at 1440 by 900 the slider, the state and the selected event are in view together, and a click moves nothing', async (t) => {
    const page = await it_.open(t, { options: { viewport: { width: 1440, height: 900 } } });
    const { timeline, moment, mark, details, list, topic } = await show(page, 40);
    const boxes = async () => {
      const parts = [timeline, list, page.getByRole('region', { name: 'State', exact: true }), moment];
      return await Promise.all(parts.map((part) => part.boundingBox()));
    };
    const before = await boxes();
    await mark(20).click();
    await topic('topic 20');
    await details.getByRole('heading', { name: 'Event #20' }).waitFor();
    assert.deepEqual(await boxes(), before);
    const inWindow = async (it) => {
      const { x, y, width, height } = await it.boundingBox();
      return x >= 0 && y >= 0 && x + width <= 1440 && y + height <= 900;
    };
    for (const part of [
      timeline,
      moment,
      details.getByRole('heading', { name: 'Event #20' }),
      list.locator('#event-20'),
    ])
      assert.ok(await inWindow(part));
    assert.deepEqual(
      await page.evaluate(() => [document.documentElement.scrollHeight, window.scrollY]),
      [900, 0],
      'the page itself does not scroll',
    );
    // A key's history comes into view above or below the event, whichever is open already.
    await page.getByRole('region', { name: 'State' }).getByRole('button', { name: 'topic', exact: true }).click();
    const history = details.getByRole('heading', { name: 'History of topic' });
    await until('the history in view', () => isWithin(history, details));
    assert.deepEqual(await boxes(), before);
    await mark(8).click();
    const event = details.getByRole('heading', { name: 'Event #8', exact: true });
    await until('the event in view', async () => (await event.count()) === 1 && (await isWithin(event, details)));
  });

  it('what a click selects comes into view on a small screen, each time', async (t) => {
    const page = await it_.open(t, { options: { viewport: { width: 390, height: 844 } } });
    const { details } = await show(page, 40);
    const log = page.getByRole('log');
    for (const n of [40, 39]) {
      await log.locator(`[data-revision="${n}"]`).click();
      const heading = details.getByRole('heading', { name: `Event #${n}`, exact: true });
      await heading.waitFor();
      await until(`event ${n} in view`, async () => {
        const { y, height } = await heading.boundingBox();
        return y >= 0 && y + height <= 844;
      });
    }
    await page.getByRole('region', { name: 'State' }).getByRole('button', { name: 'topic', exact: true }).click();
    const history = details.getByRole('heading', { name: 'History of topic' });
    await until('the history in view', async () => {
      const box = await history.boundingBox();
      return box !== null && box.y >= 0 && box.y + box.height <= 844;
    });
  });

  it('what is searched for stands out, and one goes from match to match', async (t) => {
    const page = await it_.open(t);
    const { timeline, mark, button, event, list } = await show(page, 40);
    await page.getByRole('searchbox').fill('NEEDLE');
    await timeline.getByText('3 matches', { exact: true }).waitFor();
    await page.getByText('3 of 40 events', { exact: true }).waitFor();
    const opacity = (n) => mark(n).evaluate((element) => Number(window.getComputedStyle(element).opacity));
    assert.deepEqual([await opacity(7), await opacity(33)], [1, 1]);
    assert.ok((await opacity(8)) < 0.5);
    assert.deepEqual(await list.getByRole('option').locator('.number').allInnerTexts(), ['#7', '#19', '#33']);
    for (const [name, n, place] of [
      ['next match', 7, 1],
      ['next match', 19, 2],
      ['previous match', 7, 1],
      ['previous match', 33, 3],
    ]) {
      await button(name).click();
      await event(n);
      await timeline.getByText(`${place} of 3 matches`, { exact: true }).waitFor();
    }
    await page.getByRole('searchbox').fill('in no event');
    await timeline.getByText('0 matches').waitFor();
    assert.equal(await button('next match').isDisabled(), true);
    await page.getByRole('searchbox').fill('');
    await timeline.getByText('0 matches').waitFor({ state: 'detached' });
    await until('all marks stand out alike', async () => (await opacity(8)) === 1);
  });

  it('a key has a lane of its own, from write to write, with a gap while it is deleted', async (t) => {
    const page = await it_.open(t);
    const { timeline, details, mark, event } = await show(page, 40);
    await mark(5).click();
    await event(5);
    await details.getByRole('button', { name: 'topic', exact: true }).click();
    const lane = timeline.locator('.trace > div');
    await lane.first().waitFor();
    const shown = await lane.evaluateAll((stretches) =>
      stretches.map(({ dataset, title, className }) => [Number(dataset.revision), className, title]),
    );
    assert.deepEqual(shown, [
      [0, 'stretch', '#0 "none yet"'],
      ...[5, 10, 15, 20, 25].map((n) => [n, 'stretch', `#${n} "topic ${n}"`]),
      [30, 'gap', '#30 deleted'],
      [35, 'stretch', '#35 "topic 35"'],
      [40, 'stretch', '#40 "topic 40"'],
    ]);
    assert.equal(await lane.nth(1).innerText(), '"topic …');
    const [stretch, from, to] = await Promise.all([
      lane.nth(1).boundingBox(),
      mark(5).boundingBox(),
      mark(10).boundingBox(),
    ]);
    assert.ok(
      Math.abs(stretch.x - from.x) < 4 && Math.abs(stretch.x + stretch.width - to.x) < 4,
      'it reaches from one write to the next',
    );
    const ringed = await timeline
      .locator('.mark:has(.written)')
      .evaluateAll((marks) => marks.map(({ dataset }) => Number(dataset.revision)));
    assert.deepEqual(ringed, [5, 10, 15, 20, 25, 30, 35, 40]);
    await details.getByRole('button', { name: 'close the history' }).click();
    await lane.first().waitFor({ state: 'detached' });
  });

  it('of a long session only what is visible is drawn, and the overview leads anywhere', async (t) => {
    const page = await it_.open(t);
    const { picture, overview, mark, button, event, moment, at } = await show(page, 3000);
    await until('the end', async () => (await drawn(picture)).at(-1) === 3000);
    assert.ok((await drawn(picture)).length < 300);
    const { x, y, width, height } = await overview.boundingBox();
    await page.mouse.click(x + width * 0.1, y + height / 2);
    await until('#300', () => isInView(mark(300)));
    await page.mouse.move(x + width * 0.1, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.3, y + height / 2, { steps: 5 });
    await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 5 });
    await page.mouse.up();
    await until('#1500', () => isInView(mark(1500)));
    assert.ok((await drawn(picture)).length < 300);
    await picture.hover();
    await page.mouse.wheel(3000, 0);
    await until('what the wheel leads to', () => isInView(mark(1700)));

    await moment.press('Home');
    await at('#0 of 3000');
    await until('the beginning', () => isInView(mark(1)));
    await button('fit').click();
    await overview.waitFor({ state: 'detached' });
    assert.equal(await picture.locator('.mark').count(), 0, 'a mark for each would be too many');
    const all = await picture.boundingBox();
    await page.mouse.click(all.x + all.width / 2, all.y + 30);
    await until('an event in the middle', async () => Math.abs(Number(await moment.inputValue()) - 1500) < 30);
    await event(await moment.inputValue());
    await button('zoom in').click();
    await overview.waitFor();
  });

  it('the end stays in view while the moment is now and nobody has scrolled away', async (t) => {
    const page = await it_.open(t);
    const { picture, list, timeline, at, mark, option } = partsOf(page);
    const append = (from, to) =>
      timeline.locator('statepad-timeline').evaluate(
        async ({ inspection }, [first, last]) => {
          for (let n = first; n <= last; n++)
            await inspection.append({ author: 'agent', actions: { stateDelta: { n } } });
        },
        [from, to],
      );
    await timeline.getByText('Nothing has happened yet.', { exact: false }).waitFor();
    await append(1, 90);
    await at('#90 of 90');
    await until('#90', async () => (await isInView(mark(90))) && (await isInView(option(90))));
    for (const scroller of [picture, list]) await scroller.evaluate((element) => element.scrollTo(100, 60));
    await until('#8 and #3', async () => (await isInView(mark(8))) && (await isInView(option(3))));
    await append(91, 92);
    await at('#92 of 92');
    assert.equal(await isInView(mark(92)), false);
    assert.equal(await isInView(option(92)), false);
    for (const scroller of [picture, list]) await scroller.evaluate((element) => element.scrollTo(1e6, 1e6));
    await until('#92', async () => (await isInView(mark(92))) && (await isInView(option(92))));
    await append(93, 94);
    await until('#94', async () => (await isInView(mark(94))) && (await isInView(option(94))));
    await untilStored(page, ({ sessions }) => sessions.some(({ rev, state }) => rev === 94 && state.n === 94));
  });
});
