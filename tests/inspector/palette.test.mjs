// The palette: sessions, keys, events and commands by their names.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { EVENTS, faultsOf, story, untilAt } from './story.mjs';
import { untilShown, workbench } from './support.mjs';

const palette = (page) => page.getByRole('dialog', { name: 'Search and commands' });
const options = (page) => palette(page).getByRole('option');
const chosen = (page) => palette(page).locator('[aria-selected="true"] .name');

async function open(page, words = '') {
  await page.keyboard.press('Control+k');
  await palette(page).waitFor();
  await page.keyboard.type(words);
}

async function choose(page, words) {
  await open(page, words);
  await page.keyboard.press('Enter');
  await palette(page).waitFor({ state: 'detached' });
}

const seed = `async (page) => { await (${story})(page); await page.service.createSession({ appName: 'trips', userId: 'ben', sessionId: 'porto' }); }`;

describe('the palette', () => {
  const bench = workbench();

  it('runs the command whose letters were typed', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await choose(page, 'step ba');
    await untilAt(page, EVENTS - 1);
    await choose(page, 'prevturn');
    await untilAt(page, 6);
    await choose(page, 'gonow');
    await untilShown(page, () => globalThis.inspection.isNow);
  });

  it('opens a session', async (t) => {
    const page = await bench.inPage(t, { seed });
    await page.evaluate(() => globalThis.inspection.open({ appName: 'trips', userId: 'ana', sessionId: 'lisbon' }));
    await choose(page, 'porto');
    await untilShown(page, () => globalThis.inspection.session.id === 'porto');
  });

  it('shows the history of a key', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await choose(page, 'hotel');
    await untilShown(page, () => globalThis.inspection.traced === 'hotel');
  });

  it('goes to events by their words and by their numbers, and compares with a moment', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await open(page, 'miradouro has');
    await options(page).filter({ hasText: 'The Miradouro has a lift.' }).click();
    await untilAt(page, 4);
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), 4);
    await choose(page, '#7');
    await untilAt(page, 7);
    await open(page, '#2');
    await page.keyboard.press('ArrowDown');
    assert.equal((await chosen(page).innerText()).trim(), 'Compare with #2');
    await page.keyboard.press('Enter');
    await untilShown(page, () => globalThis.inspection.base === 2);
  });

  it('searches in all panes', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await open(page, 'miradouro');
    await options(page).filter({ hasText: 'in this session' }).click();
    await untilShown(
      page,
      () => globalThis.inspection.query === 'miradouro' && globalThis.inspection.matches.length > 0,
    );
  });

  it('says so when there is nothing, and closes with Escape and at a press beside it', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await open(page, 'zzzzqq');
    await palette(page).getByText('Nothing is called “zzzzqq” here.').waitFor();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
    await open(page);
    await page.mouse.click(20, 700);
    await palette(page).waitFor({ state: 'detached' });
  });

  it('opens again at once after it was closed', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await open(page);
    // In one go, as the event of a dialog that closes comes later.
    await page.evaluate(() => {
      const inspector = document.querySelector('statepad-inspector');
      inspector.shadowRoot.querySelector('statepad-palette').shadowRoot.querySelector('dialog').close();
      inspector.openPalette();
    });
    await page.waitForTimeout(200);
    await palette(page).getByRole('combobox').fill('go to');
    await options(page).first().waitFor();
  });

  it('opens with its keys while it closes', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await open(page);
    // In one go: until the event of the dialog comes, the field of the palette is still focused.
    await page.evaluate(() => {
      const inspector = document.querySelector('statepad-inspector');
      const root = inspector.shadowRoot.querySelector('statepad-palette').shadowRoot;
      const field = root.querySelector('input');
      root.querySelector('dialog').close();
      const press = { key: 'k', ctrlKey: true, bubbles: true, composed: true, cancelable: true };
      field.dispatchEvent(new globalThis.KeyboardEvent('keydown', press));
    });
    await page.waitForTimeout(200);
    await palette(page).getByRole('combobox').fill('go to');
    await options(page).first().waitFor();
  });

  it('leaves out what cannot be done', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await open(page, 'fork from');
    assert.equal(
      await options(page).filter({ hasText: 'Fork from here' }).count(),
      0,
      'nothing is forked by a reader',
    );
    await page.keyboard.press('Escape');
    await open(page, 'go to now');
    assert.equal(await options(page).filter({ hasText: 'Go to now' }).count(), 0, 'it is now');
  });

  it('forks from the moment where that may be written', async (t) => {
    const page = await bench.inPage(t, { seed: story, mount: { write: true } });
    await choose(page, '#4');
    await untilAt(page, 4);
    await choose(page, 'fork from');
    await untilShown(page, () => globalThis.inspection.session.id !== 'lisbon');
    assert.deepEqual(await page.evaluate(() => globalThis.inspection.forkedFrom), {
      session: { appName: 'trips', userId: 'ana', sessionId: 'lisbon' },
      revision: 4,
    });
  });

  it('has no fault that axe finds', async (t) => {
    const page = await bench.inPage(t, { seed: story });
    await open(page, 'lis');
    assert.deepEqual(await faultsOf(page, 'statepad-inspector', 'statepad-palette', 'dialog'), []);
  });
});
