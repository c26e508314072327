// The history of a key: what wrote it, from what to what, and the way to each of these moments.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workbench } from './support.mjs';

const ana = { appName: 'trips', userId: 'ana', sessionId: 'lisbon' };

/** A session with these deltas, one event each; `undefined` deletes. */
const deltas = async ({ service, arg: { ids, state, writes } }) => {
  const session = await service.createSession({ ...ids, state });
  for (const [index, delta] of writes.entries()) {
    const stateDelta = Object.fromEntries(
      Object.entries(delta).map(([key, value]) => [key, value ?? globalThis.statepad.DELETED]),
    );
    await service.appendEvent({
      session,
      event: { author: 'agent', invocationId: `i${index}`, actions: { stateDelta } },
    });
  }
};

const button = (within, name) => within.getByRole('button', { name, exact: true });
const history = (page, key) => page.getByRole('list', { name: `History of ${key}` });
const steps = (page, key) => history(page, key).getByRole('listitem');
/** The texts of the steps, those inside of their values included, each in one line. */
const told = (page, key) =>
  steps(page, key).evaluateAll((items) => {
    const textOf = (node) =>
      node.nodeType === globalThis.Node.TEXT_NODE
        ? node.data
        : [...(node.shadowRoot ?? node).childNodes]
            .filter(({ localName }) => localName !== 'style')
            .map(textOf)
            .join(' ');
    return items.map((item) => textOf(item).replaceAll(/\s+/gu, ' ').trim());
  });
const step = (page, key, name) => history(page, key).getByRole('button', { name });
const current = (page, key) => history(page, key).locator('[aria-current=step]');
const trace = (page, key) => page.evaluate((it) => globalThis.inspection.trace(it), key);
const row = (page, key) => page.locator(`statepad-state-tree [data-id=${JSON.stringify(`key ${key}`)}]`);

