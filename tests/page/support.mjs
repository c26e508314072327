// The built page in Chromium: served from a folder below the root of a server, as anybody may put it.

import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openChromium, openPage } from '../support/chromium.mjs';
import { serve } from '../support/serve.mjs';

const www = fileURLToPath(new URL('../../www', import.meta.url));

/** The page's own database, and the app of its sessions. */
export const DATABASE = 'statepad-demo';
export const APP = 'demo';

/**
 * Serves the page and opens a browser for the tests of a `describe`. Answers what opens pages; each test gets a
 * browser context of its own, so it begins with nothing stored, and fails when a page of it complained.
 *
 * @param {{ pages?: Record<string, string> }} [more] further pages of the same server
 */
export function site({ pages } = {}) {
  const it = {};
  before(async () => {
    [it.server, it.browser] = await Promise.all([serve({ folder: www, pages }), openChromium()]);
  });
  after(async () => {
    await Promise.all([it.browser?.close(), it.server?.stop()]);
  });
  return {
    get origin() {
      return it.server.origin;
    },
    get address() {
      return `${it.server.origin}/dist/`;
    },
    get browser() {
      return it.browser;
    },
    /** A new place to store in, closed at the end of the test. `options` are playwright's. */
    async context(t, options = {}) {
      const context = await it.browser.newContext({
        viewport: { width: 1280, height: 900 },
        reducedMotion: 'reduce',
        ...options,
      });
      t.after(() => context.close());
      return context;
    },
    /**
     * The page with a story that was played to its end; in a new context unless one is given. The test fails when the
     * page has complained of something that `expects` does not match.
     */
    async open(t, { context, options, hash = '', search = '', expects } = {}) {
      const { page, complaints } = await openPage(context ?? (await this.context(t, options)), it.server.origin);
      t.after(() =>
        assert.deepEqual(
          complaints.filter((complaint) => !expects?.test(complaint)),
          [],
        ),
      );
      await page.goto(`${it.server.origin}/dist/?pace=1000${search}${hash}`);
      await loaded(page);
      return page;
    },
  };
}

/** Waits until the page shows a session, and plays nothing. */
export async function loaded(page) {
  await page.getByRole('button', { name: 'Replay' }).and(page.locator(':enabled')).waitFor();
  await page.getByRole('textbox', { name: 'Message' }).waitFor();
}

/** The number of events of the story. */
export const SCENES = 13;

/** Plays the story in a new session, and waits until the page has shown it. */
export async function replay(page) {
  const before = new URL(page.url()).hash;
  await page.getByRole('button', { name: 'Replay' }).click();
  await page.waitForFunction((hash) => window.location.hash !== hash, before);
  await loaded(page);
}

/** Types a message, which Enter sends then. Answers the field. */
export async function write(page, text) {
  const field = page.getByRole('textbox', { name: 'Message' });
  await field.fill(text);
  await page.getByRole('button', { name: 'Send' }).and(page.locator('[aria-disabled=false]')).waitFor();
  return field;
}

/**
 * Types a message and sends it. Resolves when it is answered: until then the field is not empty, or its button is
 * disabled.
 */
export async function say(page, text) {
  const field = await write(page, text);
  await field.press('Enter');
  await page.waitForFunction((element) => element.value === '', await field.elementHandle());
}

/** Waits until the state has a key: it draws only what is in sight, so the key is searched for. */
export async function showsKey(page, key) {
  const filter = page.getByPlaceholder('Filter keys and values');
  await filter.fill(key);
  await page.locator('statepad-state').getByText(key, { exact: true }).first().waitFor();
  await filter.fill('');
}

/** The moment that the timeline tells. */
export const moment = (page, words) => page.locator('output').getByText(words).waitFor();

/** The content of IndexedDB, read without the package: the sessions with their events, as the store wrote them. */
export async function stored(page, database = DATABASE) {
  return await page.evaluate(async (name) => {
    const done = (request) =>
      new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    const opened = await done(window.indexedDB.open(name));
    try {
      const transaction = opened.transaction([...opened.objectStoreNames]);
      const [sessions, events, values] = await Promise.all(
        ['sessions', 'events', 'values'].map((table) => done(transaction.objectStore(table).getAll())),
      );
      const valuesOf = (suits) =>
        Object.fromEntries(values.filter(({ home }) => suits(home)).map((row) => [row.name, JSON.parse(row.text)]));
      return {
        sessions: sessions.map(({ app, user, id, number, rev }) => ({
          app,
          user,
          id,
          rev,
          state: valuesOf((home) => home === number),
          events: events
            .filter(({ session, rev: at }) => session === number && at > 0)
            .map(({ data }) => JSON.parse(data)),
        })),
        app: valuesOf((home) => Array.isArray(home) && home.length === 1),
        users: Object.fromEntries(
          [...new Set(sessions.map(({ user }) => user))].map((user) => [
            user,
            valuesOf((home) => Array.isArray(home) && home[1] === user),
          ]),
        ),
      };
    } finally {
      opened.close();
    }
  }, database);
}

/** Waits until IndexedDB has something: `suits` gets what {@link stored} answers. */
export async function untilStored(page, suits, database = DATABASE) {
  for (const end = Date.now() + 30_000; ;) {
    const found = await stored(page, database);
    if (suits(found)) return found;
    if (Date.now() > end) throw new Error(`IndexedDB never had it; it has ${JSON.stringify(found).slice(0, 2000)}`);
    await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 50)));
  }
}
