// A session of 10,000 events in the page: how long an event takes to the screen, and how smoothly the timeline
// scrolls. What is asserted is that everything was shown; the figures are told, beside those of an empty session and
// of an empty page.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { site, untilStored } from './support.mjs';

const EVENTS = 10_000;
const APPENDS = 60;
const TURNS_OF_THE_WHEEL = 150;

/** Makes a session with so many events, and looks at it. */
async function fill(page, count) {
  await page.locator('statepad-timeline').evaluate(async ({ inspection }, wanted) => {
    const { appName, userId } = inspection.session;
    const session = await inspection.service.createSession({ appName, userId, sessionId: 'long' });
    for (let first = 1; first <= wanted; first += 500) {
      const events = Array.from({ length: 500 }, (_, index) => {
        const n = first + index;
        const delta = {
          [`note ${n % 20}`]: { n, text: 'a value of some length' },
          ...(n % 3 === 0 ? { 'user:theme': n } : {}),
          ...(n % 7 === 0 ? { 'app:model': n } : {}),
        };
        const text = `what was said in event ${n}, in a sentence of a usual length`;
        return {
          author: ['user', 'planner', 'agent'][n % 3],
          invocationId: `turn ${Math.floor(n / 4)}`,
          content: { parts: [{ text }] },
          actions: { stateDelta: n % 2 === 0 ? delta : {} },
        };
      });
      await Promise.all(events.map((event) => inspection.service.appendEvent({ session, event })));
    }
    await inspection.open({ appName, userId, sessionId: 'long' });
  }, count);
  await page.getByText(`#${count} of ${count}`).waitFor();
}

/** Appends events one by one and answers what each took, in ms: until it was in the page, and until it was painted. */
async function appends(page) {
  const measured = await page.locator('statepad-timeline').evaluate(async (timeline, count) => {
    const { inspection } = timeline;
    const list = timeline.getRootNode().querySelector('statepad-events');
    const frame = () => new Promise((resolve) => window.requestAnimationFrame(resolve));
    const times = [];
    for (let index = 0; index < count; index++) {
      await frame();
      const start = performance.now();
      await inspection.append({
        author: 'agent',
        content: { parts: [{ text: `appended as number ${index}` }] },
        actions: { stateDelta: { appended: index } },
      });
      const revision = inspection.session.revision;
      const isShown = () =>
        timeline.renderRoot.querySelector(`.mark[data-revision="${revision}"]`) !== null &&
        list.renderRoot.querySelector(`#event-${revision}`) !== null;
      while (!isShown() && performance.now() - start < 10_000) await frame();
      const shown = performance.now();
      await frame();
      await frame();
      times.push({ revision, isShown: isShown(), shown: shown - start, painted: performance.now() - start });
    }
    return times;
  }, APPENDS);
  assert.deepEqual(
    measured.filter(({ isShown }) => !isShown),
    [],
  );
  return measured;
}

/** Turns the wheel over an element, a turn a frame, and answers the intervals between frames, in ms. */
async function scroll(page, element) {
  const before = await element.evaluate(({ scrollLeft }) => scrollLeft);
  await element.hover();
  await page.evaluate(() => {
    window.frames_ = [];
    const next = (time) => {
      window.frames_?.push(time);
      window.requestAnimationFrame(next);
    };
    window.requestAnimationFrame(next);
  });
  for (let turn = 0; turn < TURNS_OF_THE_WHEEL; turn++) {
    await page.mouse.wheel(turn % 50 < 40 ? -400 : 400, 0);
    await page.evaluate(() => new Promise((resolve) => window.requestAnimationFrame(resolve)));
  }
  const frames = await page.evaluate(() => {
    const all = window.frames_;
    window.frames_ = undefined;
    return all;
  });
  assert.ok(before - (await element.evaluate(({ scrollLeft }) => scrollLeft)) > 20_000, 'the wheel has scrolled');
  return frames.slice(1).map((time, index) => time - frames[index]);
}

const quantile = (numbers, share) =>
  [...numbers].sort((a, b) => a - b)[Math.min(Math.floor(numbers.length * share), numbers.length - 1)];
const told = (numbers) => `p50 ${quantile(numbers, 0.5).toFixed(1)} ms, p95 ${quantile(numbers, 0.95).toFixed(1)} ms`;

function toldFrames(intervals) {
  const usual = quantile(intervals, 0.5);
  const late = intervals.filter((interval) => interval > 1.5 * usual);
  const dropped = late.reduce((sum, interval) => sum + Math.round(interval / usual) - 1, 0);
  return `${intervals.length} frames, usually ${usual.toFixed(1)} ms apart, ${late.length} late ones (${dropped} dropped), the longest ${Math.max(...intervals).toFixed(0)} ms`;
}

describe('the speed of the page', () => {
  const it_ = site({
    pages: {
      '/empty':
        '<!doctype html><html lang="en"><title>empty</title><div id="scroller" style="overflow: auto"><div style="width: 140000px; height: 150px"></div></div>',
    },
  });

  it(`every event that is appended is shown, with none and with ${EVENTS} before it, and the wheel goes through them`, async (t) => {
    const page = await it_.open(t);
    const few = await appends(page);
    await fill(page, EVENTS);
    const many = await appends(page);
    await untilStored(page, ({ sessions }) => sessions.some(({ rev }) => rev === EVENTS + APPENDS));
    for (const [name, times] of [
      ['none', few],
      [String(EVENTS), many],
    ]) {
      t.diagnostic(
        `append with ${name} before: shown ${told(times.map(({ shown }) => shown))}; painted ${told(times.map(({ painted }) => painted))}`,
      );
    }
    t.diagnostic(
      `scrolling the timeline: ${toldFrames(await scroll(page, page.locator('statepad-timeline .scroller')))}`,
    );

    const empty = await (await it_.context(t)).newPage();
    await empty.goto(`${it_.origin}/empty`);
    const scroller = empty.locator('#scroller');
    await scroller.evaluate((element) => element.scrollTo(1e6, 0));
    t.diagnostic(`scrolling an empty page: ${toldFrames(await scroll(empty, scroller))}`);
  });
});
