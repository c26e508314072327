// The token of the page of `statepad inspect`, as a browser handles it, and what pages of other origins get.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { serve } from '../../support/serve.mjs';
import { writeTo } from '../../support/written.mjs';
import { atEnd, browser, entry, inspected, temporaryFolder } from './support.mjs';

const folder = temporaryFolder();
const path = join(folder, 'sessions.db');
const KEY = { appName: 'harbour', userId: 'ana', sessionId: 'monday' };

/** A page without a token is told so by its server, once each time. */
const UNAUTHORIZED = /^console: Failed to load resource: the server responded with a status of 401/;

const field = (page) => page.getByLabel('Token');
const open = (page) => page.getByRole('button', { name: 'Open' });
const shown = (page) => entry(page, 1).getByText('Is there a berth?').waitFor();

describe('the token', () => {
  const chromium = browser();
  before(async () => {
    await writeTo(path, KEY, [
      { author: 'user', invocationId: 'one', content: { role: 'user', parts: [{ text: 'Is there a berth?' }] } },
      { author: 'harbour', invocationId: 'one', content: { role: 'model', parts: [{ text: 'Berth 7.' }] } },
    ]);
  });

  it('is gone from the address and the history at once, and the tab keeps it over a reload', async (t) => {
    const { page: address, origin, token } = await inspected(t, path);
    const page = await chromium.open(t, 'about:blank', { origin });
    const addresses = [];
    page.on('request', (request) => addresses.push(request.url(), JSON.stringify(request.headers().referer ?? '')));
    await page.goto(address);
    await shown(page);
    assert.ok(!page.url().includes(token), page.url());
    await page.getByRole('button', { name: 'Step back' }).click();
    await page
      .getByRole('region', { name: 'Timeline' })
      .getByText(/^#1 of 2/)
      .waitFor();
    await page.reload();
    await shown(page);
    // No entry of the tab's history has it either, and no address that the server got.
    const { entries } = await (await page.context().newCDPSession(page)).send('Page.getNavigationHistory');
    assert.ok(entries.length >= 2);
    assert.ok(entries.every(({ url }) => !url.includes(token)));
    assert.ok(addresses.length > 0 && addresses.every((text) => !text.includes(token)));
    const kept = await page.evaluate(() => [Object.values(globalThis.sessionStorage), document.cookie]);
    assert.deepEqual(kept, [[token], '']);
    assert.ok(!(await page.evaluate(() => JSON.stringify(globalThis.localStorage))).includes(token));
  });

  it('is asked for by a second tab, and again where it is wrong', async (t) => {
    const { page: address, origin, token } = await inspected(t, path);
    const first = await chromium.open(t, address);
    await shown(first);
    const page = await chromium.open(t, `${origin}/inspector/`, { context: first.context(), expects: UNAUTHORIZED });
    await field(page).waitFor();
    assert.equal(await page.getByText('Is there a berth?').count(), 0);
    assert.ok(!(await page.content()).includes(path), 'not even its name is told');
    await field(page).fill('wrong');
    await open(page).click();
    await page.getByRole('alert').getByText('The server does not know this token.').waitFor();
    await field(page).fill(token);
    await field(page).press('Enter');
    await shown(page);
    await page.reload();
    await shown(page);
  });

  it('is taken from an address that is pasted over the form', async (t) => {
    const { page: address, origin } = await inspected(t, path);
    const page = await chromium.open(t, `${origin}/inspector/`, { expects: UNAUTHORIZED });
    await field(page).waitFor();
    await page.goto(address);
    await shown(page);
  });

  it('is asked for where the address has a wrong one, which is gone at once, too', async (t) => {
    const { origin } = await inspected(t, path);
    const page = await chromium.open(t, `${origin}/inspector/#token=wr0ng-t0ken`, { expects: UNAUTHORIZED });
    await page.getByRole('alert').getByText('The server does not know this token.').waitFor();
    assert.ok(!page.url().includes('wr0ng'));
    assert.deepEqual(await page.evaluate(() => Object.values(globalThis.sessionStorage)), []);
  });

  it('is of no use to a page of another origin, which can neither read, nor show, nor open the page', async (t) => {
    const { page: address, origin, token } = await inspected(t, path, { options: ['--write'] });
    const other = await serve({ folder, pages: { '/': '<!doctype html><title>evil</title>' } });
    atEnd(t, () => other.stop());
    const page = await chromium.open(t, `${other.origin}/`, { expects: /./ });
    const sessions = `${origin}/v1/apps/harbour/users/ana/sessions`;
    const got = await page.evaluate(
      async ({ sessions, origin, token }) => {
        const headers = { authorization: `Bearer ${token}` };
        const body = JSON.stringify({ sessionId: 'stolen' });
        const asked = {
          read: [`${sessions}/monday`, { headers }],
          watch: [`${origin}/v1/watch?appName=harbour&userId=ana&sessionId=monday`, { headers }],
          about: [`${origin}/inspector/about.json`, { headers }],
          page: [`${origin}/inspector/`, {}],
          opaque: [`${origin}/inspector/index.js`, { mode: 'no-cors' }],
          write: [sessions, { method: 'POST', body, headers: { ...headers, 'content-type': 'application/json' } }],
          simple: [sessions, { method: 'POST', body, mode: 'no-cors' }],
        };
        const answers = {};
        for (const [name, [url, init]] of Object.entries(asked)) {
          answers[name] = await fetch(url, init).then(
            async (answer) => [answer.type, answer.status, await answer.text()],
            ({ name }) => name,
          );
        }
        return answers;
      },
      { sessions, origin, token },
    );
    const { simple, ...others } = got;
    assert.deepEqual(others, Object.fromEntries(Object.keys(others).map((name) => [name, 'TypeError'])));
    assert.ok(simple === 'TypeError' || simple.join() === 'opaque,0,', String(simple));
    const kept = await fetch(`${sessions}/stolen`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(kept.status, 404, 'nothing was written');

    // Neither in a frame, nor in a window that the other page holds.
    const framed = await page.evaluate(
      (url) =>
        new Promise((resolve) => {
          const frame = document.createElement('iframe');
          frame.src = url;
          frame.onload = () => resolve(frame.contentDocument === null && frame.contentWindow.length === 0);
          document.body.append(frame);
        }),
      address,
    );
    assert.equal(framed, true);
    const frame = page.frames().find((one) => one !== page.mainFrame());
    assert.equal(await frame.locator('statepad-inspector').count(), 0);
    const [popup] = await Promise.all([
      page.context().waitForEvent('page'),
      page.evaluate((url) => void (globalThis.opened = open(url)), address),
    ]);
    await shown(popup);
    assert.deepEqual(
      await Promise.all([page.evaluate(() => globalThis.opened.closed), popup.evaluate(() => globalThis.opener)]),
      [true, null],
    );
  });
});