describe('the history of a key', () => {
  const bench = workbench();

  it('tells who wrote it and from what to what, and each step goes to its moment', async (t) => {
    const writes = [
      { city: 'Lisbon' },
      { nights: 4 },
      { city: { name: 'Porto', hills: 7, seen: ['tower'] } },
      { city: { name: 'Porto', hills: 8, seen: ['tower', 'bridge'] } },
      { city: null },
    ];
    const page = await bench.inPage(t, { seed: deltas, arg: { ids: ana, writes } });
    await row(page, 'nights').click();
    await page.getByText('1 write, newest first.').waitFor();
    await trace(page, 'city');
    await page.getByText('4 writes, newest first.').waitFor();
    const texts = await told(page, 'city');
    assert.match(texts[0], /^# ?5 agent .*deleted, was/);
    assert.match(texts[1], /^# ?4 agent .*changed hills 7 → 8 .*added seen\[1\] "bridge"/);
    assert.match(texts[2], /^# 3 agent .*from " ?Lisbon/);
    assert.match(texts[3], /^# ?1 agent .*set to "Lisbon"/);
    await current(page, 'city').getByText('#5').waitFor();

    await step(page, 'city', /^#3 agent/).click();
    await current(page, 'city').getByText('#3').waitFor();
    await row(page, 'city').getByText('Porto').waitFor();
    assert.deepEqual(
      await page.evaluate(() => [globalThis.inspection.revision, globalThis.inspection.selected]),
      [3, 3],
    );
    // The last step follows the session again.
    await step(page, 'city', /^#5 agent/).click();
    await page.waitForFunction(() => globalThis.inspection.isNow);
  });

  it('closes by keyboard, and one is back at the key', async (t) => {
    const page = await bench.inPage(t, { seed: deltas, arg: { ids: ana, writes: [{ city: 'Lisbon' }] } });
    await row(page, 'city').focus();
    await page.keyboard.press('Enter');
    await step(page, 'city', /^#1 agent/).waitFor();
    await button(page, 'close the history').focus();
    await page.keyboard.press('Enter');
    await history(page, 'city').waitFor({ state: 'detached' });
    await page.waitForFunction((it) => it.getRootNode().activeElement === it, await row(page, 'city').elementHandle());
  });

  it('lights up the step that is pointed at, and points at it in other panes', async (t) => {
    const page = await bench.inPage(t, { seed: deltas, arg: { ids: ana, writes: [{ a: 1 }, { a: 2 }] } });
    await trace(page, 'a');
    await steps(page, 'a').first().hover();
    assert.deepEqual(await page.evaluate(() => globalThis.inspection.pointed), { key: 'a', revision: 2 });
    await page.evaluate(() => globalThis.inspection.point({ key: 'a', revision: 1 }));
    await history(page, 'a').locator('[data-pointed]').getByText('#1').waitFor();
  });

  it('has what other sessions wrote to a shared key, and goes there', async (t) => {
    const page = await bench.inPage(t, {
      arg: ana,
      seed: async ({ service, arg }) => {
        const write = async (session, value) =>
          await service.appendEvent({
            session,
            event: { author: 'agent', timestamp: value * 1000, actions: { stateDelta: { 'user:n': value } } },
          });
        const here = await service.createSession({ ...arg, timestamp: 0 });
        const there = await service.createSession({ ...arg, sessionId: 'porto', timestamp: 0 });
        await write(here, 1);
        await write(there, 2);
        await write(await service.getSession(arg), 3);
      },
      mount: { session: ana },
    });
    await page.evaluate((key) => globalThis.inspection.open(key), ana);
    await trace(page, 'user:n');
    await page.getByText('3 writes, 1 of them by other sessions, newest first.').waitFor();
    const texts = await told(page, 'user:n');
    assert.match(texts[0], /^# 2 agent .*from 2 → to 3/);
    assert.match(texts[1], /^ana \/ porto .*from 1 .*to 2/);
    assert.match(texts[2], /^# 1 agent .*set to 1/);
    await step(page, 'user:n', /^ana \/ porto/).click();
    await current(page, 'user:n').getByText('#1').waitFor();
    assert.equal(await page.evaluate(() => globalThis.inspection.session.id), 'porto');
  });

  it('knows what a session began with, and that temp: keys are never stored', async (t) => {
    const page = await bench.inPage(t, {
      seed: deltas,
      arg: { ids: ana, state: { counter: 0 }, writes: [{ counter: 1 }] },
    });
    await trace(page, 'counter');
    await page.getByText('2 writes, newest first.').waitFor();
    await step(page, 'counter', /^#0 creation/).click();
    await page.waitForFunction(() => globalThis.inspection.revision === 0);
    await current(page, 'counter').getByText('#0').waitFor();
    await trace(page, 'temp:plan');
    await page.getByText('temp: keys are never stored').waitFor();
  });

  it('draws a long history in parts, around the moment that is looked at', async (t) => {
    const writes = Array.from({ length: 450 }, (_, index) => ({ counter: index + 1 }));
    const page = await bench.inPage(t, { seed: deltas, arg: { ids: ana, state: { counter: 0 }, writes } });
    await trace(page, 'counter');
    await step(page, 'counter', /^#450 agent/).waitFor();
    assert.equal(await steps(page, 'counter').count(), 200);
    await button(page, 'Show earlier writes').click();
    await step(page, 'counter', /^#51 agent/).waitFor();
    assert.equal(await steps(page, 'counter').count(), 400);
    await button(page, 'Show earlier writes').click();
    await page.getByText('451 writes, newest first.').waitFor();
    assert.equal(await button(page, 'Show earlier writes').count(), 0);

    await button(page, 'close the history').click();
    await page.evaluate(() => globalThis.inspection.moveTo(10));
    await trace(page, 'counter');
    await current(page, 'counter').getByText('#10').waitFor();
    assert.equal(await steps(page, 'counter').count(), 11);
    await button(page, 'Show later writes').click();
    await step(page, 'counter', /^#210 agent/).waitFor();
    assert.equal(await steps(page, 'counter').count(), 211);
    await button(page, 'Show later writes').click();
    await button(page, 'Show later writes').click();
    await page.getByText('451 writes, newest first.').waitFor();
  });
});
