// The X-ray of the prompt: the template, what it is rendered to at each moment, and where each word comes from.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workbench } from './support.mjs';

const ana = { appName: 'trips', userId: 'ana', sessionId: 'lisbon' };

const TEMPLATE = [
  'You help {user:name}, {{as}} \\{is}.',
  'Trip: {city}, {seats?} seats, hotel {hotel.name?}.',
  'Plan: {temp:plan}. {artifact.notes.md}',
].join('\n');

/** A trip: the number of seats changes three times, a hotel is found, and the city has braces in the end. */
const trip = async ({ service, arg }) => {
  const session = await service.createSession({ ...arg, state: { 'user:name': 'Ana' } });
  const deltas = [
    { city: 'Lisbon', seats: 2 },
    { seats: 3, hotel: { name: 'Alfama' } },
    { seats: 4 },
    { city: '{user:name}<b>' },
  ];
  for (const [index, stateDelta] of deltas.entries()) {
    await service.appendEvent({
      session,
      event: { author: index % 2 ? 'booker' : 'user', invocationId: `i${index}`, actions: { stateDelta } },
    });
  }
};

const prompt = (page) => page.locator('statepad-prompt');
const rendered = (page) => page.locator('statepad-rendered');
const words = (page) => rendered(page).locator('[data-word]');
const word = (page, text) => words(page).filter({ hasText: text });
const source = (page) => prompt(page).getByRole('textbox', { name: 'Template' });
const card = (page) => rendered(page).getByRole('tooltip');
const status = (page) => prompt(page).getByRole('status');
const missing = (page) => prompt(page).getByRole('list', { name: 'Missing keys' });
const textOf = (page) =>
  rendered(page)
    .locator('.text')
    .evaluate((it) => {
      const copy = it.cloneNode(true);
      copy.querySelectorAll('del').forEach((old) => old.remove());
      return copy.textContent;
    });
const travel = (page, revision) =>
  page.evaluate(async (to) => {
    await globalThis.inspection.moveTo(to);
    await globalThis.inspection.settled();
  }, revision);
const pointed = (page) => page.evaluate(() => globalThis.inspection.pointed);

