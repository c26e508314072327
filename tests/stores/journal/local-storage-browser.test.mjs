// Journals in the localStorage of a real browser: two pages, its locks, and no room left.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { after, before, test } from 'node:test';
import { openChromium } from '../../support/chromium.mjs';
import { serve } from '../../support/serve.mjs';

const folder = fileURLToPath(new URL('../../../pkg/dist/', import.meta.url));
const html = `<!doctype html><script type="module">
  import { localStorageJournal } from '/stores/journal/index.js';
  const context = { signal: new AbortController().signal };
  const key = { appName: 'app', userId: 'u', sessionId: 's' };
  const answer = (promise) => promise.then((value) => value ?? 'done', (error) => ((globalThis.said = error.message), error.code ?? String(error)));
  const stores = {};
  globalThis.open = (name, options) => {
    const store = localStorageJournal(name, options);
    return answer(store.open({ migrate: 'create' }, context).then(() => void (stores[name] = store)));
  };
  globalThis.close = (name) => answer(stores[name].close());
  globalThis.create = (name) => answer(stores[name].commit({ id: 'c', kind: 'create', key, time: 1, delta: {} }, context));
  globalThis.append = (name, id, size) =>
    answer(stores[name].commit({ id, kind: 'append', key, time: 2, event: { id, time: 2, data: '"' + 'x'.repeat(size) + '"' }, delta: {} }, context));
  globalThis.rev = (name) => answer(stores[name].load(key, { events: { last: 0 } }, context).then(({ rev }) => rev));
  globalThis.ids = (name) => stores[name].load(key, {}, context).then(({ events }) => events.map(({ id }) => id));
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
  return await Promise.all(Array.from({ length: count }, () => open(shared)));
}

/** The process of a page: the one that works while the page does. */
async function processOf(page) {
  const devtools = await browser.newBrowserCDPSession();
  const times = async () => {
    const { processInfo } = await devtools.send('SystemInfo.getProcessInfo');
    return new Map(processInfo.filter(({ type }) => type === 'renderer').map(({ id, cpuTime }) => [id, cpuTime]));
  };
  const before = await times();
  await page.evaluate(() => {
    for (const end = performance.now() + 500; performance.now() < end;);
  });
  const after = await times();
  await devtools.detach();
  const spent = [...after].map(([id, time]) => [id, time - (before.get(id) ?? 0)]);
  return spent.sort(([, a], [, b]) => b - a)[0][0];
}

async function open(shared) {
  const page = await shared.newPage();
  await page.goto(server.origin);
  await page.waitForFunction('globalThis.isReady');
  return { page, call: (name, ...args) => page.evaluate(([name, args]) => globalThis[name](...args), [name, args]) };
}

test('two pages do not have one journal open at the same time', async () => {
  const [one, two] = await pages(2);
  assert.equal(await one.call('open', 'j'), 'done');
  assert.equal((await one.call('create', 'j')).rev, 0);
  assert.equal(await two.call('open', 'j'), 'rejected');
  assert.equal(await one.call('close', 'j'), 'done');
  assert.equal(await two.call('open', 'j'), 'done');
  assert.equal((await two.call('append', 'j', 'e1', 10)).rev, 1);
  assert.equal(await one.call('open', 'j'), 'rejected');
});

test('a page that comes by plain http has no locks: it opens nothing there, however the storage is given', async () => {
  const shared = await browser.newContext();
  // A name of another host, whose pages this server has.
  await shared.route('http://statepad.test/**', async (route) => {
    const { pathname } = new URL(route.request().url());
    const answer = await fetch(`${server.origin}${pathname}`);
    await route.fulfill({
      status: answer.status,
      headers: { 'content-type': answer.headers.get('content-type') },
      body: await answer.text(),
    });
  });
  const page = await shared.newPage();
  await page.goto('http://statepad.test/');
  await page.waitForFunction('globalThis.isReady');
  const found = await page.evaluate(async () => {
    const answers = [await globalThis.open('j'), await globalThis.open('j', { storage: globalThis.localStorage })];
    return {
      answers,
      hasLocks: 'locks' in globalThis.navigator,
      items: globalThis.localStorage.length,
      said: globalThis.said,
    };
  });
  assert.deepEqual(found.answers, ['rejected', 'rejected']);
  assert.deepEqual([found.hasLocks, found.items], [false, 0]);
  assert.match(found.said, /needs navigator.locks, which pages from https or localhost have: .*indexedDBStore/);
  // Storage that a page does not share needs no lock.
  const own = await page.evaluate(async () => {
    const opened = await globalThis.open('j', { storage: globalThis.sessionStorage });
    return [opened, (await globalThis.create('j')).rev, globalThis.sessionStorage.length];
  });
  assert.deepEqual(own, ['done', 0, 1]);
});

test(
  'a page that is stopped for a while keeps its journal, and goes on where it was',
  { timeout: 120_000 },
  async () => {
    const [one, two] = await pages(2);
    const [pid, other] = [await processOf(one.page), await processOf(two.page)];
    assert.notEqual(pid, other);
    await one.call('open', 'j');
    await one.call('create', 'j');
    // It writes all the time, and is stopped in the middle of it.
    await one.page.evaluate(() => {
      globalThis.acknowledged = [];
      globalThis.isOver = false;
      globalThis.writing = (async () => {
        for (let count = 0; !globalThis.isOver; count++) {
          const { rev } = await globalThis.append('j', `one ${count}`, 10);
          if (rev === undefined) return false;
          globalThis.acknowledged.push(`one ${count}`);
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        return true;
      })();
    });
    await one.page.waitForFunction(() => globalThis.acknowledged.length > 20);
    process.kill(pid, 'SIGSTOP');
    try {
      for (let attempt = 0; attempt < 20; attempt++) {
        assert.equal(await two.call('open', 'j'), 'rejected');
      }
      // Nor does an old item that stands for a lock of another version let it in.
      await two.page.evaluate(() =>
        globalThis.localStorage.setItem('j:lock', JSON.stringify({ id: 'old', time: Date.now() - 100_000 })),
      );
      assert.equal(await two.call('open', 'j'), 'rejected');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    const before = await one.page.evaluate(() => globalThis.acknowledged.length);
    await one.page.waitForFunction((count) => globalThis.acknowledged.length > count + 20, before);
    const acknowledged = await one.page.evaluate(async () => {
      globalThis.isOver = true;
      await globalThis.writing;
      await globalThis.close('j');
      return globalThis.acknowledged;
    });
    assert.equal(await two.call('open', 'j'), 'done');
    assert.deepEqual(await two.call('ids', 'j'), acknowledged);
  },
);

test('when the user deletes what the site has stored, later changes are refused', async () => {
  const [one] = await pages(1);
  await one.call('open', 'j');
  await one.call('create', 'j');
  const devtools = await one.page.context().newCDPSession(one.page);
  await devtools.send('Storage.clearDataForOrigin', { origin: server.origin, storageTypes: 'local_storage' });
  await one.page.waitForFunction(() => globalThis.localStorage.length === 0);
  assert.equal(await one.call('append', 'j', 'e1', 10), 'rejected');
  assert.equal(await one.call('append', 'j', 'e1', 10), 'rejected');
  assert.equal(await one.page.evaluate(() => globalThis.localStorage.length), 0);
});

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
