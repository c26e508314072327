// The history of a key on the page: what wrote it, and the way to each of these moments.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { exportLines } from 'statepad/jsonl';
import { newSession, site, untilStored } from './support.mjs';

const button = (within, name) => within.getByRole('button', { name, exact: true });
const row = (page, key) => {
  const rows = page.getByRole('region', { name: 'State', exact: true }).getByRole('listitem');
  return rows.filter({ has: button(page, key) });
};
const history = (page, key) => page.getByRole('list', { name: `History of ${key}` });
const steps = (page, key) => history(page, key).getByRole('listitem');
const step = (page, key, name) => history(page, key).getByRole('button', { name });

/** Says something that the agent of the page understands, and waits until it is stored. */
async function say(page, text, events) {
  await page.getByPlaceholder('Type a message').fill(text);
  await button(page, 'Send').click();
  await untilStored(page, ({ sessions }) => sessions[0].events.length === events);
}

/** A session in which a counter has been written so often, as JSON lines. */
async function counted(times) {
  const service = new SessionService();
  const session = await service.createSession({
    appName: 'meter',
    userId: 'kai',
    sessionId: 'long',
    state: { counter: 0 },
  });
  for (let count = 1; count <= times; count++) {
    const actions = { stateDelta: { counter: count } };
    await service.appendEvent({ session, event: { author: 'meter', invocationId: `i${count}`, actions } });
  }
  const lines = [];
  for await (const line of exportLines(service, { appName: 'meter' })) lines.push(line);
  return { name: 'meter.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(lines.join('\n')) };
}

describe('the history of a key', () => {
  const it_ = site();

  it('tells who wrote it and from what to what, and each step goes to its moment', async (t) => {
    const page = await it_.open(t);
    await say(page, 'remember city = Lisbon', 2);
    await say(page, 'remember nights = 4', 4);
    await say(page, 'remember city = {"name": "Porto"}', 6);
    await say(page, 'forget city', 8);
    await button(row(page, 'city'), 'city').click();
    assert.equal(await button(row(page, 'city'), 'city').getAttribute('aria-pressed'), 'true');
    await page.getByText('3 writes, newest first.').waitFor();
    const told = await steps(page, 'city').allInnerTexts();
    assert.match(told[0], /^#8\s*agent[^]*deleted, was/);
    assert.match(told[1], /^#6\s*agent[^]*from/);
    assert.match(told[2], /^#2\s*agent[^]*set to/);
    await steps(page, 'city').nth(1).getByText('"Lisbon"').waitFor();
    await steps(page, 'city').nth(1).getByText('{"name":"Porto"}').waitFor();
    assert.equal(
      await history(page, 'city').locator('[aria-current=step]').innerText(),
      await step(page, 'city', /^#8 agent/).innerText(),
    );

    await step(page, 'city', /^#6 agent/).click();
    await row(page, 'city').getByText('{"name":"Porto"}').waitFor();
    await page.getByText('Read-only: moment 6 of 8').waitFor();
    assert.equal(await step(page, 'city', /^#6 agent/).getAttribute('aria-current'), 'step');
    assert.equal(await step(page, 'city', /^#8 agent/).getAttribute('aria-current'), null);
    await page
      .getByRole('region', { name: 'Details' })
      .getByText('I remember city = {"name":"Porto"}', { exact: false })
      .waitFor();

    await button(page, 'Step back').click();
    await row(page, 'city').getByText('"Lisbon"').waitFor();
    await history(page, 'city').locator('[aria-current=step]').getByText('#2').waitFor();
    // The last step follows the session again.
    await step(page, 'city', /^#8 agent/).click();
    await button(page, 'edit nights').waitFor();
  });

  it('opens and closes by keyboard, and one is back at the key', async (t) => {
    const page = await it_.open(t);
    await say(page, 'remember city = Lisbon', 2);
    await button(row(page, 'city'), 'city').focus();
    await page.keyboard.press('Enter');
    await button(page, 'close the history').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page
      .getByRole('region', { name: 'Details' })
      .getByText('I remember city = "Lisbon"', { exact: false })
      .waitFor();
    await button(page, 'close the history').focus();
    await page.keyboard.press('Enter');
    await history(page, 'city').waitFor({ state: 'detached' });
    const key = button(row(page, 'city'), 'city');
    assert.equal(await key.getAttribute('aria-pressed'), 'false');
    await page.waitForFunction((it) => it.getRootNode().activeElement === it, await key.elementHandle());
  });

  it('knows what a session began with, and that others may have written shared keys', async (t) => {
    const page = await it_.open(t);
    await say(page, 'my name is Ana', 2);
    await newSession(page);
    await button(row(page, 'user:name'), 'user:name').click();
    await page.getByText('No known writes by this session.').waitFor();
    await page.getByLabel('A file with sessions').setInputFiles(await counted(1));
    await button(row(page, 'counter'), 'counter').click();
    await page.getByText('2 writes, newest first.').waitFor();
    await step(page, 'counter', /^#0 creation/).click();
    await row(page, 'counter').getByText('creation').waitFor();
    assert.equal(await step(page, 'counter', /^#0 creation/).getAttribute('aria-current'), 'step');
  });

  it('draws a long history in parts, around the moment that is looked at', async (t) => {
    const page = await it_.open(t);
    await page.getByLabel('A file with sessions').setInputFiles(await counted(450));
    await button(row(page, 'counter'), 'counter').click();
    await step(page, 'counter', /^#450 meter/).waitFor();
    assert.equal(await steps(page, 'counter').count(), 200);
    await button(page, 'Show earlier writes').click();
    await step(page, 'counter', /^#51 meter/).waitFor();
    assert.equal(await steps(page, 'counter').count(), 400);
    await button(page, 'Show earlier writes').click();
    await page.getByText('451 writes, newest first.').waitFor();
    assert.equal(await button(page, 'Show earlier writes').count(), 0);

    await button(page, 'close the history').click();
    await page.getByRole('slider', { name: 'moment', exact: true }).fill('10');
    await row(page, 'counter').getByText('10', { exact: true }).waitFor();
    await button(row(page, 'counter'), 'counter').click();
    await history(page, 'counter').locator('[aria-current=step]').getByText('#10').waitFor();
    assert.equal(await steps(page, 'counter').count(), 11);
    await button(page, 'Show later writes').click();
    await step(page, 'counter', /^#210 meter/).waitFor();
    assert.equal(await steps(page, 'counter').count(), 211);
    await button(page, 'Show later writes').click();
    await step(page, 'counter', /^#410 meter/).waitFor();
    assert.equal(await steps(page, 'counter').count(), 411);
    await button(page, 'Show later writes').click();
    await page.getByText('451 writes, newest first.').waitFor();
  });
});
