// The timeline: the only control of time.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { clickMark, marksLike, placeOfMark } from '../support/marks.mjs';
import { EVENTS, middleOf, story, untilAt } from './story.mjs';
import { untilShown, workbench } from './support.mjs';

const timeline = (page) => page.locator('statepad-timeline');
/** Calls a function of the page with the mark of an event: its sign and its bars. */
const withMark = (page, revision, look) =>
  marksLike(page, revision).evaluate(
    (path, source) => new Function('mark', `return (${source})(mark)`)(path.previousElementSibling.firstElementChild),
    String(look),
  );
/** The revisions of the marks with a class, ascending. */
const marksWith = async (page, name) =>
  await timeline(page)
    .locator('.marks')
    .evaluateAll(
      (paths, name) =>
        paths
          .filter((path) => path.previousElementSibling.querySelector(`.${name}`) !== null)
          .flatMap((path) => path.dataset.revisions.split(' ').map(Number))
          .sort((one, other) => one - other),
      name,
    );
const slider = (page) => timeline(page).getByRole('slider', { name: 'moment' });
const button = (page, name) => timeline(page).getByRole('button', { name, exact: true });
const looks = (page, revision) => withMark(page, revision, (mark) => [...mark.classList].slice(1));

/** A session of so many events by two authors, in turns of three. */
const long = async ({ service, arg: count }) => {
  const session = await service.createSession({ appName: 'trips', userId: 'ana', sessionId: 'long' });
  for (let n = 1; n <= count; n++)
    await service.appendEvent({
      session,
      event: {
        author: n % 3 === 1 ? 'user' : 'agent',
        invocationId: `i${Math.ceil(n / 3)}`,
        content: { role: 'model', parts: [{ text: `words ${n}` }] },
        actions: { stateDelta: { [`key ${n % 20}`]: n } },
      },
    });
};

