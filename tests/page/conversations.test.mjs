// Talking on the page: conversations that are played, and what is typed.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { site, stored, untilStored } from './support.mjs';

const lines = readFileSync(new URL('../../examples/conversations.jsonl', import.meta.url), 'utf8');
const conversations = Object.fromEntries(
  lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map((one) => [one.id, one]),
);

/** The left side of the page, and what a user does there. */
function talkOf(page) {
  const talk = page.getByRole('region', { name: 'Conversation', exact: true });
  const button = (name) => talk.getByRole('button', { name, exact: true });
  const box = talk.getByRole('textbox', { name: 'Message' });
  const log = talk.getByRole('log');
  return {
    button,
    box,
    log,
    alert: talk.getByRole('alert'),
    rendered: talk.getByRole('region', { name: 'Rendered' }),
    bubble: (text) => log.getByRole('button').filter({ hasText: text }),
    see: (text) => talk.getByText(text).first().waitFor(),
    async start(id) {
      await talk.getByLabel('Conversation to start').selectOption(id);
      await button('Start').click();
      await talk.getByText(`0 of ${conversations[id].turns.length} turns`).waitFor();
    },
    /** Waits until nothing is on its way. */
    async idle() {
      await talk.locator('button[aria-disabled=false]').getByText('Start', { exact: true }).waitFor();
    },
    async step(turn, of) {
      await button('Step').click();
      await talk.getByText(`${turn} of ${of} turns`).waitFor();
    },
    async type(text, answer) {
      await box.fill(text);
      await box.press('Enter');
      await log.getByText(answer).last().waitFor();
    },
  };
}

const sessionOf = ({ sessions }, id) => sessions.find((session) => session.id.startsWith(`${id}-`));
const turnsOf = (session) => session.events.flatMap(({ customMetadata }) => customMetadata?.turn ?? []);
const upTo = (count) => Array.from({ length: count }, (_, index) => index + 1);

