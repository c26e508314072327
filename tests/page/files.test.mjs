// Bring your own: a file of JSON lines is opened or dropped, inspected, and saved again.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { exportLines, openLines } from 'statepad/jsonl';
import { loaded, moment, say, showsKey, site, stored, untilStored, write } from './support.mjs';

const typeOf = { mimeType: 'application/jsonl' };
const fileOf = (name, text) => ({ name, ...typeOf, buffer: Buffer.from(text) });

/** The export of another program: two users, and more events than the page has. */
async function exported() {
  const service = new SessionService();
  for (const [userId, id] of [
    ['kai', 'first'],
    ['kai', 'second'],
    ['lea', 'third'],
  ]) {
    const session = await service.createSession({
      appName: 'bistro',
      userId,
      sessionId: id,
      state: { table: 4, 'user:diet': `${userId} eats all` },
    });
    await service.appendEvent({
      session,
      event: {
        author: 'waiter',
        invocationId: 'i1',
        content: { parts: [{ text: `hello ${userId}` }] },
        actions: { stateDelta: { 'app:special': id, table: 5 } },
      },
    });
  }
  const lines = [];
  for await (const line of exportLines(service, { appName: 'bistro' })) lines.push(line);
  return lines;
}

describe('files', () => {
  const it_ = site();

  it('a file that is opened is inspected read-only, and the page’s own sessions come back', async (t) => {
    const page = await it_.open(t);
    const before = await stored(page);
    await page.getByLabel('A file with sessions').setInputFiles(fileOf('bistro.jsonl', (await exported()).join('\n')));
    await page.getByText('Looking into bistro.jsonl, read-only: 3 sessions, 3 events.').waitFor();
    await page.getByText('hello kai').first().waitFor();
    await page.getByText('kai eats all').first().waitFor();
    await page.getByText('No agent is behind this page').waitFor();
    assert.equal(await page.getByRole('button', { name: /^(edit|delete|add)\b/i }).count(), 0);
    assert.equal(await page.getByRole('textbox', { name: 'Message' }).count(), 0);
    await page.getByRole('button', { name: 'Back to the demo' }).click();
    await loaded(page);
    assert.deepEqual(await stored(page), before);
  });

  it('a file that is dropped on the page is opened', async (t) => {
    const page = await it_.open(t);
    const text = (await exported()).join('\n');
    const transfer = await page.evaluateHandle((lines) => {
      const dropped = new DataTransfer();
      dropped.items.add(new File([lines], 'dropped.jsonl'));
      return dropped;
    }, text);
    await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer });
    await page.getByText('Drop a file with sessions to look into it').waitFor();
    await page.dispatchEvent('body', 'drop', { dataTransfer: transfer });
    await page.getByText('Looking into dropped.jsonl, read-only', { exact: false }).waitFor();
    assert.equal(await page.getByText('Drop a file with sessions to look into it').count(), 0);
  });

  it('a broken file is named with each line and its reason, and nothing is opened', async (t) => {
    const page = await it_.open(t);
    const lines = await exported();
    lines[2] = lines[2].slice(0, -3);
    lines.splice(4, 0, '{"kind":"surprise"}');
    await page.getByLabel('A file with sessions').setInputFiles(fileOf('broken.jsonl', lines.join('\n')));
    const alert = page.getByRole('alert').filter({ hasText: 'broken.jsonl cannot be opened' });
    await alert.waitFor();
    const said = await alert.innerText();
    assert.match(said, /line 3: .*JSON/);
    assert.match(said, /line 5: .*kind/);
    await page.getByRole('button', { name: 'Dismiss' }).click();
    assert.equal(await page.getByText('broken.jsonl').count(), 0);
    await loaded(page);
  });

  it('a file that is no text at all is refused', async (t) => {
    const page = await it_.open(t);
    await page
      .getByLabel('A file with sessions')
      .setInputFiles({ name: 'photo.jsonl', ...typeOf, buffer: Buffer.from([0xff, 0xd8, 0xff, 0xe0]) });
    await page.getByText('photo.jsonl cannot be opened', { exact: false }).waitFor();
  });

  it('what is downloaded is what is stored, and can be opened again', async (t) => {
    const page = await it_.open(t);
    const { sessions } = await stored(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download' }).click(),
    ]);
    assert.equal(download.suggestedFilename(), 'demo.jsonl');
    const opened = await openLines(await readFile(await download.path(), 'utf8'));
    const session = await opened.service.getSession(opened.sessions[0]);
    assert.equal(session.id, sessions[0].id);
    assert.deepEqual(session.events, sessions[0].events);
    await page.getByLabel('A file with sessions').setInputFiles(await download.path());
    await page.getByText('read-only: 1 session', { exact: false }).waitFor();
  });

  it('a large file is read in a worker, with progress, while the page goes on', async (t) => {
    const page = await it_.open(t);
    const path = await largeFile(t);
    // Whatever the page itself is told of the progress, and whether it draws meanwhile.
    await page.evaluate(() => {
      const shown = (window.shown = { shares: [], frames: 0 });
      const look = () => {
        const notices = document.querySelector('statepad-page').shadowRoot.querySelector('statepad-notices');
        const bar = notices.shadowRoot.querySelector('progress');
        shown.frames += bar === null ? 0 : 1;
        if (bar !== null && bar.value !== shown.shares.at(-1)) shown.shares.push(bar.value);
        window.requestAnimationFrame(look);
      };
      look();
    });
    // The page works while the file is read. When it is read, there is no field any more: one key is left to press.
    const field = await write(page, 'remember busy = 1');
    const worker = page.waitForEvent('worker');
    await page.getByLabel('A file with sessions').setInputFiles(path);
    assert.match((await worker).url(), /worker/);
    await page.getByText('Opening large.jsonl (52 MB)…').waitFor();
    await field.press('Enter');
    await untilStored(page, ({ sessions }) => sessions[0].state.busy === 1);
    await page
      .getByText('Looking into large.jsonl, read-only: 1 session, 5,000 events.')
      .waitFor({ timeout: 120_000 });
    const { shares, frames } = await page.evaluate(() => window.shown);
    assert.ok(shares.length > 5, `progress was shown ${shares.length} times`);
    assert.ok(frames > shares.length, `${frames} frames were drawn meanwhile`);
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    assert.equal(page.workers().length, 1, 'the sessions stay with the worker');
    await page.getByText('event 4999').first().waitFor();
    await page.getByRole('slider', { name: 'moment' }).fill('17');
    await moment(page, /^#17 of 5,?000/);
    await page.getByRole('button', { name: 'Back to the demo' }).click();
    await loaded(page);
    await untilNoWorker(page);
  });

  it('the reading of a large file can be cancelled, and nothing has changed then', async (t) => {
    const page = await it_.open(t);
    const before = page.url();
    await page.getByLabel('A file with sessions').setInputFiles(await largeFile(t));
    await page.getByRole('progressbar').waitFor();
    assert.equal(page.workers().length, 1);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await untilNoWorker(page);
    assert.equal(page.url(), before);
    assert.equal((await page.getByRole('alert').allInnerTexts()).join(''), '');
    await say(page, 'remember free = 1');
    await showsKey(page, 'free');
  });
});

/** Waits until the page has no worker: one that is ended goes a moment later. */
async function untilNoWorker(page) {
  const [worker] = page.workers();
  if (worker !== undefined) await worker.waitForEvent('close');
}

/** A file of about 52 MB: 5,000 events with 10 kB each. */
async function largeFile(t) {
  const folder = await mkdtemp(join(tmpdir(), 'statepad-large-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'large.jsonl');
  const words = 'a value of some length '.repeat(450);
  const lines = ['{"kind":"session","appName":"a","userId":"u","id":"large","timestamp":1,"state":{}}'];
  for (let n = 1; n <= 5000; n++) {
    const content = { parts: [{ text: `event ${n - 1}` }] };
    const event = {
      id: `e${n}`,
      author: 'a',
      timestamp: n,
      content,
      actions: { stateDelta: { [`k${n % 9}`]: words } },
    };
    lines.push(JSON.stringify({ kind: 'event', event }));
  }
  await writeFile(path, lines.join('\n'));
  return path;
}
