// What is kept: two tabs that write at once, a reload, storage that is refused or full.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openChromium, openPage } from '../support/chromium.mjs';
import { APP, DATABASE, newSession, site, stored, untilStored } from './support.mjs';

const step = (page) => page.getByRole('button', { name: 'Step', exact: true });
const list = (page) => page.getByRole('listbox', { name: 'Events' });

/** The store as version 1 of what it keeps had it, as a script of the page's server. */
const version1 = {
  html: await readFile(new URL('../fixtures/indexeddb-v1.js', import.meta.url), 'utf8'),
  headers: { 'content-type': 'text/javascript' },
};

/**
 * Types a message and sends it, once the one before is answered: until then the button is disabled, and the click
 * waits.
 */
async function say(page, text) {
  await page.getByPlaceholder('Type a message').fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
}

describe('what is kept', () => {
  const it_ = site({ pages: { '/blank': '<!doctype html><title>blank</title>', '/version-1.js': version1 } });

  it('what one tab writes shows in the other, both write at once, and nothing is lost', async (t) => {
    const context = await it_.context(t);
    const one = await it_.open(t, { context });
    const hash = new URL(one.url()).hash;
    const two = await it_.open(t, { context, hash });
    assert.equal(new URL(two.url()).hash, hash);

    await step(one).click();
    await two.getByText('Hi, Ana here, from Berlin', { exact: false }).first().waitFor();
    await step(two).click();
    await one.getByText('How lovely. When do you want to fly', { exact: false }).first().waitFor();

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
      await page.getByText(`${rev} events`, { exact: true }).waitFor();
      for (const [key] of wanted) await page.getByRole('button', { name: key, exact: true }).first().waitFor();
    }
  });

  it('a session that another tab makes can be chosen, and shares what is the user’s and the app’s', async (t) => {
    const context = await it_.context(t);
    const one = await it_.open(t, { context });
    await step(one).click();
    await one.getByRole('button', { name: 'user:home', exact: true }).first().waitFor();
    const two = await it_.open(t, { context, hash: new URL(one.url()).hash });
    await newSession(two);
    await two.getByRole('button', { name: 'user:home', exact: true }).first().waitFor();
    assert.equal(await two.getByRole('button', { name: 'city', exact: true }).count(), 0);

    const created = decodeURIComponent(new URL(two.url()).hash).split('/').at(-1);
    await one.getByLabel('Session', { exact: true }).selectOption(created);
    await say(two, 'remember user:seat = 7');
    await one.getByRole('button', { name: 'user:seat', exact: true }).first().waitFor();
  });

  it('a session that another tab deletes is left, for the newest that there is', async (t) => {
    const context = await it_.context(t);
    const one = await it_.open(t, { context });
    const [, , , deleted] = decodeURIComponent(new URL(one.url()).hash).split('/');
    const two = await it_.open(t, { context, hash: new URL(one.url()).hash });
    await newSession(two);
    assert.equal((await stored(two)).sessions.length, 2);
    await two.getByLabel('Session', { exact: true }).selectOption(deleted);
    await two.waitForFunction((hash) => window.location.hash === hash, new URL(one.url()).hash);
    await two.getByRole('button', { name: 'Delete session' }).click();
    await two.getByRole('button', { name: 'Yes, delete' }).click();
    const { sessions } = await untilStored(two, (found) => found.sessions.length === 1);
    await one.getByText(`Session ${deleted} has been deleted`, { exact: false }).waitFor();
    await one.waitForURL(({ hash }) => decodeURIComponent(hash).endsWith(`/${sessions[0].id}`));
    assert.equal(await one.getByLabel('Session', { exact: true }).inputValue(), sessions[0].id);
  });

  it('everything is there after a reload, temp: keys aside', async (t) => {
    const page = await it_.open(t);
    for (const text of ['Hi, Ana here', 'How lovely', 'On the 3rd of May']) {
      await step(page).click();
      await page.getByText(text, { exact: false }).first().waitFor();
    }
    const before = await untilStored(page, ({ sessions }) =>
      sessions[0].events.some(({ content }) => content?.parts?.[0]?.text?.startsWith('On the 3rd')),
    );
    await page.reload();
    await page.getByText('On the 3rd of May', { exact: false }).first().waitFor();
    await page.getByText(`${before.sessions[0].rev} events`, { exact: true }).waitFor();
    assert.deepEqual(await stored(page), before);
    assert.equal(await page.getByRole('button', { name: 'temp:plan', exact: true }).count(), 0);
  });

  it('what an earlier version of the page has kept is there, and goes on', async (t) => {
    const context = await it_.context(t);
    const blank = await context.newPage();
    await blank.goto(`${it_.origin}/blank`);
    await blank.evaluate(
      async ({ database, app }) => {
        const { indexedDBStore } = await import('/version-1.js');
        const store = indexedDBStore(database);
        const more = { signal: new AbortController().signal };
        await store.open({ migrate: 'create' }, more);
        const key = { appName: app, userId: 'ana', sessionId: 'kept' };
        const said = (id, author, text, stateDelta, time) => {
          const content = { role: author === 'user' ? 'user' : 'model', parts: [{ text }] };
          return { id, invocationId: 'i', author, timestamp: time, content, actions: { stateDelta } };
        };
        const append = async (event, delta) => {
          const { id, timestamp: time } = event;
          await store.commit(
            { id, kind: 'append', key, time, event: { id, time, data: JSON.stringify(event) }, delta },
            more,
          );
        };
        const time = Date.UTC(2026, 1, 3);
        await store.commit(
          { id: 'created', kind: 'create', key, time, delta: { app: { set: { motto: 'kept by the app' } } } },
          more,
        );
        await append(said('e1', 'user', 'remember seat = 12', {}, time + 1), {});
        const answered = { seat: 12, 'user:home': 'Berlin' };
        await append(said('e2', 'guide', 'Seat 12 it is', answered, time + 2), {
          session: { set: { seat: 12 } },
          user: { set: { home: 'Berlin' } },
        });
        await store.close();
      },
      { database: DATABASE, app: APP },
    );
    const before = await stored(blank);
    assert.deepEqual([before.sessions[0].rev, before.sessions[0].state], [2, { seat: 12 }]);
    await blank.close();

    const page = await it_.open(t, { context, hash: `#/${APP}/ana/kept` });
    await page.getByText('2 events', { exact: true }).waitFor();
    await list(page).getByText('Seat 12 it is').waitFor();
    for (const key of ['seat', 'user:home', 'app:motto'])
      await page.getByRole('button', { name: key, exact: true }).first().waitFor();
    assert.deepEqual(await page.getByRole('alert').allInnerTexts(), [''], 'nothing is wrong');
    await say(page, 'remember row = 3');
    const {
      sessions: [session],
      app,
      users,
    } = await untilStored(page, ({ sessions }) => sessions[0].state.row === 3);
    assert.deepEqual([session.state, app, users.ana], [{ seat: 12, row: 3 }, before.app, before.users.ana]);
    assert.deepEqual(session.events.slice(0, 2), before.sessions[0].events);
    await page.reload();
    await page.getByText(`${session.rev} events`, { exact: true }).waitFor();
  });

  it('a full storage is said, nothing is half written, and writing goes on when there is room again', async (t) => {
    const context = await it_.context(t);
    // Chromium takes a quota for an origin that has stored nothing yet.
    const blank = await context.newPage();
    await blank.goto(`${it_.origin}/blank`);
    const devtools = await context.newCDPSession(blank);
    await devtools.send('Storage.overrideQuotaForOrigin', { origin: it_.origin, quotaSize: 2_000_000 });
    const page = await it_.open(t, { context });
    await step(page).click();
    const before = await untilStored(page, ({ sessions }) => (sessions[0]?.rev ?? 0) > 0);
    // Nothing that could be compressed.
    const large = await page.evaluate(() =>
      Array.from({ length: 2_000_000 }, () => String.fromCharCode(0x4e00 + Math.random() * 20_000)).join(''),
    );
    await page.getByPlaceholder('Type a message').fill(`remember big = "${large}"`);
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
    await page.goto(it_.address);
    await page
      .getByRole('alert')
      .filter({ hasText: 'Nothing is saved: reloading the page loses everything.' })
      .waitFor();
    await page.getByText('Not saved').waitFor();
    await step(page).click();
    await list(page).getByText('Hi, Ana here', { exact: false }).waitFor();
  });

  it('says when the browser’s storage does not answer, and goes on without it when told so', async (t) => {
    const context = await it_.context(t);
    // A database that never opens, as one does that another tab holds.
    await context.addInitScript(() => {
      window.IDBFactory.prototype.open = () => new window.EventTarget();
    });
    const { page } = await openPage(context, it_.origin);
    await page.goto(it_.address);
    await page.getByRole('status').filter({ hasText: 'The browser’s storage is not answering.' }).waitFor();
    await page.getByRole('button', { name: 'Continue without saving' }).click();
    await page.getByText('Not saved').waitFor();
    assert.equal(await page.getByText('is not answering').count(), 0);
    await step(page).click();
    await list(page).getByText('Hi, Ana here', { exact: false }).waitFor();
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
    await page.goto(it_.address);
    await page.getByText('is not answering').waitFor();
    await page.evaluate(() => window.letAnswer());
    await page.getByText('Saved in this browser').waitFor();
    assert.equal(await page.getByText('is not answering').count(), 0);
    await step(page).waitFor();
  });
});
