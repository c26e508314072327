// Journals in the localStorage of a real browser: two pages, its locks, and no room left.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { openChromium } from '../support/chromium.mjs';
import { serve } from '../support/serve.mjs';

const folder = fileURLToPath(new URL('../../pkg/dist/', import.meta.url));
const html = `<!doctype html><script type="module">
  import { localStorageJournal } from '/stores/journal.js';
  const context = { signal: new AbortController().signal };
  const key = { appName: 'app', userId: 'u', sessionId: 's' };
  const answer = (promise) => promise.then((value) => value ?? 'done', (error) => error.code ?? String(error));
  const stores = {};
  globalThis.open = (name, withItem) => {
    const store = localStorageJournal(name, withItem ? { storage: localStorage } : {});
    return answer(store.open({ migrate: 'create' }, context).then(() => void (stores[name] = store)));
  };
  globalThis.close = (name) => answer(stores[name].close());
  globalThis.create = (name) => answer(stores[name].commit({ id: 'c', kind: 'create', key, time: 1, delta: {} }, context));
  globalThis.append = (name, id, size) =>
    answer(stores[name].commit({ id, kind: 'append', key, time: 2, event: { id, time: 2, data: '"' + 'x'.repeat(size) + '"' }, delta: {} }, context));
  globalThis.rev = (name) => answer(stores[name].load(key, { events: { last: 0 } }, context).then(({ rev }) => rev));
  globalThis.isReady = true;
</script>`;

let browser;
let server;
before(async () => {
  [browser, server] = await Promise.all([openChromium(), serve({ folder, pages: { '/': html } })]);
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

/** Pages of one browser, which share what they store. */
async function pages(count) {
  const shared = await browser.newContext();
  return await Promise.all(Array.from({ length: count }, async () => {
    const page = await shared.newPage();
    await page.goto(server.origin);
    await page.waitForFunction('globalThis.isReady');
    return { page, call: (name, ...args) => page.evaluate(([name, args]) => globalThis[name](...args), [name, args]) };
  }));
}

for (const [how, withItem] of [['locks of the browser', false], ['an item that stands for the lock', true]]) {
  test(`two pages do not have one journal open at the same time, by ${how}`, async () => {
    const [one, two] = await pages(2);
    // What one page stores the other one sees a moment later.
    const sees = async ({ page }, isThere) => {
      if (withItem) await page.waitForFunction((wanted) => (globalThis.localStorage.getItem('j:lock') !== null) === wanted, isThere);
    };
    assert.equal(await one.call('open', 'j', withItem), 'done');
    assert.equal((await one.call('create', 'j')).rev, 0);
    await sees(two, true);
    assert.equal(await two.call('open', 'j', withItem), 'rejected');
    assert.equal(await one.call('close', 'j'), 'done');
    await sees(two, false);
    assert.equal(await two.call('open', 'j', withItem), 'done');
    assert.equal((await two.call('append', 'j', 'e1', 10)).rev, 1);
    await sees(one, true);
    assert.equal(await one.call('open', 'j', withItem), 'rejected');
  });
}

test('a lock of the browser goes with its page, and what was acknowledged stays', async () => {
  const [one, two] = await pages(2);
  await one.call('open', 'j');
  await one.call('create', 'j');
  assert.equal((await one.call('append', 'j', 'e1', 10)).rev, 1);
  await one.page.close();
  // The browser tells when the page is gone; its lock may take a moment longer.
  let outcome = 'rejected';
  for (let attempt = 0; outcome === 'rejected' && attempt < 500; attempt++) {
    outcome = await two.call('open', 'j');
  }
  assert.equal(outcome, 'done');
  assert.equal(await two.call('rev', 'j'), 1);
});

test('when there is no room left, a change is unavailable and nothing of it is there', async () => {
  const [one] = await pages(1);
  await one.call('open', 'j');
  await one.call('create', 'j');
  let count = 0;
  let answer;
  do {
    answer = await one.call('append', 'j', `e${count + 1}`, 400_000);
    count += answer === 'unavailable' ? 0 : 1;
  } while (answer !== 'unavailable' && count < 1000);
  assert.equal(answer, 'unavailable');
  assert.ok(count > 2, `${count} fitted`);
  assert.equal(await one.call('rev', 'j'), count);
  // A smaller one still fits.
  assert.equal((await one.call('append', 'j', 'small', 10)).rev, count + 1);
  await one.call('close', 'j');
  await one.call('open', 'j');
  assert.equal(await one.call('rev', 'j'), count + 1);
});
