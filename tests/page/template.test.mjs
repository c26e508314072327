// The instruction template beside what it renders to.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { site, untilStored } from './support.mjs';

const TEMPLATE = 'You talk to {user:nme}.\nCity: {city}, plan: {temp:plan?}, {{as}} \\{is}, seats {seats}';

function partsOf(page) {
  const talk = page.getByRole('region', { name: 'Conversation', exact: true });
  const rendered = talk.getByRole('region', { name: 'Rendered' });
  return {
    talk,
    rendered,
    source: talk.getByRole('textbox', { name: 'Template' }),
    missing: (text) =>
      talk
        .getByRole('list', { name: 'Missing keys' })
        .getByRole('button', { name: text, exact: typeof text === 'string' }),
    outcome: (text) => talk.getByRole('status').filter({ hasText: text }).waitFor(),
    text: () => rendered.evaluate((element) => element.textContent),
    async step(turn) {
      await talk.getByRole('button', { name: 'Step', exact: true }).click();
      await talk.getByText(`${turn} of 6 turns`).waitFor();
    },
  };
}

describe('an instruction template', () => {
  const it_ = site();

  it('marks what is missing with its line and column, until that is mended', async (t) => {
    const page = await it_.open(t);
    const { source, missing, rendered, outcome, step, text } = partsOf(page);
    await step(1);
    await source.fill(TEMPLATE);
    await outcome('TEMPLATE_KEY_MISSING: 1 missing');
    await rendered.getByRole('group', { name: 'user:nme (user) is missing' }).waitFor();
    assert.equal(await text(), 'You talk to {user:nme}.\nCity: Lisbon, plan: , {{as}} {is}, seats 2');
    await missing('user:nme – line 1, column 13 – did you mean user:name?').click();
    // The placeholder is selected: typing replaces it.
    await page.keyboard.type('{user:name}');
    await outcome('All placeholders are filled.');
    assert.equal(await text(), 'You talk to Ana.\nCity: Lisbon, plan: , {{as}} {is}, seats 2');
    assert.equal(await source.inputValue(), TEMPLATE.replace('nme', 'name'));
    await rendered.getByRole('group', { name: 'temp:plan (temp) is empty' }).waitFor({ state: 'attached' });

    // It is rendered anew as the conversation goes on.
    await step(2);
    assert.match(
      await text(),
      /^You talk to Ana\.\nCity: Lisbon, plan: reply; changed: user:name, .*, \{\{as\}\} \{is\}, seats 2$/u,
    );
    const { sessions } = await untilStored(page, (now) => now.sessions[0].rev === 3);
    assert.doesNotMatch(JSON.stringify(sessions), /City:/u);
  });

  it('is rendered with the state of the moment that is shown', async (t) => {
    const page = await it_.open(t);
    const { source, missing, rendered, outcome, step, text, talk } = partsOf(page);
    for (const turn of [1, 2, 3, 4, 5, 6]) {
      await step(turn);
    }
    await source.fill('{city} {seats} {temp:plan}');
    await missing('seats – line 1, column 8').waitFor();
    const slider = page.getByRole('slider', { name: 'moment' });
    await slider.press('ArrowLeft');
    // The plan of that moment was never stored: that it is not known is no error.
    await outcome('temp: keys last for one invocation and are not stored');
    await rendered.getByRole('group', { name: 'temp:plan (temp) is not stored' }).waitFor();
    assert.equal(await missing(/temp/u).count(), 0);
    assert.equal(await text(), 'Lisbon 2 {temp:plan}');
    await talk.getByRole('heading', { name: 'Rendered at moment 8' }).waitFor();
    await slider.press('Home');
    await outcome('TEMPLATE_KEY_MISSING: 2 missing');
    await page.getByRole('button', { name: 'Now', exact: true }).click();
    await missing('seats – line 1, column 8').waitFor();
    assert.match(await text(), /^Lisbon \{seats\} reply; changed: booked, cost_code$/u);
  });

  it('tells after a reload that temp: keys are not stored, and finds what is really missing', async (t) => {
    const page = await it_.open(t);
    const { source, missing, rendered, outcome, step, text } = partsOf(page);
    await outcome('temp: keys last for one invocation and are not stored');
    assert.equal(await page.locator('.bad:visible').count(), 0, 'nothing is red before anything has happened');
    await step(1);
    await step(2);
    await source.fill('{temp:plan} {temp:nope}');
    await missing('temp:nope – line 1, column 13').waitFor();
    assert.match(await text(), /^reply; changed: /u, 'the invocation runs in this page');
    await untilStored(page, (now) => now.sessions[0].rev === 3);
    await page.reload();
    await page.getByText('2 of 6 turns').waitFor();
    await source.fill('{temp:plan} {city} {nope}');
    await missing('nope – line 1, column 20').waitFor();
    await rendered.getByRole('group', { name: 'temp:plan (temp) is not stored' }).waitFor();
    assert.equal(await text(), '{temp:plan} Lisbon {nope}');
    // An event that writes nothing but temp: keys has written something.
    const picture = page.getByRole('region', { name: 'Timeline' });
    assert.equal(
      await picture
        .locator('.mark[data-revision="2"] title')
        .textContent()
        .then((title) => title.slice(0, 28)),
      '#2 planner, wrote temp:plan:',
    );
    assert.equal(await picture.locator('.mark[data-revision="2"] circle').count(), 0);
    await page.getByRole('option').filter({ hasText: 'temp:plan' }).first().click();
    await page.getByRole('region', { name: 'Details' }).getByText('not stored: it lasts for one invocation').waitFor();
  });

  it('is remembered for its session while the page is open', async (t) => {
    const page = await it_.open(t);
    const { source, talk, text } = partsOf(page);
    const first = await page.getByLabel('Session', { exact: true }).inputValue();
    assert.match(await source.inputValue(), /^You book trips\./u);
    await source.fill('mine');
    const before = new URL(page.url()).hash;
    await talk.getByLabel('Conversation to start').selectOption('trip-lisbon');
    await talk.getByRole('button', { name: 'Start', exact: true }).click();
    await page.waitForFunction((hash) => window.location.hash !== hash, before);
    await talk.getByText('You book trips.').first().waitFor();
    assert.match(await source.inputValue(), /^You book trips\./u);
    await page.getByLabel('Session', { exact: true }).selectOption(first);
    await talk.getByRole('region', { name: 'Rendered' }).getByText('mine').waitFor();
    assert.deepEqual([await source.inputValue(), await text()], ['mine', 'mine']);
  });

  it('has its colours right behind its letters, however long it is', async (t) => {
    for (const width of [380, 1280]) {
      const page = await it_.open(t, { options: { viewport: { width, height: 900 } } });
      const { source, missing } = partsOf(page);
      const lines = Array.from(
        { length: 60 },
        (_, index) => `${index} ${'word'.repeat(index)} {user:name?}\t{nope${index}} \n`,
      );
      await source.fill(lines.join(''));
      await missing('nope50 – line 51, column 218').click();
      const [letters, colours] = await source.evaluate((area) =>
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
        await source.evaluate((area) => area.value.slice(area.selectionStart, area.selectionEnd)),
        '{nope50}',
      );
    }
  });
});
