// The timeline and the events of the page: going through a session, by mouse and by keyboard.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DELETED, SessionService } from 'statepad';
import { exportLines } from 'statepad/jsonl';
import { site, untilStored } from './support.mjs';

const AUTHORS = ['user', 'planner', 'agent'];

/** What event #n of the fixture writes: 4 events are a turn; `topic` is deleted by #30. */
function deltaOf(n) {
  return {
    ...(n % 5 === 0 ? { topic: n === 30 ? DELETED : `topic ${n}` } : {}),
    ...(n % 8 === 0 ? { 'app:model': `model ${n}` } : {}),
    ...(n % 3 === 0 ? { 'user:theme': n } : {}),
  };
}

/** A file with a session of so many events. */
async function fileWith(count) {
  const service = new SessionService();
  const session = await service.createSession({
    appName: 'tutor',
    userId: 'ana',
    sessionId: 'long',
    state: { topic: 'none yet' },
  });
  for (let n = 1; n <= count; n++) {
    const text = [7, 19, 33].includes(n) ? `a needle in event ${n}` : `words of event ${n}`;
    await service.appendEvent({
      session,
      event: {
        id: `e${n}`,
        author: AUTHORS[n % 3],
        invocationId: `turn-${Math.floor((n - 1) / 4)}`,
        timestamp: Date.UTC(2026, 0, 1) + n * 1000,
        content: { role: 'model', parts: [{ text }] },
        actions: { stateDelta: deltaOf(n) },
        ...(n === 12 ? { branch: 'root.planner', mood: { calm: true } } : {}),
      },
    });
  }
  const lines = [];
  for await (const line of exportLines(service, { appName: 'tutor' })) lines.push(line);
  return { name: 'long.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(lines.join('\n')) };
}

/** Opens such a file in a page. */
async function show(page, count) {
  await page.getByLabel('A file with sessions').setInputFiles(await fileWith(count));
  const parts = partsOf(page);
  await parts.moment.and(page.locator(`[max="${count}"]`)).waitFor();
  return parts;
}

/** What the tests look at. */
function partsOf(page) {
  const region = (name) => page.getByRole('region', { name, exact: true });
  const timeline = region('Timeline');
  const picture = timeline.locator('.scroller');
  const list = region('Events').getByRole('listbox', { name: 'Events' });
  return {
    timeline,
    picture,
    list,
    details: region('Details'),
    moment: timeline.getByRole('slider', { name: 'moment' }),
    overview: timeline.getByRole('img', { name: /^overview of all/ }),
    button: (name) => timeline.getByRole('button', { name, exact: true }),
    mark: (revision) => picture.locator(`.mark[data-revision="${revision}"]`),
    option: (revision) => list.locator(`#event-${revision}`),
    at: (words) => timeline.locator('output').getByText(words).waitFor(),
    event: (revision) =>
      region('Details')
        .getByRole('heading', { name: `Event #${revision}`, exact: true })
        .waitFor(),
    topic: (text) =>
      region('State')
        .getByRole('listitem')
        .filter({ has: page.getByRole('button', { name: 'topic', exact: true }) })
        .getByText(text)
        .first()
        .waitFor(),
  };
}

/** The revisions of the marks that are drawn. */
const drawn = (picture) =>
  picture.locator('.mark').evaluateAll((marks) => marks.map(({ dataset }) => Number(dataset.revision)));

/** Waits until a condition holds in the page; `what` is for the one who reads the failure. */
async function until(what, holds) {
  for (const end = Date.now() + 20_000; !(await holds());) {
    assert.ok(Date.now() < end, `never came: ${what}`);
    await new Promise(setImmediate);
  }
}

/** Whether an element lies in what its scroller shows. */
async function isInView(element) {
  return (
    (await element.count()) === 1 &&
    (await element.evaluate((it) => {
      const [inner, outer] = [it.getBoundingClientRect(), it.closest('.scroller, [tabindex]').getBoundingClientRect()];
      return (
        inner.left >= outer.left &&
        inner.right <= outer.right &&
        inner.top >= outer.top - 1 &&
        inner.bottom <= outer.bottom + 1
      );
    }))
  );
}

/** Whether an element lies in the box of another one. */
async function isWithin(inner, outer) {
  const [one, other] = await Promise.all([inner.boundingBox(), outer.boundingBox()]);
  return one.y >= other.y && one.y + one.height <= other.y + other.height;
}

const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];

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
