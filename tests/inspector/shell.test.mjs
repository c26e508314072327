// The inspector as a whole: its layout on screens of every size, its theme, its shortcuts, its beginning.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENTS, faultsOf, focused, story, untilAt } from './story.mjs';
import { workbench } from './support.mjs';

const sized = (width, height, more = {}) => ({ viewport: { width, height }, ...more });
const pane = (page, name) => page.locator(`#pane-${name}`);
const box = (locator) => locator.boundingBox();
const PANES = ['conversation', 'prompt', 'state', 'details'];

/** The panes that are on show. */
const shown = async (page) => {
  const visible = await Promise.all(PANES.map((name) => pane(page, name).isVisible()));
  return PANES.filter((_, place) => visible[place]);
};

/** True when nothing of the page is below the fold. */
const fits = (page) =>
  page.evaluate(() => {
    const { scrollHeight, clientHeight, scrollWidth, clientWidth } = document.documentElement;
    return scrollHeight <= clientHeight && scrollWidth <= clientWidth;
  });

describe('the inspector as a whole', () => {
  const bench = workbench();

  it('shows all panes on one screen, the timeline below them, and nothing below the fold', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    assert.deepEqual(await shown(page), PANES);
    const [talk, prompt, state, details] = await Promise.all(PANES.map((name) => box(pane(page, name))));
    const timeline = await box(page.locator('statepad-timeline'));
    assert.ok(talk.x < state.x && state.x < details.x, 'three columns');
    assert.ok(talk.y + talk.height <= prompt.y && prompt.x === talk.x, 'the prompt below the conversation');
    assert.ok(prompt.y + prompt.height <= timeline.y && timeline.height <= 140, `${timeline.height}px of timeline`);
    assert.equal(timeline.width, 1440);
    assert.ok(await fits(page));
  });

  it('keeps three columns at 1024 pixels, with the prompt as a second tab', async (t) => {
    const page = await bench.inPage(t, { seed: story, options: sized(1024, 768) });
    assert.deepEqual(await shown(page), ['conversation', 'state', 'details']);
    assert.ok(await fits(page));
    const tab = page.getByRole('tab', { name: 'Conversation', exact: true }).first();
    await tab.focus();
    await page.keyboard.press('ArrowRight');
    assert.deepEqual(await shown(page), ['prompt', 'state', 'details']);
    assert.equal(await focused(page), 'title-prompt');
    await untilAt(page, EVENTS);
  });

  it('has tabs for its panes on a phone, and brings the details of a pressed key to the front', async (t) => {
    const page = await bench.inPage(t, { seed: story, options: sized(390, 844) });
    assert.deepEqual(await shown(page), ['conversation']);
    assert.ok(await fits(page));
    await page.getByRole('tab', { name: 'State', exact: true }).click();
    assert.deepEqual(await shown(page), ['state']);
    await pane(page, 'state').evaluate((state) => {
      state.addEventListener('click', () => globalThis.inspection.trace('city'), { once: true });
    });
    await pane(page, 'state').getByText('Lisbon').first().click();
    await pane(page, 'details').waitFor({ state: 'visible' });
    assert.deepEqual(await shown(page), ['details']);
  });

  it('lets columns be sized by mouse and keyboard, and keeps that', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    const before = (await box(pane(page, 'conversation'))).width;
    const untilWide = async (width) =>
      await page.waitForFunction((wanted) => {
        const talk = globalThis.mounted.element.renderRoot.querySelector('#pane-conversation');
        return talk.getBoundingClientRect().width === wanted;
      }, width);
    const divider = page.getByRole('separator', { name: 'Size of the left column' });
    const { x, y } = await box(divider);
    await page.mouse.move(x + 4, y + 200);
    await page.mouse.down();
    await page.mouse.move(x - 96, y + 200);
    await page.mouse.up();
    await untilWide(before - 100);
    await divider.press('ArrowRight');
    await untilWide(before - 76);
    await page.reload();
    await page.evaluate(() => globalThis.mounting);
    await untilWide(before - 76);
    await page.getByRole('separator', { name: 'Size of the left column' }).dblclick();
    await untilWide(before);
  });

  it('takes its shortcuts from the page only when it is the page, and none while somebody types', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await page.keyboard.press('ArrowLeft');
    await untilAt(page, EVENTS - 1);
    await page.keyboard.press('Shift+ArrowLeft');
    await untilAt(page, 6);
    await page.keyboard.press('n');
    await untilAt(page, EVENTS);
    await page.keyboard.press('/');
    assert.equal(await focused(page), 'Find in this session');
    await page.keyboard.type('n?');
    assert.equal(await page.evaluate(() => globalThis.inspection.query), 'n?');
    assert.equal(await page.locator('dialog[open]').count(), 0);
    await page.keyboard.press('Escape');
    await page.evaluate(() => {
      document.querySelector('#inspector').style.height = '70%';
      document.activeElement.blur();
    });
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('?');
    assert.equal(await page.locator('dialog[open]').count(), 0, 'beside other content it waits for the focus');
    await page.locator('statepad-header').click({ position: { x: 300, y: 2 } });
    await page.keyboard.press('ArrowLeft');
    await untilAt(page, EVENTS - 1);
  });

  it('goes from error to error, failed tools among them', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    for (const revision of [8, 3]) {
      await page.keyboard.press('Shift+E');
      await untilAt(page, revision);
      assert.equal(await page.evaluate(() => globalThis.inspection.selected), revision);
    }
    await page.keyboard.press('e');
    await untilAt(page, 8);
  });

  it('lists its shortcuts, and the signs of the timeline', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await page.keyboard.press('?');
    const sheet = page.getByRole('dialog', { name: 'Shortcuts' });
    await sheet.getByText('Previous turn').first().waitFor();
    await sheet.getByText('a tool that failed').waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'hidden' });
  });

  it('follows the theme of its page until one is chosen, and keeps that', async (t) => {
    const page = await bench.inPage(t, { seed: story, options: { colorScheme: 'dark' } });
    const ground = () => page.evaluate(() => getComputedStyle(globalThis.mounted.element).backgroundColor);
    const dark = await ground();
    await page.getByRole('radio', { name: 'Light' }).click();
    const light = await ground();
    assert.notEqual(light, dark);
    await page.reload();
    await page.evaluate(() => globalThis.mounting);
    assert.equal(await ground(), light);
    await page.getByRole('radio', { name: 'Light' }).press('ArrowLeft');
    assert.equal(await ground(), dark);
    assert.equal(await focused(page), 'As the page');
  });

  it('says how to write a session where there is none, and creates one', async (t) => {
    const page = await bench.inPage(t, { mount: { write: true, apps: ['trips'] } });
    await page.getByText('There is no session yet').waitFor();
    const program = page.getByText('service.createSession');
    await program.waitFor();
    assert.match(await program.textContent(), /\n {2}session,\n/, 'indented, as it is written');
    assert.deepEqual(await faultsOf(page), []);
    await page.getByRole('button', { name: 'New session' }).click();
    await page.waitForFunction(() => globalThis.inspection.session?.appName === 'trips');
    assert.deepEqual(await shown(page), PANES);
  });

  it('shows the first session that is written, also to a view that only reads', async (t) => {
    const page = await bench.inPage(t, { mount: { apps: ['trips'] } });
    await page.getByText('There is no session yet').waitFor();
    await page.evaluate(() =>
      globalThis.service.createSession({ appName: 'trips', userId: 'ana', sessionId: 'lisbon' }),
    );
    await page.waitForFunction(() => globalThis.inspection.session?.id === 'lisbon');
    await pane(page, 'state').waitFor();
  });

  for (const [name, options] of [
    ['dark, at 1440 pixels', sized(1440, 900, { colorScheme: 'dark' })],
    ['light, at 1024 pixels', sized(1024, 768, { colorScheme: 'light' })],
    ['dark, on a phone', sized(390, 844, { colorScheme: 'dark' })],
    ['light, with forced colours', sized(1440, 900, { forcedColors: 'active' })],
  ])
    it(`has no fault that axe finds: ${name}`, async (t) => {
      const page = await bench.inPage(t, {
        seed: story,
        mount: { write: true, template: 'A trip to {city}.' },
        options,
      });
      await page.evaluate(() => {
        globalThis.inspection.select(4);
        globalThis.inspection.trace('city');
      });
      await page.locator('statepad-details').getByText('History of').first().waitFor({ state: 'attached' });
      assert.deepEqual(await faultsOf(page), []);
    });

  it('draws hostile names as text', async (t) => {
    const names = ['<img src=x onerror=alert(1)>', '__proto__', '${constructor}'];
    const seed = async ({ service, arg }) => {
      for (const name of arg) {
        const session = await service.createSession({ appName: 'trips', userId: name, sessionId: name });
        await service.appendEvent({ session, event: { author: name, actions: { stateDelta: { city: name } } } });
      }
    };
    const page = await bench.inPage(t, { seed, arg: names });
    for (const name of names) {
      await page.evaluate((id) => globalThis.inspection.open({ appName: 'trips', userId: id, sessionId: id }), name);
      await page.locator('statepad-header').getByText(name, { exact: true }).last().waitFor();
      await page.locator('statepad-timeline').getByRole('listitem').getByText(name, { exact: true }).waitFor();
    }
    assert.equal(await page.locator('img').count(), 0);
  });
});