describe('the prompt', () => {
  const bench = workbench();
  const open = (t, { template = TEMPLATE, ...more } = {}) =>
    bench.inPage(t, { seed: trip, arg: ana, ...more, mount: { write: true, template, ...more.mount } });

  it('is rendered with the state of each moment, and says what is not known', async (t) => {
    const page = await open(t);
    await travel(page, 3);
    await prompt(page).getByText('Prompt at #3').waitFor();
    assert.equal(
      await textOf(page),
      'You help Ana, {{as}} {is}.\nTrip: Lisbon, 4 seats, hotel Alfama.\nPlan: {temp:plan}. {artifact.notes.md}',
    );
    await status(page).getByText('not stored: temp:plan').waitFor();
    assert.equal(await missing(page).count(), 0, 'what is not stored is not missing');
    await travel(page, 0);
    await prompt(page).getByText('Prompt at #0').waitFor();
    assert.match(await textOf(page), /Trip: \{city\}, {2}seats, hotel \.\n/u);
    await status(page).getByText('1 missing').waitFor();
    assert.equal(await words(page).nth(2).getAttribute('aria-label'), 'seats (session), is empty');
    await travel(page);
    await prompt(page).getByText('Prompt at #4 (now)').waitFor();
    assert.match(await textOf(page), /Trip: \{user:name\}<b>, 4 seats/u);
    assert.equal(await rendered(page).locator('b').count(), 0);
    assert.equal(await words(page).count(), 6, 'values are not scanned for placeholders');
  });

  it('lights up in all panes where a word comes from', async (t) => {
    const page = await open(t);
    await travel(page, 3);
    await word(page, 'Lisbon').hover();
    assert.deepEqual(await pointed(page), { key: 'city', revision: 1 });
    await card(page).getByText('{city}').waitFor();
    await card(page).getByText('#1 user').waitFor();
    await card(page).getByText('2 writes').waitFor({ state: 'detached' });
    await card(page).getByText('1 write', { exact: false }).first().waitFor();
    await source(page).waitFor();
    assert.equal(await prompt(page).locator('.mirror [data-lit]').innerText(), '{city}');
    await page.locator('statepad-state-tree [data-pointed]').getByText('city').waitFor();

    // A number has a curve, and all of its values until now.
    await word(page, '4').hover();
    await card(page).getByText('3 writes').waitFor();
    assert.equal(await card(page).locator('svg.curve').count(), 1);
    assert.deepEqual(
      (await card(page).locator('.steps li').allInnerTexts()).map((text) => text.replaceAll(/\s+/gu, ' ')),
      ['#1 2', '#2 3', '#3 4'],
    );
    assert.match(await card(page).locator('.steps .current').innerText(), /#3/u);
    // A part of a value has the history of that part.
    await word(page, 'Alfama').hover();
    await card(page).locator('.steps').getByText('Alfama', { exact: true }).waitFor();
    assert.deepEqual(await pointed(page), { key: 'hotel', revision: 2 });
    await word(page, 'temp:plan').hover();
    await card(page).getByText('not stored').waitFor();
    await page.getByRole('searchbox', { name: 'Filter keys and values' }).hover();
    assert.equal(await pointed(page), undefined);
    assert.equal(await card(page).isVisible(), false);
  });

  it('is lit up from other panes: by a key, or by an event', async (t) => {
    const page = await open(t);
    await travel(page, 3);
    const lit = async () =>
      await words(page).evaluateAll((all) => all.filter((it) => 'lit' in it.dataset).map((it) => it.innerText));
    await page.evaluate(() => globalThis.inspection.point({ key: 'user:name' }));
    await rendered(page).locator('[data-lit]').getByText('Ana').waitFor();
    assert.deepEqual(await lit(), ['Ana']);
    await page.evaluate(() => globalThis.inspection.point({ revision: 2 }));
    await rendered(page).locator('[data-lit]').getByText('Alfama').waitFor();
    assert.deepEqual(await lit(), ['Alfama']);
    // Its placeholder under the pointer does the same.
    const box = await prompt(page).locator('.mirror .spot').first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await rendered(page).locator('[data-lit]').getByText('Ana').waitFor();
    assert.deepEqual(await pointed(page), { key: 'user:name', revision: 0 });
  });

  it('a click on a word opens its event and its history, by mouse and by keyboard', async (t) => {
    const page = await open(t);
    await travel(page, 3);
    const shown = () => page.evaluate(() => [globalThis.inspection.selected, globalThis.inspection.traced]);
    await word(page, 'Lisbon').click();
    assert.deepEqual(await shown(), [1, 'city']);
    await words(page).first().focus();
    // Artifacts and what is not stored have words, too: one stop of Tab for all of them.
    assert.equal(await rendered(page).locator('[data-word][tabindex="0"]').count(), 1);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await pointed(page), { key: 'seats', revision: 3 });
    assert.equal(await words(page).nth(2).getAttribute('aria-label'), '4: seats (session), written by #3 user');
    await page.keyboard.press('Enter');
    assert.deepEqual(await shown(), [3, 'seats']);
    await page.keyboard.press('Escape');
    assert.equal(await card(page).isVisible(), false);
  });

  it('marks what changed since the moment before, or since the one it is compared with', async (t) => {
    const page = await open(t);
    const changes = async () =>
      await rendered(page).evaluate((it) => [
        [...it.renderRoot.querySelectorAll('del')].map(({ textContent }) => textContent),
        [...it.renderRoot.querySelectorAll('.new')].map(({ textContent }) => textContent),
      ]);
    await travel(page, 1);
    await travel(page, 2);
    await prompt(page).getByText('Prompt at #2').waitFor();
    // A text that was empty before has nothing to strike out.
    assert.deepEqual(await changes(), [['2'], ['3', 'Alfama']]);
    await travel(page, 3);
    await prompt(page).getByText('Prompt at #3').waitFor();
    assert.deepEqual(await changes(), [['3'], ['4']]);
    await page.evaluate(() => globalThis.inspection.compareWith(1));
    await prompt(page).getByText('Prompt at #3, changes since #1').waitFor();
    await rendered(page).locator('del').getByText('2').waitFor();
    assert.deepEqual(await changes(), [['2'], ['4', 'Alfama']]);
    assert.equal(await rendered(page).locator('[data-fades]').count(), 0, 'those stay');
  });

  it('what changed fades with motion, and is still without', async (t) => {
    for (const reducedMotion of ['reduce', 'no-preference']) {
      const page = await open(t, { options: { reducedMotion } });
      await travel(page, 2);
      await travel(page, 3);
      await rendered(page).locator('del').getByText('3').waitFor();
      const moving = await rendered(page)
        .locator('del')
        .evaluate((it) => it.getAnimations().length);
      assert.equal(moving, reducedMotion === 'reduce' ? 0 : 1);
    }
  });

  it('offers the nearest key for a missing one, at the word and at the template', async (t) => {
    const page = await open(t, { template: 'Hi {user:nmae}, to {cty} and {cty?}' });
    await travel(page, 1);
    await status(page).getByText('2 missing').waitFor();
    await word(page, 'user:nmae').hover();
    await card(page).getByText('did you mean user:name?').waitFor();
    await word(page, 'user:nmae').click();
    await status(page).getByText('1 missing').waitFor();
    assert.equal(await source(page).inputValue(), 'Hi {user:name}, to {cty} and {cty?}');
    await missing(page).getByRole('button', { name: /^cty/u }).click();
    // The placeholder is selected: typing replaces it.
    await page.keyboard.type('the sea');
    await status(page).getByText('All placeholders are filled.').waitFor();
    assert.equal(await textOf(page), 'Hi Ana, to the sea and ');
  });

  it('keys are completed behind a brace', async (t) => {
    const page = await open(t, { template: 'Hi ' });
    await source(page).click();
    await page.keyboard.press('End');
    await page.keyboard.type('{sea');
    await prompt(page).getByRole('option', { name: 'seats' }).waitFor();
    assert.deepEqual(await prompt(page).getByRole('option').allInnerTexts(), ['seats']);
    await page.keyboard.press('Enter');
    assert.equal(await source(page).inputValue(), 'Hi {seats}');
    await page.keyboard.type(', {');
    await prompt(page).getByRole('option', { name: 'user:name' }).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await prompt(page).getByRole('option').count(), 0);
    await page.keyboard.type('u');
    await prompt(page).getByRole('option', { name: 'user:name' }).click();
    assert.equal(await source(page).inputValue(), 'Hi {seats}, {user:name}');
    assert.equal(await textOf(page), 'Hi 4, Ana');
    // The braces that are meant as such offer nothing.
    await page.keyboard.type(' {{');
    assert.equal(await prompt(page).getByRole('option').count(), 0);
  });

  it('without a template it says what one is for, and begins one from the state', async (t) => {
    const page = await open(t, { template: '' });
    await prompt(page).getByRole('heading', { name: 'See the prompt as the model saw it' }).waitFor();
    await prompt(page).getByRole('button', { name: 'Write or paste a template' }).click();
    await page.waitForFunction((it) => it.getRootNode().activeElement === it, await source(page).elementHandle());
    await prompt(page).getByRole('group', { name: 'Keys to put in' }).getByRole('button', { name: '{city}' }).click();
    assert.equal(await source(page).inputValue(), '{city}');

    const other = await open(t, { template: '' });
    await prompt(other).getByRole('button', { name: 'Make one from the keys of this session' }).click();
    await words(other).first().waitFor();
    assert.match(await textOf(other), /city: \{user:name\}<b>/u);
    await status(other).getByText('All placeholders are filled.').waitFor();
  });

  it('is kept for its session', async (t) => {
    const page = await open(t);
    await source(page).fill('mine');
    await page.evaluate(async (ids) => {
      await globalThis.service.createSession({ ...ids, sessionId: 'other' });
      await globalThis.inspection.open({ ...ids, sessionId: 'other' });
    }, ana);
    await prompt(page).getByText('Prompt at #0').waitFor();
    assert.equal(await source(page).inputValue(), TEMPLATE);
    await page.evaluate((ids) => globalThis.inspection.open(ids), ana);
    await rendered(page).getByText('mine').waitFor();
    assert.equal(await source(page).inputValue(), 'mine');
  });

  it('has its colours right behind its letters, however long it is', async (t) => {
    for (const width of [390, 1440]) {
      const page = await open(t, { template: 'x', options: { viewport: { width, height: 900 } } });
      const tab = page.getByRole('tab', { name: 'Prompt' });
      if ((await tab.count()) > 0) await tab.click();
      const lines = Array.from(
        { length: 60 },
        (_, index) => `${index} ${'word'.repeat(index)} {user:name?}\t{nope${index}} \n`,
      );
      await source(page).fill(lines.join(''));
      await missing(page)
        .getByRole('button', { name: /^nope50/u })
        .click();
      // The browser tells of scrolling with its next frame.
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            window.requestAnimationFrame(() => window.requestAnimationFrame(resolve));
          }),
      );
      const [letters, colours] = await source(page).evaluate((area) =>
        [area, area.previousElementSibling].map(({ scrollTop, scrollHeight, clientWidth, offsetTop, offsetLeft }) => ({
          scrollTop,
          scrollHeight,
          clientWidth,
          offsetTop,
          offsetLeft,
        })),
      );
      assert.ok(letters.scrollTop > 0);
      assert.deepEqual(colours, letters);
      assert.equal(
        await source(page).evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd)),
        '{nope50}',
      );
    }
  });
});
