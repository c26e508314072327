// The details: the selected event in full, what it changed, and where it leads.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { workbench } from './support.mjs';

const seed = async ({ service }) => {
  const session = await service.createSession({
    appName: 'trips',
    userId: 'ana',
    sessionId: 'one',
    state: { hotel: { lift: true, stars: 2 } },
  });
  const events = [
    { author: 'user', timestamp: 1000, content: { role: 'user', parts: [{ text: 'Book it' }] } },
    {
      author: 'booker',
      timestamp: 2500,
      content: { parts: [{ functionCall: { id: 'c', name: 'book', args: {} } }] },
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
    },
    {
      author: 'booker',
      timestamp: 4000,
      content: { parts: [{ functionResponse: { id: 'c', name: 'book', response: { ok: true } } }] },
      actions: { stateDelta: { hotel: { lift: true, stars: 4 }, 'user:last': 'Lisbon' } },
    },
  ];
  for (const event of events) await service.appendEvent({ session, event: { invocationId: 'i1', ...event } });
  await service.appendEvent({
    session,
    event: { author: 'user', invocationId: 'i2', content: { parts: [{ text: 'no' }] } },
  });
  await service.rewind(session, { before: 'i2' });
};

/** The text of an element, with that of the elements in it that draw themselves. */
const wholeText = async (element) =>
  await element.evaluate((it) => {
    const textOf = (node) =>
      node.nodeType === 3 ? node.data : [...(node.shadowRoot ?? node).childNodes].map(textOf).join(' ');
    return textOf(it).replaceAll(/\s+/g, ' ').replaceAll('# ', '#').replaceAll(' ,', ',');
  });

describe('the details', () => {
  const bench = workbench();

  const open = async (t, revision) => {
    const page = await bench.inPage(t, { seed });
    const details = page.locator('statepad-details');
    if (revision !== undefined) {
      await page.evaluate((it) => globalThis.inspection.select(it), revision);
      await details.getByRole('heading', { name: `#${revision}`, exact: true }).waitFor();
    }
    return { page, details };
  };

  it('have the end of a session that expires, which moves with its writes', async (t) => {
    const expiring = async ({ service }) => {
      await service.createSession({ appName: 'trips', userId: 'ana', sessionId: 'one', ttl: 3_600_000 });
    };
    const page = await bench.inPage(t, { seed: expiring });
    const line = page.locator('statepad-details .expiry');
    assert.match(await wholeText(line), /^ ?Expires .*, in (1 h|60 min|59 min)/);
    const before = await line.locator('time').getAttribute('datetime');
    const after = await page.evaluate(async () => {
      const { now } = Date;
      Date.now = () => now() + 600_000;
      const session = await globalThis.service.getSession({ appName: 'trips', userId: 'ana', sessionId: 'one' });
      await globalThis.service.appendEvent({ session, event: { author: 'user' } });
      return new Date(session.expireTime).toISOString();
    });
    assert.ok(after > before);
    await line.locator(`time[datetime="${after}"]`).waitFor();
  });

  it('say what to do while nothing is selected', async (t) => {
    const { details } = await open(t);
    await details.getByText('Select an event to see all of it, or a key to see its history.').waitFor();
  });

  it('have author, time, turn, tokens and id, and steps to the events around', async (t) => {
    const { page, details } = await open(t, 2);
    const facts = await wholeText(details.locator('.facts'));
    assert.match(facts, /author booker time .* 1\.5 s after #1/);
    assert.match(facts, /turn i1 turn 1, event 2, from #1/);
    assert.match(facts, /tokens prompt 10, answer 2, in all 12/);
    await details.getByRole('button', { name: 'next event' }).click();
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), 3);
    await details.getByRole('button', { name: 'next turn' }).click();
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), 4);
    await details.getByRole('button', { name: 'Go here' }).click();
    await page.waitForFunction(() => globalThis.inspection.revision === 4);
  });

  it('lead from a call to its result and back, and from a rewind to what it took back', async (t) => {
    const { page, details } = await open(t, 2);
    const relations = details.locator('.relations');
    assert.match(await wholeText(relations), /book answered in #3 after 1\.5 s/);
    await relations.getByRole('button', { name: '#3' }).click();
    await relations.getByText('called in').waitFor();
    assert.match(await wholeText(relations), /Result of book, called in #2/);
    await page.evaluate(() => globalThis.inspection.select(4));
    await relations.getByText('Taken back by').waitFor();
    await relations.getByRole('button', { name: '#5' }).click();
    await relations.getByText('Goes back to before').waitFor();
  });

  it('show what the event changed, path by path, from the value before', async (t) => {
    const { page, details } = await open(t, 3);
    const wrote = details.locator('statepad-wrote');
    await wrote.getByText('.stars').waitFor();
    const text = await wholeText(wrote);
    assert.match(text, /hotel .*\.stars .*before: .*2 .*after: .*4/);
    assert.match(text, /user:last .*after: .*"Lisbon"/);
    await wrote.getByRole('button', { name: 'hotel' }).click();
    assert.equal(await page.evaluate(() => globalThis.inspection.traced), 'hotel');
    await details.locator('statepad-history').getByText('hotel').first().waitFor();
  });

  it('have every member as a tree and as JSON, which can be copied', async (t) => {
    const { page, details } = await open(t, 3);
    const tree = details.getByRole('group', { name: 'Members of the event' });
    assert.match(await wholeText(tree), /author "booker"/);
    await tree.getByText('actions').click();
    await tree.getByText('stateDelta').waitFor();
    await details.getByRole('button', { name: 'JSON', exact: true }).click();
    const shown = JSON.parse(await details.getByRole('group', { name: 'The event as JSON' }).innerText());
    const event = await page.evaluate(() => globalThis.inspection.log.at(3));
    assert.deepEqual(shown, event);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await details.getByRole('button', { name: 'Copy the event as JSON' }).click();
    await details.getByRole('status').filter({ hasText: 'Copied' }).waitFor();
    assert.deepEqual(JSON.parse(await page.evaluate(() => navigator.clipboard.readText())), event);
  });

  it('tell the lease of a session', async (t) => {
    const leased = async ({ service }) => {
      await service.createSession({ appName: 'trips', userId: 'ana', sessionId: 'one' });
      service.leaseOf = async () => ({ holder: 'worker-3', until: Date.now() + 60_000 });
    };
    const page = await bench.inPage(t, { seed: leased });
    const lease = page.locator('statepad-details statepad-lease');
    await lease.getByText('worker-3').waitFor();
    assert.match(await wholeText(lease), /Held by worker-3 until .*\(\d+ (s|min)\)/);
  });
});