describe('the timeline', () => {
  const bench = workbench();

  it('has a lane for every author, and a sign for every kind of event', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    const lanes = await timeline(page).getByRole('list', { name: 'Authors' }).getByRole('listitem').allInnerTexts();
    assert.deepEqual(lanes.slice(0, 2), ['user', 'booker']);
    const kinds = await Promise.all(
      Array.from({ length: EVENTS }, async (_, place) => (await looks(page, place + 1))[0]),
    );
    assert.deepEqual(kinds, ['user', 'call', 'failed', 'message', 'user', 'message', 'user', 'error', 'rewind']);
    assert.deepEqual(await marksWith(page, 'undone'), [7, 8], 'what the rewind has taken back is faint');
  });

  it('shows by colour and pattern which scopes an event wrote to', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    const scopes = (revision) =>
      withMark(page, revision, (mark) =>
        Array.from(mark.querySelectorAll('rect'), (rect) => rect.getAttribute('class')),
      );
    assert.deepEqual(await scopes(1), ['session']);
    assert.deepEqual(await scopes(5), ['user']);
    assert.deepEqual(await scopes(6), ['session', 'app']);
    assert.deepEqual(await scopes(2), []);
  });

  it('goes to the event of a mark, and selects it', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await clickMark(page, 4);
    await untilAt(page, 4);
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), 4);
    assert.equal(await timeline(page).locator('.ring').getAttribute('data-revision'), '4');
    await timeline(page).locator('output').getByText('#4 of 9 · booker').waitFor();
    assert.equal((await timeline(page).locator('.grip').innerText()).trim(), '#4');
  });

  it('is stepped by keys: events, turns with the pages, the ends', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    for (const [key, revision] of [
      ['ArrowLeft', 8],
      ['PageUp', 6],
      ['PageUp', 4],
      ['PageDown', 6],
      ['ArrowRight', 7],
      ['Home', 0],
      ['PageDown', 4],
      ['End', 9],
    ]) {
      await slider(page).press(key);
      await untilAt(page, revision);
    }
    assert.match(await slider(page).getAttribute('aria-valuetext'), /^#9 of 9/u);
    await button(page, 'Step back').click();
    await untilAt(page, 8);
    await button(page, 'Now').click();
    await untilShown(page, () => globalThis.inspection.isNow);
    assert.ok(await button(page, 'Now').isDisabled());
  });

  it('is dragged by the line of the moment', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    const [x, y] = await middleOf(timeline(page).locator('.moment'));
    const [to] = await placeOfMark(page, 5);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(to, y, { steps: 12 });
    await page.mouse.up();
    const at = await page.evaluate(() => globalThis.inspection.target);
    assert.ok(at === 4 || at === 5, `beside the event, not #${at}`);
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), undefined, 'a drag selects nothing');
  });

  it('draws each sign whole, within its box of 24 by 24', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    const boxes = await timeline(page)
      .locator('.glyph')
      .evaluateAll((glyphs) =>
        glyphs.map((glyph) => {
          const { x, y, width, height } = glyph.getBBox();
          return { kind: glyph.closest('.mark').classList[1], ends: [x, y, x + width, y + height], height };
        }),
      );
    assert.deepEqual([...new Set(boxes.map(({ kind }) => kind))].sort(), [
      ...['call', 'error', 'failed', 'message', 'rewind', 'user'],
    ]);
    for (const { kind, ends, height } of boxes) {
      assert.ok(Math.min(...ends) >= 0 && Math.max(...ends) <= 24, `${kind}: ${ends.join(' ')}`);
      assert.ok(kind === 'write' || height >= 8, `${kind} is ${height} high`);
    }
  });

  it('tells about the event under the pointer, and lights it up elsewhere', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await page.mouse.move(...(await placeOfMark(page, 6)));
    const tip = timeline(page).getByRole('tooltip');
    await tip.getByText('It is booked.').waitFor();
    await tip.getByText('app:rooms').waitFor();
    assert.deepEqual(await page.evaluate(() => globalThis.inspection.pointed), { revision: 6 });
    const [box, own] = [await tip.boundingBox(), await timeline(page).boundingBox()];
    assert.ok(box.y + box.height <= own.y, 'above the timeline');
    // The header: an entry of the conversation would point at its own event.
    await page.mouse.move(720, 12);
    await tip.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate(() => globalThis.inspection.pointed?.revision), undefined);
  });

  it('lights up the writes of the key that is pointed at', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await page.evaluate(() => globalThis.inspection.point({ key: 'booked' }));
    await timeline(page).locator('.lit').first().waitFor({ state: 'attached' });
    assert.deepEqual((await marksWith(page, 'lit')).slice(0, 2), [6, 7]);
  });

  it('has a lane for the values of a key whose history is shown', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await page.evaluate(() => globalThis.inspection.trace('booked'));
    const stretches = timeline(page).locator('.stretch');
    await stretches.first().waitFor();
    assert.deepEqual(
      (await stretches.allInnerTexts()).slice(0, 2).map((text) => text.trim()),
      ['true', 'false'],
    );
  });

  it('finds words, and goes from match to match', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    const field = timeline(page).getByRole('searchbox', { name: 'Find in this session' });
    await field.fill('lisbon');
    const count = page.locator('statepad-find').getByRole('status');
    const found = await page.evaluate(() => globalThis.inspection.matches);
    assert.ok(found.length > 1);
    assert.equal(await count.innerText(), String(found.length));
    await field.press('Shift+Enter');
    await untilAt(page, found.at(-1));
    await count.getByText(`${found.length} of ${found.length}`).waitFor();
    await button(page, 'Previous match').click();
    await untilAt(page, found.at(-2));
    await field.press('Escape');
    assert.equal(await page.evaluate(() => globalThis.inspection.matches), undefined);
  });

  it('plays from the creation to now, and stops when somebody takes over', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await button(page, 'Play').click();
    await untilShown(page, () => globalThis.inspection.target === 2);
    await clickMark(page, 6);
    await button(page, 'Play').waitFor();
    assert.equal(await page.evaluate(() => globalThis.inspection.target), 6);
  });

  it('folds its lanes, and keeps that', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    const fold = button(page, 'Lanes of the timeline');
    await fold.click();
    assert.equal(await timeline(page).locator('.frame').count(), 0);
    assert.ok((await timeline(page).boundingBox()).height < 40);
    await page.reload();
    await page.evaluate(() => globalThis.mounting);
    assert.equal(await timeline(page).locator('.frame').count(), 0);
    await fold.click();
    assert.equal(await timeline(page).locator('.frame').count(), 1);
  });

  it('draws of a long session what is in view, with the whole of it in a strip', async (t) => {
    const page = await bench.inPage(t, { seed: long, arg: 3000 });
    await timeline(page).getByRole('img', { name: 'overview of all 3000 events' }).waitFor();
    const drawn = (await marksWith(page, 'mark')).length;
    assert.ok(drawn > 20 && drawn < 400, `${drawn} marks`);
    await marksLike(page, 3000).waitFor({ state: 'attached' });
    await slider(page).press('Home');
    await untilAt(page, 0);
    await marksLike(page, 1).waitFor({ state: 'attached' });
    assert.equal(await marksLike(page, 3000).count(), 0);
    await button(page, 'fit').click();
    await timeline(page).getByRole('img', { name: 'overview of all 3000 events' }).waitFor({ state: 'detached' });
    assert.equal(await timeline(page).locator('.marks').count(), 0, 'columns in the place of marks');
    assert.ok((await timeline(page).locator('path.session').first().getAttribute('d')).length > 100);
  });
});
