// The page's storage: two tabs that write at once, a reload, storage that is refused or full.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openChromium, openPage } from '../support/chromium.mjs';
import { DATABASE, loaded, moment, replay, say, SCENES, showsKey, site, stored, untilStored } from './support.mjs';

/**
 * Makes a database as builds of another layout have made it, by IndexedDB's own number of its version. The tab keeps
 * it open, and lets go of it when another wants to delete it, or not before `letGo` is called.
 */
async function makeOld(page, { name = DATABASE, number, isPolite = true }) {
  await page.evaluate(
    async ({ name, number, isPolite }) => {
      const request = window.indexedDB.open(name, number);
      request.onupgradeneeded = () => {
        const meta = request.result.createObjectStore('meta', { keyPath: 'name' });
        meta.put({ name: 'database', identity: 'old', sessions: 1 });
      };
      const database = await new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
      window.letGo = () => database.close();
      if (isPolite) database.onversionchange = window.letGo;
    },
    { name, number, isPolite },
  );
}

/** The text of the page when it has begun anew. */
const ANEW = 'Another version of this page has saved sessions here in a form that this one cannot read.';

describe('what is kept', () => {
  const it_ = site({ pages: { '/blank': '<!doctype html><title>blank</title>' } });

  it('what one tab writes shows in the other, both write at once, and nothing is lost', async (t) => {
    const context = await it_.context(t);
    const one = await it_.open(t, { context });
    const hash = new URL(one.url()).hash;
    const two = await it_.open(t, { context, hash });
    assert.equal(new URL(two.url()).hash, hash);

    const numbers = Array.from({ length: 12 }, (_, index) => index);
    await Promise.all(
      [one, two].map(async (page, tab) => {
        for (const number of numbers) await say(page, `remember note_${tab}_${number} = ${number}`);
      }),
    );
    const wanted = [0, 1].flatMap((tab) => numbers.map((number) => [`note_${tab}_${number}`, number]));
    const { sessions } = await untilStored(one, (found) =>
      wanted.every(([key, value]) => found.sessions[0].state[key] === value),
    );
    const [{ events, rev }] = sessions;
    assert.equal(events.length, rev);
    assert.equal(new Set(events.map(({ id }) => id)).size, rev);
    const said = events.filter(({ author }) => author === 'user').map(({ content }) => content.parts[0].text);
    for (const [key, value] of wanted)
      assert.equal(said.filter((text) => text === `remember ${key} = ${value}`).length, 1);

    for (const page of [one, two]) {
      await moment(page, `#${rev} of ${rev}`);
      await showsKey(page, 'note_0_11');
      await showsKey(page, 'note_1_11');
    }
  });

  it('two tabs that play a session at once make each event once', async (t) => {
    const context = await it_.context(t);
    const [one, two] = [await context.newPage(), await context.newPage()];
    await one.goto(`${it_.address}?pace=20`);
    await one.waitForFunction(() => window.location.hash !== '');
    await two.goto(`${it_.address}?pace=20${new URL(one.url()).hash}`);
    await untilStored(one, ({ sessions }) => sessions.some(({ rev }) => rev === SCENES));
    await loaded(one);
    const { sessions } = await stored(one);
    for (const { events } of sessions)
      assert.deepEqual(
        events.map(({ id }) => id),
        Array.from({ length: SCENES }, (_, index) => `scene-${index + 1}`),
      );
  });

  it('a session that another tab deletes is left, for the newest that there is', async (t) => {
    const context = await it_.context(t);
    const one = await it_.open(t, { context });
    const deleted = new URL(one.url()).hash;
    const two = await it_.open(t, { context, hash: deleted });
    await replay(two);
    const left = new URL(two.url()).hash;
    await two.goBack();
    await two.waitForFunction((hash) => window.location.hash === hash, deleted);
    const id = decodeURIComponent(deleted).split('/').at(-1);
    await two.getByRole('button', { name: id }).first().click();
    await two.getByRole('button', { name: `Delete ${id}` }).click();
    await two.getByRole('button', { name: 'Delete', exact: true }).click();
    await untilStored(two, (found) => found.sessions.length === 1);
    await one.waitForFunction((hash) => window.location.hash === hash, left);
  });

  it('everything is there after a reload, but for what is never stored', async (t) => {
    const page = await it_.open(t);
    await say(page, 'remember temp:secret = 1');
    await say(page, 'remember note = 2');
    const before = await untilStored(page, ({ sessions }) => sessions[0].state.note === 2);
    await page.reload();
    await loaded(page);
    await moment(page, `#${SCENES + 4} of ${SCENES + 4}`);
    await showsKey(page, 'note');
    assert.deepEqual(await stored(page), before);
    assert.equal(JSON.stringify(before).includes('"temp:secret":1'), false);
  });

  /** A tab of another layout, which keeps its database open. */
  async function openOld(context, old) {
    const tab = await context.newPage();
    await tab.goto(`${it_.origin}/blank`);
    await makeOld(tab, old);
    return tab;
  }

  for (const [what, number] of [
    ['without a fingerprint', 2],
    ['of a later version', 3],
  ]) {
    it(`starts anew where it finds a database ${what}, says so once, and keeps what comes then`, async (t) => {
      const context = await it_.context(t);
      await openOld(context, { number });
      const page = await it_.open(t, { context });
      await page.getByRole('status').filter({ hasText: ANEW }).waitFor();
      await page.getByText('Saved in this browser').waitFor();
      assert.equal((await page.getByRole('alert').allInnerTexts()).join(''), '', 'nothing is wrong');
      await say(page, 'remember row = 3');
      const { sessions } = await untilStored(page, (found) => found.sessions[0]?.state.row === 3);
      assert.equal(sessions.length, 1);
      await page.reload();
      await loaded(page);
      await showsKey(page, 'row');
      assert.equal(await page.getByText(ANEW).count(), 0);
    });
  }

  it('two tabs that find an old database at once start anew once: what either writes is kept', async (t) => {
    const context = await it_.context(t);
    await openOld(context, { number: 2 });
    const pages = await Promise.all([it_.open(t, { context }), it_.open(t, { context })]);
    for (const [index, page] of pages.entries()) await say(page, `remember tab_${index} = ${index}`);
    const keys = ({ sessions }) => sessions.flatMap(({ state }) => Object.keys(state)).sort();
    await untilStored(pages[0], (found) => ['tab_0', 'tab_1'].every((key) => keys(found).includes(key)));
    const told = await Promise.all(pages.map((page) => page.getByText(ANEW).count()));
    assert.deepEqual(told.sort(), [0, 1]);
  });

  it('waits for a tab that does not let go of the old database, and says what to do', async (t) => {
    const context = await it_.context(t);
    const old = await openOld(context, { number: 2, isPolite: false });
    const { page } = await openPage(context, it_.origin);
    await page.goto(`${it_.address}?pace=1000`);
    await page.getByRole('status').filter({ hasText: 'Another tab of this page may be holding it' }).waitFor();
    await old.evaluate(() => window.letGo());
    await page.getByRole('status').filter({ hasText: ANEW }).waitFor();
    await page.getByText('Saved in this browser').waitFor();
    assert.equal(await page.getByText('is not answering').count(), 0);
  });

  it('deletes no database that only the address names, and keeps nothing there', async (t) => {
    const context = await it_.context(t);
    const old = await openOld(context, { name: 'theirs', number: 2 });
    const page = await it_.open(t, { context, search: '&database=theirs' });
    await page.getByRole('alert').filter({ hasText: 'Nothing is saved' }).waitFor();
    assert.equal(await page.getByText(ANEW).count(), 0);
    const names = await old.evaluate(async () => (await window.indexedDB.databases()).map(({ name }) => name));
    assert.deepEqual(names, ['theirs']);
  });

  it('a full storage is said, nothing is half written, and writing goes on when there is room again', async (t) => {
    const context = await it_.context(t);
    // Chromium takes a quota for an origin that has stored nothing yet.
    const blank = await context.newPage();
    await blank.goto(`${it_.origin}/blank`);
    const devtools = await context.newCDPSession(blank);
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: it_.origin, quotaSize: 2_000_000 });
    const page = await it_.open(t, { context });
    const before = await untilStored(page, ({ sessions }) => sessions[0]?.rev === SCENES);
    // Nothing that could be compressed.
    const large = await page.evaluate(() =>
      Array.from({ length: 2_000_000 }, () => String.fromCharCode(0x4e00 + Math.random() * 20_000)).join(''),
    );
    await page.getByRole('textbox', { name: 'Message' }).fill(`remember big = "${large}"`);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('alert').filter({ hasText: 'storage for this page is full' }).waitFor();
    assert.deepEqual(await stored(page), before);

    await devtools.send('Storage.overrideQuotaForOrigin', { origin: it_.origin });
    await say(page, 'remember small = 1');
    await untilStored(page, ({ sessions }) => sessions[0].state.small === 1);
    await page.getByRole('alert').filter({ hasText: 'storage for this page is full' }).waitFor({ state: 'detached' });
  });

  it('says that nothing is kept where the browser refuses storage, and works all the same', async (t) => {
    // As somebody sets it who lets no site store anything.
    const folder = await mkdtemp(join(tmpdir(), 'statepad-refused-'));
    await mkdir(join(folder, 'Default'));
    await writeFile(
      join(folder, 'Default', 'Preferences'),
      JSON.stringify({ profile: { default_content_setting_values: { cookies: 2 } } }),
    );
    const context = await openChromium(folder);
    t.after(async () => {
      await context.close();
      // Processes of the browser may write to its folder for a moment longer.
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    });
    const { page } = await openPage(context, it_.origin);
    await page.goto(`${it_.address}?pace=1000`);
    await page
      .getByRole('alert')
      .filter({ hasText: 'Nothing is saved: reloading the page loses everything.' })
      .waitFor();
    await page.getByText('Not saved').waitFor();
    await page.getByText('Booked: four nights', { exact: false }).first().waitFor();
  });

  it('says when the browser’s storage does not answer, and goes on without it when told so', async (t) => {
    const context = await it_.context(t);
    // A database that never opens, as one does that another tab holds.
    await context.addInitScript(() => {
      window.IDBFactory.prototype.open = () => new window.EventTarget();
    });
    const { page } = await openPage(context, it_.origin);
    await page.goto(`${it_.address}?pace=1000`);
    await page.getByRole('status').filter({ hasText: 'The browser’s storage is not answering.' }).waitFor();
    await page.getByRole('button', { name: 'Continue without saving' }).click();
    await page.getByText('Not saved').waitFor();
    assert.equal(await page.getByText('is not answering').count(), 0);
    await page.getByText('Booked: four nights', { exact: false }).first().waitFor();
  });

  it('a storage that answers late is used, and is not complained of any more', async (t) => {
    const context = await it_.context(t);
    await context.addInitScript(() => {
      const { open } = window.IDBFactory.prototype;
      window.answer = new Promise((resolve) => (window.letAnswer = resolve));
      window.IDBFactory.prototype.open = function (...args) {
        const late = new window.EventTarget();
        void window.answer.then(() => {
          const request = open.apply(this, args);
          for (const type of ['success', 'error', 'blocked', 'upgradeneeded']) {
            request.addEventListener(type, (event) => {
              Object.defineProperties(late, {
                result: { configurable: true, get: () => request.result },
                error: { configurable: true, get: () => request.error },
                transaction: { configurable: true, get: () => request.transaction },
              });
              late[`on${type}`]?.(event);
              late.dispatchEvent(new window.Event(type));
            });
          }
        });
        return late;
      };
    });
    const { page } = await openPage(context, it_.origin);
    await page.goto(`${it_.address}?pace=1000`);
    await page.getByText('is not answering').waitFor();
    await page.evaluate(() => window.letAnswer());
    await page.getByText('Saved in this browser').waitFor();
    assert.equal(await page.getByText('is not answering').count(), 0);
    await loaded(page);
  });
});
