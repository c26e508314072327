// The address of the page: it names the session, the moment, the event and the key, and Back leads to what was before.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { exportLines } from 'statepad/jsonl';
import { SessionService } from 'statepad';
import { clickMark } from '../support/marks.mjs';
import { loaded, moment, replay, SCENES, site } from './support.mjs';

const hashOf = (page) => new URL(page.url()).hash;
const query = (page) => hashOf(page).split('?')[1] ?? '';
const untilHash = (page, wanted) => page.waitForFunction((hash) => window.location.hash === hash, wanted);
const untilQuery = (page, wanted) =>
  page.waitForFunction((text) => (window.location.hash.split('?')[1] ?? '') === text, wanted);

const slider = (page) => page.getByRole('slider', { name: 'moment' });
const key = (page, name) => page.locator('statepad-conversation').getByRole('button', { name }).first();

describe('the address', () => {
  const it_ = site();

  it('names the moment, the event and the key, and a link to them leads there', async (t) => {
    const context = await it_.context(t);
    const page = await it_.open(t, { context });
    assert.equal(query(page), '');
    await clickMark(page, 2);
    await untilQuery(page, 'moment=2&event=2');
    await key(page, 'city').click();
    await untilQuery(page, 'moment=2&event=2&key=city');

    const other = await it_.open(t, { context, hash: hashOf(page) });
    await moment(other, `#2 of ${SCENES}`);
    await other.locator('statepad-details').getByText('#2', { exact: false }).first().waitFor();
    await other.locator('statepad-history').getByText('Lisbon', { exact: false }).first().waitFor();
    assert.equal(hashOf(other), hashOf(page));
    await page.reload();
    await moment(page, `#2 of ${SCENES}`);
  });

  it('lets Back and Forward go through what was looked at, a gesture a step', async (t) => {
    const page = await it_.open(t);
    const first = hashOf(page);
    await clickMark(page, 1);
    await untilQuery(page, 'moment=1&event=1');
    // A run of arrow keys is one step.
    await slider(page).focus();
    for (const name of ['ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowRight']) await slider(page).press(name);
    await slider(page).press('Home');
    await untilQuery(page, 'moment=0&event=1');
    await replay(page);
    const second = hashOf(page);
    await page.goBack();
    await moment(page, `#0 of ${SCENES}`);
    await untilQuery(page, 'moment=0&event=1');
    await page.goBack();
    await moment(page, `#1 of ${SCENES}`);
    await untilQuery(page, 'moment=1&event=1');
    await page.goBack();
    await moment(page, `#${SCENES} of ${SCENES}`);
    assert.equal(hashOf(page), first);
    for (let step = 0; step < 3; step++) await page.goForward();
    await untilHash(page, second);
    await moment(page, `#${SCENES} of ${SCENES}`);
  });

  it('shows what the last of many quick steps leads to', async (t) => {
    const page = await it_.open(t);
    const first = hashOf(page);
    await replay(page);
    const second = hashOf(page);
    // At each pause another part of a visit is under way when the next one begins.
    for (let pause = 0; pause < 8; pause++) {
      await page.evaluate(
        async ([hashes, ms]) => {
          for (const hash of hashes) {
            window.location.hash = hash;
            await new Promise((resolve) => setTimeout(resolve, ms));
          }
        },
        [[`${first}?moment=1&event=1`, second, `${first}?moment=1&event=2&key=city`, second], pause],
      );
      await moment(page, `#${SCENES} of ${SCENES}`);
      // Every navigation before has had its time.
      await page.waitForTimeout(100);
      await moment(page, `#${SCENES} of ${SCENES}`);
      assert.equal(hashOf(page), second);
    }
  });

  it('lets Back leave an opened file, and Forward return to it', async (t) => {
    const service = new SessionService();
    const session = await service.createSession({ appName: 'bistro', userId: 'kai', sessionId: 'one' });
    await service.appendEvent({ session, event: { author: 'kai', content: { parts: [{ text: 'in the file' }] } } });
    const lines = [];
    for await (const line of exportLines(service, { appName: 'bistro' })) lines.push(line);
    const page = await it_.open(t);
    const own = hashOf(page);
    await page
      .getByLabel('A file with sessions')
      .setInputFiles({ name: 'my file.jsonl', mimeType: 'text/plain', buffer: Buffer.from(lines.join('\n')) });
    await page.getByText('Looking into my file.jsonl').waitFor();
    await untilHash(page, '#file:my%20file.jsonl/bistro/kai/one');
    await page.goBack();
    await loaded(page);
    await untilHash(page, own);
    assert.equal(await page.getByText('Looking into').count(), 0);
    await page.goForward();
    await page.getByText('Looking into my file.jsonl').waitFor();
    await page.getByText('in the file').first().waitFor();
    // The browser does not keep the file.
    await page.reload();
    await page.getByText('The link leads into the file my file.jsonl. Open that file again').waitFor();
    await loaded(page);
    await untilHash(page, own);
  });

  for (const [name, hash, said] of [
    [
      'a session that is not there',
      '#/demo/ana/nowhere',
      'The link leads to session “nowhere” of user “ana”, which is not here.',
    ],
    ['no session', '#about', 'The link does not name a session.'],
    ['what cannot be decoded', '#/demo/ana/%', 'The link does not name a session.'],
  ]) {
    it(`says so when it names ${name}, and shows another session`, async (t) => {
      const page = await it_.open(t, { hash });
      await page.getByRole('status').filter({ hasText: said }).waitFor();
      await page.waitForFunction(() => window.location.hash.startsWith('#/demo/ana/trip-lisbon-'));
      assert.equal((await page.getByRole('alert').allInnerTexts()).join(''), '');
      const before = hashOf(page);
      // The same while the page is open: what is shown stays.
      await page.evaluate((text) => (window.location.hash = text), `${hash}x`);
      await page.getByRole('status').filter({ hasText: 'The link ' }).waitFor();
      await page.waitForFunction((text) => window.location.hash === text, before);
    });
  }

  it('says so when it names a moment or an event that is not there yet', async (t) => {
    const context = await it_.context(t);
    const page = await it_.open(t, { context });
    const other = await it_.open(t, { context, hash: `${hashOf(page)}?moment=70&event=90&key=nope` });
    await other
      .getByText(`There is no moment 70: the session has ${SCENES} events. There is no event 90: the session`)
      .waitFor();
    await moment(other, `#${SCENES} of ${SCENES}`);
    assert.equal(query(other), 'key=nope');
  });
});
