// The conversation: what users, agents and tools did, as what it is.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { workbench } from './support.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Appends events to a session, one after the other. */
const events = async ({ service, arg }) => {
  const session = await service.createSession({ appName: 'trips', userId: 'ana', sessionId: 'one' });
  for (const event of arg.events) await service.appendEvent({ session, event });
  if (arg.rewind !== undefined) await service.rewind(session, { before: arg.rewind });
  if (arg.redo === true) await service.redo(session);
  if (arg.fork !== undefined) await service.fork(session, { at: arg.fork, sessionId: 'two' });
};

const said = (author, text, more = {}) => ({
  author,
  invocationId: 'i1',
  content: { role: author === 'user' ? 'user' : 'model', parts: [{ text }] },
  ...more,
});
const called = (id, name, args, more = {}) => ({
  author: 'booker',
  invocationId: 'i1',
  content: { role: 'model', parts: [{ functionCall: { id, name, args } }] },
  ...more,
});
const answered = (id, name, response, more = {}) => ({
  author: 'booker',
  invocationId: 'i1',
  content: { role: 'user', parts: [{ functionResponse: { id, name, response } }] },
  ...more,
});

/** The entries of the conversation, and the parts around them. */
const talkOf = (page) => {
  const pane = page.locator('statepad-conversation');
  return {
    pane,
    feed: pane.getByRole('feed', { name: 'Conversation' }),
    entry: (revision) => pane.locator(`#entry-${revision}`),
    entries: pane.locator('article'),
  };
};

/** The text of an element, with that of the elements in it that draw themselves. */
const wholeText = async (element) =>
  await element.evaluate((it) => {
    const textOf = (node) =>
      node.nodeType === 3 ? node.data : [...(node.shadowRoot ?? node).childNodes].map(textOf).join('');
    return textOf(it);
  });

const open = async (bench, t, arg, more = {}) => {
  const page = await bench.inPage(t, { seed: events, arg, ...more });
  const talk = talkOf(page);
  await talk.entries.first().waitFor();
  return { page, talk };
};

