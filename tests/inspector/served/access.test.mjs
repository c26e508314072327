// The page of `statepad inspect` for those who do not use a mouse or do not see: no fault that axe finds, in light and
// dark, on a screen and on a phone; and its policy, which nothing in it violates.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { writeTo } from '../../support/written.mjs';
import { faultsOfPage } from '../story.mjs';
import { browser, entry, inspected, temporaryFolder } from './support.mjs';

const folder = temporaryFolder();
const path = join(folder, 'sessions.db');
const KEY = { appName: 'harbour', userId: 'ana', sessionId: 'monday' };

const parts = (...given) => ({ role: 'model', parts: given });
const EVENTS = [
  { author: 'user', content: parts({ text: 'Is there a **berth**?' }), actions: { stateDelta: { port: 'Brest' } } },
  { author: 'harbour', content: parts({ functionCall: { id: 'c', name: 'find', args: { port: 'Brest' } } }) },
  { author: 'harbour', content: parts({ functionResponse: { id: 'c', name: 'find', response: { error: 'late' } } }) },
  { author: 'harbour', content: parts({ text: 'I look.', thought: true }, { text: 'Berth `7`.' }) },
  { author: 'harbour', errorCode: 'OVERLOADED', errorMessage: 'later', actions: { stateDelta: { 'user:n': [1] } } },
].map((event) => ({ ...event, invocationId: 'one' }));

const LOOKS = ['light', 'dark'].flatMap((colorScheme) =>
  [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ].map((viewport) => ({ colorScheme, viewport })),
);

describe('the page of statepad inspect', () => {
  const chromium = browser();
  before(async () => {
    await writeTo(path, KEY, EVENTS, { boat: { name: 'Seagull', length: 9.5 } });
  });

  for (const { colorScheme, viewport } of LOOKS) {
    it(`has no fault that axe finds, ${colorScheme} at ${viewport.width} pixels`, async (t) => {
      const { page: address, origin } = await inspected(t, path, { options: ['--write'] });
      const page = await chromium.open(t, `${origin}/inspector/`, {
        options: { colorScheme, viewport },
        expects: /status of 401/,
      });
      await page.getByLabel('Token').waitFor();
      assert.deepEqual(await faultsOfPage(page), [], 'the question for the token');
      await page.goto(address);
      await entry(page, 1).waitFor();
      assert.deepEqual(await faultsOfPage(page), [], 'at first');
      await page.getByRole('button', { name: 'Step back' }).click();
      await entry(page, 4).click({ position: { x: 4, y: 4 } });
      for (const name of viewport.width < 600 ? ['State', 'Prompt', 'Details', 'Conversation'] : []) {
        await page.getByRole('tab', { name }).click();
        assert.deepEqual(await faultsOfPage(page), [], name);
      }
      assert.deepEqual(await faultsOfPage(page), [], 'with an event');
      for (const key of ['Control+k', 's', '?']) {
        await page.locator('statepad-inspector').focus();
        await page.keyboard.press(key);
        await page.getByRole('dialog').waitFor();
        assert.deepEqual(await faultsOfPage(page), [], key);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
      }
    });
  }

  it('is under a policy that lets it load and ask nothing but its own server', async (t) => {
    const { page: address } = await inspected(t, path);
    const answer = await fetch(address);
    const policy = Object.fromEntries(
      answer.headers
        .get('content-security-policy')
        .split('; ')
        .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
    );
    const { 'default-src': others, 'script-src': scripts, 'connect-src': asked, 'frame-ancestors': frames } = policy;
    assert.deepEqual([others, scripts, asked, frames], ["'none'", "'self' 'wasm-unsafe-eval'", "'self'", "'none'"]);
    const page = await chromium.open(t, address, {
      expects: /policy: |Content Security Policy|example\.com/,
    });
    await entry(page, 1).waitFor();
    // It holds: what a text would do, had it become a program, is refused.
    const refused = await page.evaluate(async () => {
      const told = new Set();
      const isTold = new Promise((resolve) => {
        globalThis.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
          if (told.add(effectiveDirective).size === 3) resolve();
        });
      });
      const script = document.createElement('script');
      script.textContent = 'globalThis.harmed = true';
      document.body.append(script);
      const image = document.createElement('img');
      image.src = 'https://example.com/spy.png';
      document.body.append(image);
      await fetch('https://example.com/').catch(() => undefined);
      await isTold;
      return { told: [...told].sort(), harmed: globalThis.harmed };
    });
    assert.deepEqual(refused, { told: ['connect-src', 'img-src', 'script-src-elem'], harmed: undefined });
  });
});