describe('a conversation that is played', () => {
  const it_ = site();

  it('goes on by a turn at each step, with temp: keys in sight and not in the store', async (t) => {
    const page = await it_.open(t);
    const talk = talkOf(page);
    await talk.step(1, 6);
    await talk.bubble('Hi, Ana here, from Berlin.').filter({ hasText: 'user:name' }).waitFor();
    await talk.rendered.getByText('phone').waitFor();
    // As when another tab has written: the page reads again, and finds no temp: keys in the store.
    await page.evaluate(() =>
      document.querySelector('statepad-page').shadowRoot.querySelector('statepad-talk').inspection.refresh(),
    );
    await talk.step(2, 6);
    await talk.bubble('reply; changed: user:name, user:home, city, seats, party').waitFor();
    await talk.rendered.getByText('phone').waitFor();
    await talk.rendered.getByText('reply; changed: user:name').waitFor();

    const found = await untilStored(page, (now) => sessionOf(now, 'trip-lisbon')?.rev === 3);
    const session = sessionOf(found, 'trip-lisbon');
    assert.deepEqual(
      session.events.map(({ author }) => author),
      ['user', 'planner', 'agent'],
    );
    assert.equal(new Set(session.events.map(({ invocationId }) => invocationId)).size, 1);
    assert.deepEqual(turnsOf(session), [1, 2]);
    assert.deepEqual([session.user, session.state.city, session.state.party], ['ana', 'Lisbon', ['Ana', 'Rosa']]);
    assert.deepEqual(found.users.ana, { name: 'Ana', home: 'Berlin' });
    assert.doesNotMatch(JSON.stringify(found), /temp:(device|plan)|phone/u);

    // The next turn of the user begins another invocation.
    await talk.step(3, 6);
    await talk.rendered.getByText('phone').waitFor({ state: 'detached' });
  });

  it('is played to its end, once, and leaves the state that it should', async (t) => {
    const context = await it_.context(t);
    await context.clock.install();
    const page = await it_.open(t, { context });
    const talk = talkOf(page);
    await talk.button('Play').click();
    for (let turn = 1; turn < 6; turn += 1) {
      await talk.see(`${turn} of 6 turns`);
      await talk.button('Pause').waitFor();
      await context.clock.runFor(900);
    }
    await talk.see('6 of 6 turns, the end');
    await talk.button('Play').waitFor();
    assert.equal(await talk.button('Play').getAttribute('aria-disabled'), 'true');

    for (const id of ['trip-back', 'compra-sábado']) {
      await talk.start(id);
      for (const turn of upTo(conversations[id].turns.length)) {
        await talk.step(turn, conversations[id].turns.length);
      }
    }
    const found = await untilStored(page, (now) => now.sessions.every((one) => turnsOf(one).length >= 5));
    for (const id of ['trip-lisbon', 'trip-back', 'compra-sábado']) {
      const session = sessionOf(found, id);
      const { final, turns, user } = conversations[id];
      const own = Object.fromEntries(Object.entries(final).filter(([key]) => !/^(?:app|user):/u.test(key)));
      assert.deepEqual(session.state, own, id);
      assert.deepEqual(turnsOf(session), upTo(turns.length));
      assert.equal(session.user, user);
    }
    assert.deepEqual(found.users, { ana: { name: 'Ana', home: 'Porto' }, inés: { nombre: 'Inés' } });
    assert.deepEqual(found.app, { rooms_left: { Miradouro: 1 } });
  });

  it('rests while it is paused, and when another session is opened', async (t) => {
    const context = await it_.context(t);
    await context.clock.install();
    const page = await it_.open(t, { context });
    const talk = talkOf(page);
    await talk.button('Play').click();
    await talk.see('1 of 6 turns');
    await talk.button('Pause').click();
    await context.clock.runFor(10_000);
    await talk.step(2, 6);
    await talk.button('Play').click();
    await talk.see('3 of 6 turns');
    await talk.start('case-4711');
    await context.clock.runFor(10_000);
    await talk.step(1, 6);
    const found = await untilStored(page, (now) => sessionOf(now, 'case-4711')?.rev === 1);
    assert.deepEqual(turnsOf(sessionOf(found, 'trip-lisbon')), [1, 2, 3]);
  });

  it('goes on where it was after a reload', async (t) => {
    const page = await it_.open(t);
    const talk = talkOf(page);
    for (const turn of [1, 2, 3]) {
      await talk.step(turn, 6);
    }
    await untilStored(page, (now) => sessionOf(now, 'trip-lisbon')?.rev === 4);
    await page.reload();
    await talk.see('3 of 6 turns');
    await talk.bubble('On the 3rd of May').waitFor();
    for (const turn of [4, 5, 6]) {
      await talk.step(turn, 6);
    }
    const found = await untilStored(page, (now) => turnsOf(sessionOf(now, 'trip-lisbon')).length === 6);
    const session = sessionOf(found, 'trip-lisbon');
    assert.deepEqual(turnsOf(session), upTo(6));
    // The answer belongs to the question that was asked before the reload.
    const ids = Object.fromEntries(
      session.events.map(({ customMetadata, invocationId }) => [customMetadata?.turn, invocationId]),
    );
    assert.equal(ids[4], ids[3]);
  });

  it('has each turn once, also when two tabs play it', async (t) => {
    const context = await it_.context(t);
    const page = await it_.open(t, { context });
    await talkOf(page).step(1, 6);
    const other = await it_.open(t, { context, hash: new URL(page.url()).hash });
    await talkOf(other).see('1 of 6 turns');
    await Promise.all([page, other].map((tab) => talkOf(tab).button('Step').click()));
    // The slower one may have seen what the other did, and have gone on from there.
    await untilStored(page, (now) => turnsOf(sessionOf(now, 'trip-lisbon')).length > 1);
    for (const tab of [page, other]) {
      await talkOf(tab).bubble('How lovely.').waitFor();
      await talkOf(tab).idle();
      assert.equal(await talkOf(tab).log.getByText('How lovely.').count(), 1);
    }
    const turns = turnsOf(sessionOf(await stored(page), 'trip-lisbon'));
    assert.deepEqual(turns, upTo(turns.length));
  });
});

