// The page of `statepad inspect` over sessions that were written to harm whoever looks at them: nothing of them runs,
// nothing asks another host, and every name is shown as the text that it is.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { writeTo } from '../../support/written.mjs';
import { browser, entry, inspected, state, temporaryFolder } from './support.mjs';

const folder = temporaryFolder();
const path = join(folder, 'sessions.db');

const HARM = '<img src=x onerror="globalThis.harmed = 1">';
/** Marks of lit's templates, of other languages of templates, and of text that runs from right to left. */
const MARKS = '?lit$123456789$ {{globalThis.harmed=2}} ${globalThis.harmed=3} \u202egnp.exe';
const MARKDOWN = [
  `${HARM} <script>globalThis.harmed = 4</script> <svg onload="globalThis.harmed = 5">`,
  '[run](javascript:globalThis.harmed=6) <javascript:globalThis.harmed=7> [data](data:text/html,x)',
  '![photo](https://example.com/spy.png) ![](//example.com/spy.png) [there](https://example.com/)',
  MARKS,
].join('\n\n');

/** Names of an app, a user and a session: each is met in an address, in a list and in a title. */
const KEY = { appName: HARM, userId: '__proto__', sessionId: `constructor ${MARKS}` };
const OTHER = { appName: 'constructor', userId: HARM, sessionId: '__proto__' };
const TOOL = `</script>${HARM}`;

const hostileState = JSON.parse(`{ "__proto__": { "harmed": ["<b>"] }, "constructor": "prototype" }`);
Object.defineProperty(hostileState, HARM, { value: MARKS, enumerable: true });
hostileState[`user:${MARKS}`] = HARM;
hostileState['app:hasOwnProperty'] = { [HARM]: HARM, toString: null };

const EVENTS = [
  { author: 'user', invocationId: HARM, content: { role: 'user', parts: [{ text: MARKDOWN }] } },
  {
    author: HARM,
    invocationId: HARM,
    content: { role: 'model', parts: [{ functionCall: { id: '__proto__', name: TOOL, args: { [HARM]: HARM } } }] },
  },
  {
    author: '__proto__',
    invocationId: HARM,
    branch: `${HARM}.constructor`,
    content: {
      role: 'user',
      parts: [{ functionResponse: { id: '__proto__', name: TOOL, response: { error: `${HARM} ${MARKS}` } } }],
    },
  },
  {
    author: 'constructor',
    invocationId: 'constructor',
    errorCode: HARM,
    errorMessage: MARKS,
    content: { role: 'model', parts: [{ text: `${HARM} again`, thought: true }, { text: 'toString' }] },
    actions: { stateDelta: { [HARM]: `${MARKS} again`, valueOf: [HARM] }, transferToAgent: HARM },
  },
];

/** Must be nowhere, in any shadow root: the elements that the texts try to make, and links that run. */
const made = (page) =>
  page.evaluate(() => {
    const found = [];
    const look = (root) => {
      for (const element of root.querySelectorAll('*')) {
        const { localName } = element;
        const isRunning = element.getAttributeNames().some((name) => name.startsWith('on'));
        const isLinked = /^\s*(?:javascript|data|vbscript):/i.test(element.getAttribute('href') ?? '');
        if (['img', 'script', 'iframe', 'object'].includes(localName) || isRunning || isLinked) {
          found.push(element.outerHTML.slice(0, 200));
        }
        if (element.shadowRoot) look(element.shadowRoot);
      }
    };
    look(document.body);
    return { found, harmed: globalThis.harmed, polluted: {}.harmed, title: document.title.includes('<') };
  });

describe('a hostile session', () => {
  const chromium = browser();
  before(async () => {
    await writeTo(path, OTHER, [{ author: 'user', content: { role: 'user', parts: [{ text: HARM }] } }]);
    await writeTo(path, KEY, EVENTS, hostileState);
  });

  const open = async (t) => {
    const { page: address } = await inspected(t, path, { options: ['--write'] });
    const page = await chromium.open(t, address);
    await choose(page, KEY);
    return page;
  };
  const dialog = (page, name) => page.getByRole('dialog', { name });

  /** Opens a session by the list of sessions. */
  async function choose(page, { appName, userId, sessionId }) {
    await page.getByRole('button', { name: /^Session / }).click();
    const list = dialog(page, 'Sessions');
    await list.getByRole('button', { name: appName, exact: true }).first().click();
    await list.getByRole('option').filter({ hasText: userId }).filter({ hasText: sessionId }).click();
    await list.waitFor({ state: 'detached' });
  }

  const isHarmless = async (page) =>
    assert.deepEqual(await made(page), { found: [], harmed: undefined, polluted: undefined, title: false });

  it('is text in the conversation, the state and the sessions', async (t) => {
    const page = await open(t);
    const feed = page.getByRole('feed');
    await entry(page, 1).getByText('<script>globalThis.harmed = 4</script>').waitFor();
    await entry(page, 1).getByRole('link', { name: 'there' }).waitFor();
    await feed.getByText(TOOL).first().waitFor();
    await entry(page, 4).getByText(HARM).first().waitFor();
    for (const key of [HARM, '__proto__', 'constructor', 'valueOf', `user:${MARKS}`, 'app:hasOwnProperty']) {
      await state(page).getByText(key, { exact: true }).first().waitFor();
    }
    await isHarmless(page);
    for (const name of ['Events', 'Messages']) {
      await page.getByRole('button', { name, exact: true }).click();
      await isHarmless(page);
    }
    await choose(page, OTHER);
    await entry(page, 1).getByText(HARM).waitFor();
    await isHarmless(page);
    // Its name in the address leads to it.
    await page.reload();
    await entry(page, 1).getByText(HARM).waitFor();
    await isHarmless(page);
  });

  it('is text in the details of events and keys, in the palette and in the search', async (t) => {
    const page = await open(t);
    // The third event is the result of the tool that the second one has called.
    const details = page.locator('statepad-details');
    for (const revision of [1, 2, 4]) {
      await entry(page, revision).click({ position: { x: 4, y: 4 } });
      await details.getByText(`#${revision}`).first().waitFor();
      await isHarmless(page);
    }
    await state(page).getByText('valueOf', { exact: true }).click();
    await page.locator('statepad-history').getByText('valueOf').first().waitFor();
    await isHarmless(page);
    for (const words of [HARM, '__proto__', 'constructor', '?lit$']) {
      await page.keyboard.press('Control+k');
      await dialog(page, 'Search and commands').getByRole('combobox').fill(words);
      await dialog(page, 'Search and commands').getByRole('option').first().waitFor();
      await isHarmless(page);
      await page.keyboard.press('Escape');
      await dialog(page, 'Search and commands').waitFor({ state: 'detached' });
    }
    await page.getByRole('searchbox', { name: 'Find in this session' }).fill(HARM);
    await page.getByRole('searchbox', { name: 'Filter keys and values' }).fill('<img');
    await state(page).getByText(HARM, { exact: true }).first().waitFor();
    await isHarmless(page);
  });

  it('is text in the prompt, also as a template of its own keys', async (t) => {
    const page = await open(t);
    await page.getByRole('button', { name: 'Make one from the keys of this session' }).click();
    const prompt = page.locator('statepad-prompt');
    await prompt.getByText('prototype').first().waitFor();
    await isHarmless(page);
    await prompt.getByRole('textbox').fill(`${HARM} {constructor} {__proto__?} {{x}} {valueOf} ${MARKS}`);
    await prompt.getByText('prototype').first().hover();
    await isHarmless(page);
  });
});
