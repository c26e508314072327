// The events of real agents: tool calls, answers, thoughts, transfers, code, files, errors. All of them are shown,
// whoever wrote them; and the files in which ADK saves them are opened.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { site } from './support.mjs';

const sample = async (name) => await readFile(new URL(`./samples/${name}`, import.meta.url), 'utf8');
const snake = JSON.parse(await sample('adk-python.session.json'));
const camel = JSON.parse(await sample('adk-run.session.json'));

/** Opens a text as a file, and waits until the page looks into it. */
async function open(page, name, text) {
  await page
    .getByLabel('A file with sessions')
    .setInputFiles({ name, mimeType: 'application/json', buffer: Buffer.from(text) });
  await page.getByText(`Looking into ${name}, read-only: `).waitFor();
}

/** The text of an element, with that of the elements in it that draw themselves. */
const wholeText = async (element) =>
  await element.evaluate((it) => {
    const textOf = (node) =>
      node.nodeType === 3 ? node.data : [...(node.shadowRoot ?? node).childNodes].map(textOf).join('');
    return textOf(it);
  });

/** The parts of each event of the sample that are shown in its bubble and in its row. */
const SHOWN = [
  ['user', /What will the weather be in Porto/],
  ['concierge', /The weather tool first/, /get_weather/, /"city_name":"Porto"/],
  ['concierge', /get_weather/, /"sky_cover":"clear"/],
  ['concierge', /Transfers to harbour/],
  ['harbour', /python/, /print\(21 \* 9/, /69\.8/],
  ['harbour', /ticket\.pdf/, /image\/png, 8 bytes/],
  ['harbour', /RESOURCE_EXHAUSTED/, /The harbour's quota is used up/],
  ['harbour', /Clear sky at 21 degrees/],
];

describe('what agents write', () => {
  const it_ = site();

  it('is shown for what it is, in bubbles, rows, marks and details, whoever wrote it', async (t) => {
    const page = await it_.open(t, { options: { viewport: { width: 1440, height: 900 } } });
    await open(page, 'adk-run.session.json', await sample('adk-run.session.json'));
    const bubbles = page.getByRole('log').locator('.bubble');
    await bubbles.nth(7).waitFor();
    const rows = page.getByRole('listbox', { name: 'Events' });
    const details = page.getByRole('region', { name: 'Details' });
    for (const [place, [author, ...patterns]] of SHOWN.entries()) {
      const said = (await bubbles.nth(place).innerText()).replaceAll('\n', ' ');
      await bubbles.nth(place).click();
      await details.getByRole('heading', { name: `Event #${place + 1}`, exact: true }).waitFor();
      const row = (await rows.locator(`#event-${place + 1}`).innerText()).replaceAll('\n', ' ');
      const whole = (await wholeText(details.locator('statepad-event .whole'))).replaceAll('\n', ' ');
      for (const text of [said, row, whole]) assert.ok(text.includes(author), `${author} in ${text}`);
      for (const pattern of patterns) for (const text of [said, row, whole]) assert.match(text, pattern);
    }
    const sides = await bubbles.evaluateAll((all) => all.map(({ dataset }) => dataset.side));
    assert.deepEqual(sides, ['user', 'note', 'note', 'note', 'note', 'agent', 'note', 'agent']);

    // The error is in sight, and one click away.
    assert.equal(await bubbles.and(page.locator('[data-error]')).count(), 1);
    await page.getByRole('button', { name: '1 error', exact: true }).click();
    await details.getByText("The harbour's quota is used up for today.").waitFor();
    assert.match(
      await page.locator('.mark[data-revision="7"] title').textContent(),
      /^#7 harbour failed: Error RESOURCE_/,
    );
    assert.notEqual(await page.locator('path.error').getAttribute('d'), '');
    // The text of a call or of an error is searched, too.
    for (const [query, count] of [
      ['sky_cover', '1 of 8 events'],
      ['exhausted', '1 of 8 events'],
      ['city_name', '1 of 8 events'],
    ]) {
      await page.getByRole('searchbox').fill(query);
      await page.getByText(count, { exact: true }).waitFor();
    }
  });

  it('leaves nothing blank that has only actions, a transcript, or nothing at all', async (t) => {
    const page = await it_.open(t);
    const events = [
      { author: 'a', inputTranscription: { text: 'spoken words', finished: true } },
      { author: 'b', output: { route: 'left' } },
      { author: 'c', actions: { requestedToolConfirmations: { f1: { hint: 'sure?' } } } },
      { author: 'd', errorMessage: 'no code' },
      { author: 'e', interrupted: true },
      { author: 'f', content: { role: 'user', parts: [{ text: 'من هنا' }] } },
      { author: 'g', content: { parts: [{ novelPart: { x: 1 } }] } },
      { author: 'h' },
    ];
    await open(page, 'odd.json', JSON.stringify(events));
    const bubbles = page.getByRole('log').locator('.bubble');
    await bubbles.nth(7).waitFor();
    const said = (await bubbles.allInnerTexts()).map((text) => text.split('\n').slice(1).join(' ').trim());
    assert.deepEqual(said, [
      'Transcript spoken words',
      'Output {"route":"left"}',
      'Asks for confirmation',
      'Error no code',
      'Interrupted',
      'من هنا',
      'Part novelPart {"x":1}',
      'An event without content',
    ]);
    assert.equal(await bubbles.nth(5).getAttribute('data-side'), 'user');
    const direction = await bubbles
      .nth(5)
      .locator('.said')
      .evaluate((it) => getComputedStyle(it).direction);
    assert.equal(direction, 'rtl');
  });
});

describe('files of others', () => {
  const it_ = site();
  const one = (session) => ({ state: session.state, events: session.events.length });

  for (const [name, text, wanted] of [
    ['adk-run.session.json', JSON.stringify(camel, undefined, 2), '1 session, 8 events.'],
    ['adk-python.session.json', JSON.stringify(snake, undefined, 1), '1 session, 8 events.'],
    ['one-line.json', JSON.stringify(snake), '1 session, 8 events.'],
    ['list.json', JSON.stringify([camel, { ...snake, id: 'other' }], undefined, 2), '2 sessions, 16 events.'],
    ['answer.json', JSON.stringify({ sessions: [camel] }), '1 session, 8 events.'],
    ['events.json', JSON.stringify(camel.events, undefined, 2), '1 session, 8 events.'],
    ['events.jsonl', snake.events.map((event) => JSON.stringify(event)).join('\r\n'), '1 session, 8 events.'],
    [
      'sessions.jsonl',
      `\uFEFF${JSON.stringify(camel)}\n${JSON.stringify({ ...camel, id: 'b' })}\n`,
      '2 sessions, 16 events.',
    ],
  ]) {
    it(`${name} is opened, with times in milliseconds and no template`, async (t) => {
      const page = await it_.open(t);
      await open(page, name, text);
      await page.getByText(wanted).waitFor();
      const shown = await page.locator('statepad-timeline').evaluate(({ inspection: { session } }) => ({
        state: session.state,
        events: session.events.length,
        first: session.events[0].timestamp,
        temp: session.events[2].customMetadata?.tempKeys,
        args: session.events[1].content.parts[1].functionCall.args,
        appName: session.appName,
      }));
      const isEventsOnly = name.startsWith('events');
      const { budget, ...written } = camel.state;
      assert.deepEqual(shown, {
        ...one({ ...camel, state: isEventsOnly ? written : { budget, ...written } }),
        first: 1795000001250,
        temp: ['raw'],
        args: { city_name: 'Porto', days: 2 },
        appName: isEventsOnly ? 'file' : 'concierge',
      });
      assert.equal(await page.getByRole('textbox', { name: 'Template' }).inputValue(), '');
    });
  }

  for (const [name, content, pattern] of [
    ['session.db', 'SQLite format 3\0', /looks like an SQLite database/],
    ['logs.gz', Buffer.from([0x1f, 0x8b, 8, 0, 1, 2]), /looks like a gzip archive/],
    ['page.html', '<!doctype html><p>hi</p>', /looks like a web page/],
    ['notes.txt', 'Dear diary,\nnothing happened.', /looks like plain text/],
    ['empty.json', ' \n', /looks like an empty file/],
    [
      'cut.json',
      JSON.stringify(camel, undefined, 2).slice(0, 400),
      /looks like JSON that is broken or cut off \(.+\)/,
    ],
    ['package.json', '{"name":"x","version":"1"}', /looks like a JSON object with "name", "version"\./],
    ['tests.evalset.json', '{"eval_set_id":"a","eval_cases":[]}', /looks like an ADK eval set/],
    ['rows.json', '[{"a":1}]', /looks like a JSON list whose first element is a JSON object with "a"\./],
    ['rows.jsonl', '{"a":1}\n{"a":2}\n', /JSON lines whose line 1 is a JSON object with "a"\./],
    ['table.csv', 'id,author,text\n1,a,b\n', /looks like a table of comma-separated values/],
  ]) {
    it(`${name} is refused: it says what the file looks like and what can be opened`, async (t) => {
      const page = await it_.open(t);
      await page
        .getByLabel('A file with sessions')
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
      const alert = page.getByRole('alert').filter({ hasText: `${name} cannot be opened: it looks like` });
      await alert.waitFor();
      const said = await alert.innerText();
      assert.match(said, pattern);
      assert.match(said, /What can be opened: JSON lines written by statepad .*adk run --save_session/);
      await page.getByRole('button', { name: 'Step', exact: true }).waitFor();
    });
  }

  it('is shown whatever it is called, and whatever stands in the place of a role', async (t) => {
    const page = await it_.open(t);
    const names = ['constructor', 'toString', '__proto__', 'hasOwnProperty'];
    const part = JSON.parse(`{${names.map((name) => `"${name}":"told by ${name}"`).join(',')}}`);
    const role = { _$litType$: 1, strings: { raw: ['<b>', '</b>'] }, values: [] };
    const event = { id: 'e1', author: 'toString', timestamp: 1, content: { role, parts: [part] } };
    const written = JSON.parse('{"constructor":1,"__proto__":[2],"kept":3}');
    const deletion = { stateDelta: { constructor: null, kept: 4 } };
    const events = [
      { ...event, actions: { stateDelta: written } },
      {
        ...{ id: 'e2', author: '__proto__', timestamp: 2, actions: deletion },
        customMetadata: { statepad: { deleted: ['constructor'] } },
      },
    ];
    const state = JSON.parse('{"__proto__":[2],"kept":4}');
    const session = { id: 'odd', appName: 'a', userId: 'u', state, events, lastUpdateTime: 2 };
    await open(page, 'odd.json', JSON.stringify(session));
    await page.getByRole('listbox', { name: 'Events' }).locator('#event-1').click();
    const details = page.getByRole('region', { name: 'Details' });
    for (const name of names) await details.getByText(`told by ${name}`).waitFor();
    const keys = page.getByRole('region', { name: 'State', exact: true }).locator('li[data-row]');
    assert.deepEqual(await keys.evaluateAll((all) => all.map(({ dataset }) => dataset.row)), [
      '__proto__',
      'kept',
      'constructor',
    ]);
  });

  it('may be thousands of keys: the first are drawn, and the others where somebody looks', async (t) => {
    const page = await it_.open(t);
    const state = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, index]));
    const events = [{ id: 'e1', author: 'a', timestamp: 1, actions: { stateDelta: state } }];
    const session = { id: 'many', appName: 'a', userId: 'u', state, events, lastUpdateTime: 1 };
    await open(page, 'many.json', JSON.stringify(session));
    const shown = page.getByRole('region', { name: 'State', exact: true });
    const rows = shown.locator('li[data-row]');
    await shown.getByRole('button', { name: 'key 0', exact: true }).waitFor();
    assert.ok((await rows.count()) < 2_000, 'not all of them');
    const end = shown.getByRole('button', { name: / more$/ });
    const before = await rows.count();
    await end.scrollIntoViewIfNeeded();
    await shown.locator(`li[data-row="key ${before + 10}"]`).waitFor();
    await page.getByRole('searchbox').fill('key 19999');
    await shown.getByText('1 of 20000 keys').waitFor();
    await shown.getByRole('button', { name: 'key 19999', exact: true }).waitFor();
    await page.getByRole('listbox', { name: 'Events' }).locator('#event-1').click();
    const details = page.getByRole('region', { name: 'Details' });
    assert.ok((await details.locator('tbody tr').count()) < 2_000);
  });
});
