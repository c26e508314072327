// The page in Firefox. A page of the same origin has it in a frame, does there what a user does, and tells what it
// saw.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openFirefox } from '../support/firefox.mjs';
import { placeIn } from '../support/marks.mjs';
import { serve } from '../support/serve.mjs';

const www = fileURLToPath(new URL('../../www', import.meta.url));

/** The program beside the frame: it says `done`, or what it was waiting for, and the complaints of the page. */
async function drive() {
  const frame = document.querySelector('iframe');
  const complaints = [];
  let step = 'the page';

  const until = async (what, find) => {
    step = what;
    for (const end = performance.now() + 30_000; performance.now() < end;) {
      const found = find();
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    throw new Error(`there is no ${what}`);
  };
  /** Every element of the page, those in shadow roots included. */
  function* elements(root = frame.contentDocument) {
    for (const element of root.querySelectorAll('*')) {
      yield element;
      if (element.shadowRoot) yield* elements(element.shadowRoot);
    }
  }
  const first = (matches) => elements().find(matches);
  const shown = (text) =>
    until(`“${text}”`, () =>
      first((one) => !one.matches('style, script') && one.textContent.replace(/\s+/g, ' ').includes(text)),
    );
  /** A click of a mouse, where a mark is drawn: it has no element of its own. */
  const press = (element, [clientX, clientY]) => {
    const at = { clientX, clientY, button: 0, pointerId: 1, isPrimary: true };
    for (const type of ['pointerdown', 'pointerup', 'click']) {
      const Kind = frame.contentWindow[type === 'click' ? 'MouseEvent' : 'PointerEvent'];
      element.dispatchEvent(new Kind(type, { ...at, bubbles: true, composed: true, cancelable: true }));
    }
  };
  const address = (ending) => until(`address ${ending}`, () => frame.contentWindow.location.hash.endsWith(ending));
  const listen = () => {
    const { contentWindow } = frame;
    contentWindow.addEventListener('error', ({ message }) => {
      // Sizes that change while sizes are told are told in the next frame: nothing is lost.
      if (!message.startsWith('ResizeObserver loop')) complaints.push(message);
    });
    contentWindow.addEventListener('unhandledrejection', ({ reason }) => complaints.push(String(reason)));
  };

  try {
    frame.addEventListener('load', listen);
    frame.src = '/dist/?pace=1000';
    await shown('#13 of 13');
    const { hash } = frame.contentWindow.location;

    const marks = await until('mark', () => first((one) => one.matches('.marks[data-revisions~="2"]')));
    press(marks, globalThis.placeIn(marks, 2));
    await address('?moment=2&event=2');
    await shown('#2 of 13');
    frame.contentWindow.history.back();
    await address(hash);

    frame.contentWindow.location.reload();
    await new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    await shown('Booked: four nights');

    const session = { id: 'one', appName: 'a', userId: 'u', state: { seen: true }, events: [] };
    const files = new DataTransfer();
    files.items.add(new File([JSON.stringify(session)], 'one.json', { type: 'application/json' }));
    const input = await until('input for files', () => first((one) => one.matches('input[type=file]')));
    input.files = files.files;
    input.dispatchEvent(new frame.contentWindow.Event('change', { bubbles: true }));
    await shown('Looking into one.json, read-only: 1 session, 0 events.');

    const width = frame.contentDocument.documentElement.scrollWidth;
    if (width > frame.clientWidth) throw new Error(`the page is ${width} pixels wide`);
    step = 'done';
  } catch (error) {
    step = `${step}: ${error}`;
  }
  await fetch('/', { method: 'POST', body: JSON.stringify({ step, complaints }) });
}

describe('the page in Firefox', () => {
  it('plays, travels, goes back, keeps what was said and opens a file', { timeout: 300_000 }, async () => {
    const html = `<!doctype html><iframe width="1280" height="900"></iframe><script>globalThis.placeIn = ${placeIn}; (${drive})();</script>`;
    let close;
    let server;
    try {
      const told = await new Promise((resolve, reject) => {
        serve({ folder: www, pages: { '/drive': html }, told: resolve }).then((started) => {
          server = started;
          close = openFirefox(`${started.origin}/drive`);
        }, reject);
      });
      assert.deepEqual(JSON.parse(told), { step: 'done', complaints: [] });
    } finally {
      await close?.();
      await server?.stop();
    }
  });
});