describe('a conversation', () => {
  const bench = workbench();

  it('has users at one side, agents with their sign at the other, and the keys that they wrote', async (t) => {
    const { page, talk } = await open(bench, t, {
      events: [
        said('user', 'Hello', { actions: { stateDelta: { city: 'Lisbon', 'user:name': 'Ana' } } }),
        said('planner', 'Which **dates**?'),
      ],
    });
    assert.equal(await talk.entry(1).getAttribute('data-side'), 'user');
    assert.equal(await talk.entry(2).getAttribute('data-side'), 'agent');
    assert.equal(await talk.entry(2).locator('.avatar').innerText(), 'P');
    assert.equal(await talk.entry(2).locator('strong').innerText(), 'dates');
    const chip = talk.entry(1).getByRole('button', { name: 'user:name' });
    assert.equal(await chip.getAttribute('data-scope'), 'user');
    await chip.hover();
    assert.deepEqual(await page.evaluate(() => globalThis.inspection.pointed), { key: 'user:name', revision: 1 });
    await chip.click();
    assert.equal(await page.evaluate(() => globalThis.inspection.traced), 'user:name');
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), undefined);
  });

  it('has a tool and its result in one card, a failure in red, and waits for what has no result', async (t) => {
    const { page, talk } = await open(bench, t, {
      events: [
        called('a', 'find', { city: 'Porto' }),
        answered('a', 'find', { error: 'no such city' }),
        called('b', 'find', { city: 'Lisbon' }),
        answered('b', 'find', { hotels: [1, 2] }, { actions: { stateDelta: { found: 2 } } }),
        called('c', 'book', {}, { longRunningToolIds: ['c'] }),
        called('d', 'pay', {}),
      ],
    });
    assert.equal(await talk.entries.count(), 4);
    const card = (revision) => talk.entry(revision).locator('.tool');
    assert.deepEqual(await Promise.all([1, 3, 5, 6].map((revision) => card(revision).getAttribute('data-state'))), [
      'failed',
      'done',
      'running',
      'waiting',
    ]);
    assert.match(await card(1).innerText(), /find\s+city: "Porto"\s+failed[\s\S]*no such city/);
    assert.match(await card(6).innerText(), /waiting/);
    await talk.entry(3).getByRole('button', { name: 'found' }).waitFor();
    // At the moment between the call and its result the tool waits.
    await page.evaluate(() => globalThis.inspection.moveTo(3));
    await card(3).locator(':scope[data-state="waiting"]').waitFor();
    await page.evaluate(() => globalThis.inspection.moveTo(undefined));
    await card(3).locator(':scope[data-state="done"]').waitFor();
    await card(3).locator('summary').click();
    assert.match(await wholeText(card(3).locator('.parts')), /Arguments[\s\S]*Lisbon[\s\S]*Result #4[\s\S]*hotels/);
    // The event of the result is that of the card: it is selected there.
    await page.evaluate(() => globalThis.inspection.select(4));
    await talk.entry(3).locator(':scope[aria-current="true"]').waitFor();
    await page.getByRole('button', { name: '1 error' }).click();
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), 2);
  });

  it('shows thoughts folded, errors, transfers, code, files and requests as what they are', async (t) => {
    const part = (parts, more = {}) => ({
      author: 'a',
      invocationId: 'i1',
      content: { role: 'model', parts },
      ...more,
    });
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
    const { talk } = await open(bench, t, {
      events: [
        part([{ text: 'I should ask.', thought: true }]),
        { author: 'a', invocationId: 'i1', errorCode: 'QUOTA', errorMessage: 'used up' },
        part([{ text: 'over to b' }], { actions: { transferToAgent: 'b' } }),
        part([
          { executableCode: { language: 'PYTHON', code: 'print(1)' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
        ]),
        part([
          { inlineData: { displayName: 'dot.png', mimeType: 'image/png', data: png } },
          { inlineData: { displayName: 'x.svg', mimeType: 'image/svg+xml', data: 'PHN2Zy8+' } },
          { fileData: { displayName: 'map', mimeType: 'image/png', fileUri: 'https://elsewhere.example/map.png' } },
        ]),
        part([], {
          actions: {
            artifactDelta: { 'plan.md': 2 },
            requestedToolConfirmations: { z: { hint: 'sure?' } },
            escalate: true,
          },
        }),
        { author: 'a', invocationId: 'i1', outputTranscription: { text: 'spoken', finished: true } },
      ],
    });
    const thought = talk.entry(1).locator('.thought');
    assert.equal(await thought.evaluate((it) => it.open), false);
    await thought.locator('summary').click();
    await thought.locator('statepad-text').getByText('I should ask.').waitFor();
    assert.match(await talk.entry(2).locator('.error').innerText(), /QUOTA\s+used up/);
    assert.match(await talk.entry(3).locator('.transfer').innerText(), /a\s+transfers to\s+B\s+b/);
    assert.match(await talk.entry(4).innerText(), /python\s+print\(1\)\s+Result ok\s+1/);
    // One picture is drawn, from the event itself.
    const pictures = await talk
      .entry(5)
      .locator('img')
      .evaluateAll((all) => all.map(({ src, naturalWidth }) => [src.slice(0, 15), naturalWidth]));
    assert.deepEqual(pictures, [['data:image/png;', 1]]);
    assert.match(
      await talk.entry(5).innerText(),
      /x\.svg\s+image\/svg\+xml[\s\S]*map\s+image\/png, https:\/\/elsewhere/,
    );
    assert.match(
      await talk.entry(6).innerText(),
      /Escalates\s+Saves plan\.md version 2\s+Asks for confirmation z sure\?/,
    );
    assert.match(await wholeText(talk.entry(7)), /Transcript\s+spoken/);
  });

  it('shows what a rewind took back faintly, with the way to it, and whole again after a redo', async (t) => {
    const arg = { events: [said('user', 'keep'), said('user', 'drop', { invocationId: 'i2' })], rewind: 'i2' };
    const { page, talk } = await open(bench, t, arg);
    await talk.entry(2).locator(':scope[data-undone]').waitFor();
    assert.equal(await talk.entry(1).getAttribute('data-undone'), null);
    assert.match(await talk.pane.locator('.taken').innerText(), /Taken back by\s+#3/);
    assert.match(await talk.entry(3).innerText(), /Rewound to before\s+#2/);
    // Before the rewind it stands.
    await page.evaluate(() => globalThis.inspection.moveTo(2));
    await talk.entry(2).locator(':scope:not([data-undone])').waitFor();
    const again = await open(bench, t, { ...arg, redo: true });
    assert.match(await again.talk.entry(4).innerText(), /Took the rewind back/);
    assert.equal(await again.talk.entry(2).getAttribute('data-undone'), null);
  });

  it('leads from a fork to its origin', async (t) => {
    const { page, talk } = await open(
      bench,
      t,
      { events: [said('user', 'one'), said('a', 'two')], fork: 1 },
      { mount: { session: { appName: 'trips', userId: 'ana', sessionId: 'two' } } },
    );
    assert.match(await talk.entry(2).innerText(), /Forked from\s+one\s+at #1/);
    await talk.entry(2).getByRole('button', { name: 'one' }).click();
    await page.waitForFunction(() => globalThis.inspection.session.id === 'one');
    await talk.entry(2).getByText('two').waitFor();
  });

  it('has branches beside each other where there is room, and in tabs elsewhere', async (t) => {
    const branch = (name, text) => said(name, text, { branch: `fan.${name}` });
    const arg = { events: [said('user', 'go'), branch('north', 'n1'), branch('south', 's1'), branch('north', 'n2')] };
    const { page, talk } = await open(bench, t, arg);
    const wide = async (width) =>
      await talk.pane.evaluate(
        (pane, px) => Object.assign(pane.style, { position: 'fixed', width: `${px}px` }),
        width,
      );
    await wide(400);
    const parallel = talk.pane.getByRole('article', { name: '2 branches in parallel' });
    await parallel.getByRole('button', { name: 'south' }).click();
    await talk.entry(3).waitFor();
    assert.equal(await talk.entry(2).count(), 0);
    // A selected event brings its branch with it.
    await page.evaluate(() => globalThis.inspection.select(4));
    await talk.entry(4).locator(':scope[aria-current="true"]').waitFor();
    await wide(800);
    await talk.entry(3).waitFor();
    assert.equal(await talk.entry(2).count(), 1);
  });

  it('shows later events faintly, and scrolls to the moment and to what is selected', async (t) => {
    const many = Array.from({ length: 300 }, (_, index) =>
      said(index % 2 === 0 ? 'user' : 'a', `message ${index + 1}`),
    );
    const { page, talk } = await open(bench, t, { events: many });
    await talk.entry(300).waitFor();
    assert.ok((await talk.entries.count()) < 60);
    await page.evaluate(() => globalThis.inspection.moveTo(100));
    await talk.entry(100).locator(':scope:not([data-later])').waitFor();
    await talk.entry(101).locator(':scope[data-later]').waitFor();
    await talk.pane.getByText('The moment of #100').waitFor();
    await page.evaluate(() => globalThis.inspection.select(30));
    await talk.entry(30).waitFor();
    const isSeen = await talk.entry(30).evaluate((entry) => {
      const [own, list] = [entry, entry.closest('.list')].map((it) => it.getBoundingClientRect());
      return own.top >= list.top && own.bottom <= list.bottom;
    });
    assert.ok(isSeen);
    await page.evaluate(() => globalThis.inspection.moveTo(undefined));
    await talk.entry(300).waitFor();
  });

  it('is read by keyboard: arrows move the focus, Enter selects', async (t) => {
    const { page, talk } = await open(bench, t, {
      events: [said('user', 'one'), said('a', 'two'), said('a', 'three')],
    });
    await talk.entry(3).focus();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction(() => {
      let it = document.activeElement;
      while (it?.shadowRoot?.activeElement) it = it.shadowRoot.activeElement;
      return it?.id === 'entry-1';
    });
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), 1);
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => globalThis.inspection.selected === 3);
  });

  it('has every event as a row in the list of events', async (t) => {
    const { page, talk } = await open(bench, t, {
      events: [called('a', 'find', {}), answered('a', 'find', { ok: 1 }), said('a', 'done')],
    });
    await talk.pane.getByRole('button', { name: 'Events' }).click();
    const rows = page.getByRole('listbox', { name: 'Events' }).getByRole('option');
    await rows.nth(2).waitFor();
    assert.equal(await rows.count(), 3);
    assert.match(await rows.nth(1).innerText(), /#2[\s\S]*Result of find/);
    await rows.nth(1).click();
    assert.equal(await page.evaluate(() => globalThis.inspection.selected), 2);
  });

  it('follows new messages, and says that nobody answers where nobody does', async (t) => {
    const { page, talk } = await open(bench, t, { events: [said('user', 'one')] });
    await talk.pane.getByText('No agent is behind this page to talk to.').waitFor();
    assert.equal(await talk.pane.getByRole('textbox').count(), 0);
    await page.evaluate(async () => {
      const { inspection, service } = globalThis;
      await service.appendEvent({
        session: inspection.session,
        event: { author: 'a', content: { parts: [{ text: 'new' }] } },
      });
      await inspection.refresh();
    });
    await talk.entry(2).getByText('new').waitFor();
  });

  it('stays at its end when messages come faster than they are measured, until somebody scrolls up', async (t) => {
    const many = Array.from({ length: 20 }, (_, index) => said('user', `${index} ${'long '.repeat(60)}`));
    const { page, talk } = await open(bench, t, { events: many });
    const append = async (text) =>
      await page.evaluate(async (text) => {
        const { inspection, service } = globalThis;
        for (const more of ['and '.repeat(80), 'so on '.repeat(90), text]) {
          await service.appendEvent({
            session: inspection.session,
            event: { author: 'a', content: { parts: [{ text: more }] } },
          });
          await inspection.refresh();
        }
      }, text);
    for (const turn of [1, 2, 3, 4]) {
      await append(`answer ${turn}`);
      await talk.pane.getByText(`answer ${turn}`, { exact: true }).waitFor();
    }
    await talk.pane.getByRole('feed').hover();
    await page.mouse.wheel(0, -600);
    const top = () => talk.pane.getByRole('feed').evaluate((list) => list.scrollTop);
    await page.waitForTimeout(300);
    const before = await top();
    await append('answer 5');
    await page.waitForTimeout(300);
    assert.ok(Math.abs((await top()) - before) <= 1, 'the list was left where it is read');
    await page.mouse.wheel(0, 9000);
    await talk.pane.getByText('answer 5', { exact: true }).waitFor();
    await append('answer 6');
    await talk.pane.getByText('answer 6', { exact: true }).waitFor();
  });
});

describe('access to a conversation', () => {
  const bench = workbench();

  const everything = [
    said('user', 'Hello **you**', { actions: { stateDelta: { city: 'Lisbon', 'app:x': 1, 'user:y': 2 } } }),
    said('planner', 'A [link](https://example.com) and `code`', { actions: { transferToAgent: 'booker' } }),
    called('a', 'find', { city: 'Porto' }),
    answered('a', 'find', { error: 'no such city' }),
    called('b', 'find', { city: 'Lisbon' }, { longRunningToolIds: ['b'] }),
    said('booker', '| a |\n|---|\n| 1 |'),
    { author: 'booker', invocationId: 'i1', errorCode: 'QUOTA', errorMessage: 'used up' },
    said('north', 'n', { branch: 'fan.north' }),
    said('south', 's', { branch: 'fan.south' }),
    said('booker', 'undone', { invocationId: 'i2', actions: { stateDelta: { note: 1 } } }),
  ];

  for (const colorScheme of ['light', 'dark']) {
    it(`has no fault that axe finds, in ${colorScheme}`, async (t) => {
      const arg = { events: everything, rewind: 'i2' };
      const { page, talk } = await open(bench, t, arg, { options: { colorScheme } });
      const faults = async () => {
        await page.evaluate(axe);
        return await page.evaluate(async () => {
          const context = { fromShadowDom: ['statepad-inspector', 'statepad-conversation'] };
          const details = { fromShadowDom: ['statepad-inspector', 'statepad-details'] };
          const { violations } = await globalThis.axe.run(
            { include: [context, details] },
            { resultTypes: ['violations'] },
          );
          return violations.flatMap(({ id, nodes }) =>
            nodes.map(({ target, failureSummary }) => `${id}: ${target.flat().join(' ')} ${failureSummary}`),
          );
        });
      };
      await talk.entry(11).waitFor();
      assert.deepEqual(await faults(), []);
      await page.evaluate(() => globalThis.inspection.select(1));
      await talk.entry(1).waitFor();
      await page.locator('statepad-details').getByRole('heading', { name: '#1', exact: true }).waitFor();
      assert.deepEqual(await faults(), []);
      await page.evaluate(() => globalThis.inspection.moveTo(4));
      await talk.pane.getByText('The moment of #4').waitFor();
      assert.deepEqual(await faults(), []);
      await talk.pane.getByRole('button', { name: 'Events' }).click();
      await page.getByRole('listbox', { name: 'Events' }).waitFor();
      assert.deepEqual(await faults(), []);
    });
  }
});

describe('the field for messages', () => {
  const bench = workbench();

  /** Mounts the inspector again, with an agent that echoes or fails. */
  const withAgent = async (t) => {
    const { page } = await open(bench, t, { events: [said('user', 'one')] });
    await page.evaluate(async () => {
      const { mount } = await import('statepad/inspector');
      globalThis.mounted.dispose();
      const send = async (session, text) => {
        if (text === 'fail') throw new Error('the model is away');
        await globalThis.service.appendEvent({
          session,
          event: { author: 'user', content: { role: 'user', parts: [{ text }] } },
        });
      };
      globalThis.mounted = await mount(document.querySelector('#inspector'), {
        source: globalThis.service,
        send,
        sendHint: 'Say hello',
      });
      globalThis.inspection = globalThis.mounted.element.inspection;
    });
    const talk = talkOf(page);
    return { page, talk, field: talk.pane.getByRole('textbox', { name: 'Message' }) };
  };

  it('sends with Enter, begins a line with Shift and Enter, and keeps what was not answered', async (t) => {
    const { page, talk, field } = await withAgent(t);
    assert.equal(await field.getAttribute('placeholder'), 'Say hello');
    await field.fill('first');
    await field.press('Shift+Enter');
    await field.pressSequentially('second');
    await field.press('Enter');
    await talk.entry(2).waitFor();
    assert.deepEqual(await page.evaluate(() => globalThis.inspection.log.at(2).content.parts), [
      { text: 'first\nsecond' },
    ]);
    assert.equal(await field.inputValue(), '');
    await field.fill('fail');
    await field.press('Enter');
    await talk.pane.getByRole('alert').filter({ hasText: 'the model is away' }).waitFor();
    assert.equal(await field.inputValue(), 'fail');
  });

  it('waits for now', async (t) => {
    const { page, talk, field } = await withAgent(t);
    await page.evaluate(() => globalThis.inspection.moveTo(0));
    await talk.pane.getByText('This is #0 of 1.').waitFor();
    assert.equal(await field.isDisabled(), true);
    await talk.pane.getByRole('button', { name: 'Go to now' }).click();
    await page.waitForFunction(() => globalThis.inspection.isNow);
    await field.fill('hello');
    await field.press('Enter');
    await talk.entry(2).getByText('hello').waitFor();
  });
});