describe('what is typed', () => {
  const it_ = site();

  it('is answered by the rules that the page tells, and kept', async (t) => {
    const page = await it_.open(t);
    const talk = talkOf(page);
    await page.getByText('What the agent understands').click();
    await talk.see('remember user:seat = {"car": 3}');
    await talk.type('Hi, my name is Zoë.', 'I remember user:name = "Zoë", in all your sessions.');
    await talk.type('remember cart = {"items": [1, 2]}', 'I remember cart = {"items":[1,2]}, in this session.');
    await talk.type(
      'remember app:notice = closed = shut',
      'I remember app:notice = "closed = shut", for everybody in this app.',
    );
    await talk.type('remember temp:mood = 3', 'I remember temp:mood = 3, until you speak again.');
    const known = 'What I have understood: user:name = "Zoë",';
    await talk.type(
      'How are you?',
      `I only count that: 1 so far. ${known} cart = {"items":[1,2]}, app:notice = "closed = shut".`,
    );
    await talk.type('forget cart', 'I have forgotten cart.');
    await talk.type('forget cart', 'There is no cart that I could forget.');
    await talk.type('And now?', `I only count that: 2 so far. ${known} app:notice = "closed = shut".`);
    assert.equal(await talk.box.inputValue(), '');

    const found = await untilStored(page, ({ sessions }) => sessions[0].rev === 16);
    const [session] = found.sessions;
    assert.deepEqual(session.state, { turns_typed: 2 });
    assert.deepEqual([found.users.ana, found.app], [{ name: 'Zoë' }, { notice: 'closed = shut' }]);
    assert.equal(new Set(session.events.map(({ invocationId }) => invocationId)).size, 8);
    const deletion = session.events.find(({ customMetadata }) => customMetadata?.statepad !== undefined);
    const { author, actions, customMetadata } = deletion;
    assert.deepEqual(
      [author, actions.stateDelta, customMetadata.statepad],
      ['agent', { cart: null }, { deleted: ['cart'] }],
    );
  });

  it('is written from the side that its letters begin at', async (t) => {
    const page = await it_.open(t);
    const { box, bubble, button } = talkOf(page);
    const side = () => box.evaluate((it) => getComputedStyle(it).direction);
    assert.equal(await side(), 'ltr');
    await box.fill('«שלום» hello');
    assert.equal(await side(), 'rtl');
    await button('Send').click();
    await bubble('שלום').first().waitFor();
    const said = bubble('שלום').first().locator('.said');
    assert.equal(await said.evaluate((it) => getComputedStyle(it).direction), 'rtl');
    await box.fill('12: hello שלום');
    assert.equal(await side(), 'ltr');
  });

  it('may have several lines, and does not disturb the conversation', async (t) => {
    const page = await it_.open(t);
    const talk = talkOf(page);
    await talk.step(1, 6);
    await talk.box.pressSequentially('remember note = one');
    await talk.box.press('Shift+Enter');
    await talk.box.pressSequentially('two');
    await talk.button('Send').click();
    await talk.see('I remember note = "one\\ntwo", in this session.');
    await talk.step(2, 6);
    await talk.bubble('How lovely.').waitFor();
    const found = await untilStored(page, ({ sessions }) => sessions[0].rev === 5);
    assert.equal(found.sessions[0].state.note, 'one\ntwo');
    assert.deepEqual(turnsOf(found.sessions[0]), [1, 2]);
  });

  it('is refused in place when it cannot be kept, and stays in its box', async (t) => {
    const context = await it_.context(t);
    const page = await it_.open(t, { context });
    const talk = talkOf(page);
    await talk.step(1, 6);
    await talk.box.fill('remember x = "\\ud800"');
    await talk.box.press('Enter');
    await talk.alert.filter({ hasText: 'VALUE_NOT_JSON: ' }).waitFor();
    assert.equal(await talk.box.inputValue(), 'remember x = "\\ud800"');
    // The invocation goes on: nothing has been said.
    await talk.step(2, 6);
    await talk.rendered.getByText('phone').waitFor();
    await talk.type('remember x = 1', 'I remember x = 1');
    await talk.rendered.getByText('phone').waitFor({ state: 'detached' });
    assert.equal(await talk.alert.count(), 0);
    const { sessions } = await untilStored(page, (now) => now.sessions[0].rev === 5);
    assert.equal(sessions[0].state.x, 1);

    // Somebody deletes it, behind the back of all tabs.
    await page.evaluate(async () => {
      const opened = await new Promise(
        (resolve) => (window.indexedDB.open('statepad-demo').onsuccess = (event) => resolve(event.target.result)),
      );
      const transaction = opened.transaction('sessions', 'readwrite');
      transaction.objectStore('sessions').clear();
      await new Promise((resolve) => (transaction.oncomplete = resolve));
      opened.close();
    });
    await talk.box.fill('remember y = 2');
    await talk.button('Send').click();
    await talk.alert.filter({ hasText: 'SESSION_NOT_FOUND: ' }).waitFor();
    assert.equal(await talk.box.inputValue(), 'remember y = 2');
  });

  it('waits for now: nothing is said in the past', async (t) => {
    const page = await it_.open(t);
    const talk = talkOf(page);
    await talk.step(1, 6);
    await talk.step(2, 6);
    await talk.box.fill('my name is Zoë');
    await page.getByRole('slider', { name: 'moment' }).press('ArrowLeft');
    await talk.see('You are at moment 2 of 3.');
    assert.equal(await talk.bubble('How lovely.').count(), 0);
    for (const name of ['Step', 'Play', 'Send']) {
      assert.equal(await talk.button(name).getAttribute('aria-disabled'), 'true', name);
    }
    await talk.box.press('Enter');
    await talk.button('Back to now').click();
    await talk.bubble('How lovely.').waitFor();
    assert.equal(await talk.box.inputValue(), 'my name is Zoë');
    await talk.box.press('Enter');
    await talk.see('I remember user:name = "Zoë"');
    assert.equal((await untilStored(page, ({ sessions }) => sessions[0].rev > 4)).sessions[0].rev, 5);
  });
});

