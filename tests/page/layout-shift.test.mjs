// Nothing jumps: what the browser itself counts as layout shift while the page loads and while it plays.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openPage } from '../support/chromium.mjs';
import { loaded, moment, SCENES, site } from './support.mjs';

/** From here on pages are said to be restless. */
const LIMIT = 0.05;

/** Has a page collect its layout shifts: all of them, also those soon after a click. */
async function watched(it_, t, viewport) {
  const context = await it_.context(t, { viewport, reducedMotion: 'no-preference' });
  await context.addInitScript(() => {
    window.shifts = [];
    const nameOf = (node) => (node === null ? '?' : `${node.localName ?? '#text'}.${node.className ?? ''}`);
    new window.PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries())
        window.shifts.push({ value, of: sources.map(({ node }) => nameOf(node)) });
    }).observe({ type: 'layout-shift', buffered: true });
  });
  return context;
}

/** The layout shifts since the last call. */
async function shifted(page) {
  // The observer is told once a frame has been drawn.
  await page.evaluate(
    () => new Promise((resolve) => window.requestAnimationFrame(() => window.requestAnimationFrame(resolve))),
  );
  const shifts = await page.evaluate(() => window.shifts.splice(0));
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  return { sum, told: `${sum.toFixed(3)}: ${JSON.stringify(shifts)}` };
}

describe('layout shift', () => {
  const it_ = site();

  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 1280, height: 800 },
    { width: 390, height: 844 },
  ]) {
    it(`stays below ${LIMIT} while the page loads and while it plays, ${viewport.width} px wide`, async (t) => {
      const context = await watched(it_, t, viewport);
      const { page } = await openPage(context, it_.origin);
      await page.goto(`${it_.address}?pace=4`);
      await loaded(page);
      await moment(page, `#${SCENES} of ${SCENES}`);
      const playing = await shifted(page);
      t.diagnostic(`loading and playing ${playing.told}`);
      assert.ok(playing.sum < LIMIT, playing.told);

      await page.reload();
      await loaded(page);
      await moment(page, `#${SCENES} of ${SCENES}`);
      const reloading = await shifted(page);
      t.diagnostic(`loading again ${reloading.told}`);
      assert.ok(reloading.sum < LIMIT, reloading.told);
    });
  }
});
