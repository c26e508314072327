// The list of sessions: it sorts, searches and pages, by mouse and keyboard; it creates and deletes.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { faultsOf, focused } from './story.mjs';
import { untilShown, workbench } from './support.mjs';

/** 120 sessions of the app `shop`, of four users, and one of `trips`. */
const many = async ({ service }) => {
  for (let n = 1; n <= 120; n++) {
    const session = await service.createSession({ appName: 'shop', userId: `user ${n % 4}`, sessionId: `cart ${n}` });
    for (let events = 0; events < n % 3; events++)
      await service.appendEvent({ session, event: { author: 'user', timestamp: n * 1000 + events } });
  }
  await service.createSession({ appName: 'trips', userId: 'ana', sessionId: 'lisbon' });
};

const dialog = (page) => page.getByRole('dialog', { name: 'Sessions' });
const field = (page) => dialog(page).getByRole('combobox', { name: 'Search sessions' });
const options = (page) => dialog(page).getByRole('option');
const button = (page, name) => dialog(page).getByRole('button', { name, exact: true });
const foot = (page, text) => dialog(page).getByRole('status').getByText(text);
const current = (page) => page.evaluate(() => globalThis.inspection.session?.id);
const firstIds = async (page, count) =>
  (await options(page).locator('.id').allInnerTexts()).slice(0, count).map((text) => text.trim());

async function open(page) {
  await page.getByRole('button', { name: /^Session / }).click();
  await options(page).first().waitFor();
}

describe('the list of sessions', () => {
  const bench = workbench();

  it('opens the session that is chosen by mouse, of any app', async (t) => {
    const page = await bench.inPage(t, { seed: many });
    await open(page);
    await button(page, 'trips').click();
    await options(page).filter({ hasText: 'lisbon' }).click();
    await dialog(page).waitFor({ state: 'detached' });
    assert.equal(await current(page), 'lisbon');
    await open(page);
    await button(page, 'shop').click();
    await foot(page, '50 of 120 sessions loaded').waitFor();
    await button(page, 'user 3').click();
    await foot(page, '30 sessions').waitFor();
  });

  it('is used by keyboard: letters search, arrows choose, Enter opens, Escape closes', async (t) => {
    const page = await bench.inPage(t, { seed: many, mount: { apps: ['shop'] } });
    await page.keyboard.press('s');
    await options(page).first().waitFor();
    assert.equal(await focused(page), 'Search sessions');
    await page.keyboard.type('cart 11');
    await page.waitForFunction(() => globalThis.inspection.directory.query === 'cart 11');
    await page.keyboard.press('ArrowDown');
    const chosen = (await dialog(page).locator('[aria-selected="true"] .id').innerText()).trim();
    assert.equal(await field(page).getAttribute('aria-activedescendant'), 'row-1');
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    assert.equal(await current(page), chosen);
    await page.keyboard.press('s');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
  });

  it('sorts by its columns', async (t) => {
    const page = await bench.inPage(t, { seed: many, mount: { apps: ['shop'] } });
    await open(page);
    await button(page, 'Session').click();
    const byId = await firstIds(page, 3);
    assert.deepEqual(
      byId,
      byId.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true })),
    );
    await button(page, 'Events').click();
    const counts = (await options(page).locator('.events').allInnerTexts()).map(Number);
    assert.deepEqual(
      counts,
      counts.toSorted((one, other) => other - one),
    );
  });

  it('reads further pages as one goes down, and draws only what is in view', async (t) => {
    const page = await bench.inPage(t, { seed: many, mount: { apps: ['shop'] } });
    await open(page);
    await foot(page, '50 of 120 sessions loaded').waitFor();
    for (let n = 0; n < 12; n++) await field(page).press('PageDown');
    await untilShown(page, () => globalThis.inspection.directory.loaded > 50);
    await dialog(page)
      .locator('.rows')
      .evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
    await foot(page, /^120 sessions/u).waitFor();
    assert.ok((await options(page).count()) < 60);
  });

  it('creates a session for a user, whose name may be new', async (t) => {
    const page = await bench.inPage(t, { seed: many, mount: { apps: ['shop'], write: true } });
    await open(page);
    await button(page, 'New session').click();
    await dialog(page).getByRole('textbox', { name: 'User' }).fill('zoe');
    await dialog(page).getByRole('textbox', { name: /^Id/ }).fill('first');
    await button(page, 'Create').click();
    await dialog(page).waitFor({ state: 'detached' });
    assert.deepEqual(
      await page.evaluate(() => [globalThis.inspection.session.userId, globalThis.inspection.session.id]),
      ['zoe', 'first'],
    );
  });

  it('deletes a session after a question, which Escape and Keep it answer with no', async (t) => {
    const page = await bench.inPage(t, { seed: many, mount: { apps: ['trips'], write: true } });
    await open(page);
    const exists = () =>
      page.evaluate(async () => {
        const key = { appName: 'trips', userId: 'ana', sessionId: 'lisbon' };
        return (await globalThis.service.getSession(key)) !== undefined;
      });
    for (const no of [() => page.keyboard.press('Escape'), () => button(page, 'Keep it').click()]) {
      await button(page, 'Delete lisbon').click();
      await dialog(page).getByText('Delete lisbon with its 0 events?').waitFor();
      await no();
      await button(page, 'Delete lisbon').waitFor();
    }
    assert.ok(await exists());
    await button(page, 'Delete lisbon').click();
    await button(page, 'Delete').click();
    await dialog(page).getByText('There is no session here yet.').waitFor();
    assert.equal(await exists(), false);
  });

  it('offers no writes to a view that only reads', async (t) => {
    const page = await bench.inPage(t, { seed: many, mount: { apps: ['shop'] } });
    await open(page);
    assert.equal(await button(page, 'New session').count(), 0);
    assert.equal(
      await dialog(page)
        .getByRole('button', { name: /^Delete/ })
        .count(),
      0,
    );
    await page.locator('statepad-header').getByText('read only').waitFor();
  });

  it('has no fault that axe finds', async (t) => {
    const page = await bench.inPage(t, { seed: many, mount: { apps: ['shop'], write: true } });
    await open(page);
    assert.deepEqual(await faultsOf(page, 'statepad-inspector', 'statepad-sessions', 'dialog'), []);
  });
});