describe('what was said', () => {
  const it_ = site();

  it('leads to the event, from each bubble', async (t) => {
    const page = await it_.open(t);
    const talk = talkOf(page);
    await talk.step(1, 6);
    await talk.bubble('Hi, Ana here').press('Enter');
    await page.getByRole('region', { name: 'Details' }).getByText('trip-lisbon-turn-1').first().waitFor();
    assert.equal(await talk.bubble('Hi, Ana here').getAttribute('aria-pressed'), 'true');
    await talk.bubble('Hi, Ana here').press('Enter');
    await page.getByRole('region', { name: 'Details' }).waitFor({ state: 'detached' });
  });

  it('is drawn to its last 200 bubbles, and earlier ones when asked for', async (t) => {
    const page = await it_.open(t);
    const talk = talkOf(page);
    await page.evaluate(async () => {
      const { inspection } = document.querySelector('statepad-page').shadowRoot.querySelector('statepad-talk');
      const { service, session } = inspection;
      const events = Array.from({ length: 230 }, (_, index) => ({
        author: 'agent',
        content: { parts: [{ text: `saying ${index}` }] },
      }));
      await Promise.all(events.map((event) => service.appendEvent({ session, event })));
      await inspection.refresh();
    });
    await talk.bubble('saying 229').waitFor();
    assert.equal(await talk.log.getByRole('button', { name: 'saying' }).count(), 200);
    assert.ok(await talk.log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 2));
    await talk.log.getByRole('button', { name: 'Show earlier (30)' }).click();
    await talk.bubble('saying 0').waitFor();
    assert.equal(await talk.log.getByRole('button', { name: 'saying' }).count(), 230);
  });

  it('is all there is of a file that is opened: nothing to write with', async (t) => {
    const page = await it_.open(t);
    const talk = talkOf(page);
    await talk.step(1, 6);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    await page.getByLabel('A file with sessions').setInputFiles(await download.path());
    await talk.see('Read-only: this conversation comes from a file.');
    await talk.bubble('Hi, Ana here').waitFor();
    assert.equal(await talk.box.count(), 0);
    for (const name of ['Step', 'Play', 'Send', 'Start']) {
      assert.equal(await talk.button(name).count(), 0, name);
    }
    // The instruction is the page's own: a file has none.
    assert.equal(await page.getByRole('textbox', { name: 'Template' }).inputValue(), '');
  });
});
