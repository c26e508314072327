// The page as static files: from any path, from a file, without a network, on a narrow screen.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openPage } from '../support/chromium.mjs';
import { loaded, say, showsKey, site, stored, untilStored } from './support.mjs';

const built = fileURLToPath(new URL('../../www/dist/index.html', import.meta.url));

describe('the page as static files', () => {
  const it_ = site();

  it('works from a folder below the root, and asks no other host', async (t) => {
    const page = await it_.open(t);
    assert.match(page.url(), /\/dist\/\?pace=1000#\/demo\/ana\/trip-lisbon-/);
    assert.equal(await page.title(), 'statepad');
  });

  it('says what is wrong when it is opened as a file', async (t) => {
    const context = await it_.context(t);
    const { page } = await openPage(context, 'null');
    await page.goto(pathToFileURL(built).href);
    await page.getByText('This page was opened as a file').waitFor();
    assert.match(await page.locator('body').innerText(), /npm run www/);
  });

  it('goes on without a network, and is there after a reload without one', async (t) => {
    const context = await it_.context(t);
    const page = await it_.open(t, { context, expects: /^(failed|console: Failed to load)/ });
    await page.evaluate(() => navigator.serviceWorker.ready.then(() => undefined));
    // The worker sees the page's files from the next visit on.
    await page.reload();
    await loaded(page);
    await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
    await page.reload();
    await loaded(page);

    await context.setOffline(true);
    await say(page, 'remember offline = true');
    const before = await untilStored(page, ({ sessions }) => sessions[0].state.offline === true);
    await page.reload();
    await showsKey(page, 'offline');
    assert.deepEqual(await stored(page), before);
    // Also what reads files is there: it is a program of its own.
    const session = { id: 'offline', appName: 'a', userId: 'u', state: { seen: true }, events: [] };
    await page
      .getByLabel('A file with sessions')
      .setInputFiles({ name: 'one.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(session)) });
    await page.getByText('Looking into one.json, read-only: 1 session, 0 events.').waitFor();
  });

  it('is no wider than a narrow screen', async (t) => {
    const page = await it_.open(t, { options: { viewport: { width: 380, height: 800 } } });
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 380);
  });

  it('keeps the theme that was chosen, in all of the page', async (t) => {
    const page = await it_.open(t, { options: { colorScheme: 'light' } });
    const scheme = () => page.evaluate(() => getComputedStyle(document.querySelector('statepad-page')).colorScheme);
    await page.getByRole('radio', { name: 'Dark' }).check({ force: true });
    assert.equal(await scheme(), 'dark');
    await page.reload();
    await loaded(page);
    assert.equal(await scheme(), 'dark');
    await page.getByRole('radio', { name: 'Light' }).check({ force: true });
    assert.equal(await scheme(), 'light');
  });
});
