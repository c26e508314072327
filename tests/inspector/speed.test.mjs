// Large sessions: the time to the first paint, and the work of a step of the slider and of an appended event. What is
// asserted is that everything was shown; the figures are told.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { workbench } from './support.mjs';

const EVENTS = 50_000;
const KEYS = 20_000;
const STEPS = 60;
const APPENDS = 20;

const key = { appName: 'trips', userId: 'ana', sessionId: 'large' };

/** A session of many events, which write 200 keys and one of the user. A function of the page, too. */
const manyEvents = async ({ service, arg: { key, count } }) => {
  const session = await service.createSession(key);
  for (let n = 0; n < count; n++) {
    const event = {
      author: n % 3 === 0 ? 'user' : 'agent',
      invocationId: `turn ${Math.floor(n / 3)}`,
      content: { role: n % 3 === 0 ? 'user' : 'model', parts: [{ text: `what was said in event ${n}` }] },
      actions: { stateDelta: { [`key ${n % 200}`]: { n }, 'user:count': n } },
    };
    await service.appendEvent({ session, event });
  }
};

/** A session of many keys, of which 50 events write some. A function of the page, too. */
const manyKeys = async ({ service, arg: { key, count } }) => {
  const state = Object.fromEntries(Array.from({ length: count }, (_, n) => [`key ${n}`, { n, text: `value ${n}` }]));
  const session = await service.createSession({ ...key, state });
  for (let n = 0; n < 50; n++) {
    await service.appendEvent({ session, event: { author: 'agent', actions: { stateDelta: { [`key ${n}`]: n } } } });
  }
};

const quantile = (numbers, share) =>
  [...numbers].sort((a, b) => a - b)[Math.min(Math.floor(numbers.length * share), numbers.length - 1)];
const told = (numbers) => `p50 ${quantile(numbers, 0.5).toFixed(1)} ms, p95 ${quantile(numbers, 0.95).toFixed(1)} ms`;

/** Notes when the session was painted first, and when all of it was loaded; in ms since the mounting began. */
const watchPaint = () => {
  const since = () => performance.now() - performance.getEntriesByName('mount')[0].startTime;
  const next = () => {
    const inspection = document.querySelector('statepad-inspector')?.inspection;
    if (inspection?.rows.length > 0) {
      globalThis.painted ??= since();
      if (!inspection.isLoading) globalThis.loaded ??= since();
    }
    if (globalThis.loaded === undefined) window.requestAnimationFrame(next);
  };
  window.requestAnimationFrame(next);
};

/** The time that the processor has worked for the main thread of a page, in ms, so far. */
async function workOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  return async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * metrics.find(({ name }) => name === 'TaskDuration').value;
  };
}

const frames = (page) =>
  page.evaluate(
    () => new Promise((resolve) => window.requestAnimationFrame(() => window.requestAnimationFrame(resolve))),
  );

/** The work of each step of a slider that is dragged through the whole session. */
async function steps(page, last) {
  const work = await workOf(page);
  const measured = [];
  for (let step = 0; step < STEPS; step++) {
    const revision = Math.floor(((step * 37) % STEPS) * ((last - 1) / STEPS)) + 1;
    const before = await work();
    await page.evaluate((at) => globalThis.inspection.travel(at), revision);
    await frames(page);
    measured.push((await work()) - before);
    assert.equal(await page.evaluate(() => globalThis.inspection.revision), revision);
  }
  return measured;
}

/** The work of each event that is appended, until it is painted. */
async function appends(page) {
  await page.evaluate(() => globalThis.inspection.moveTo(undefined));
  const work = await workOf(page);
  const measured = [];
  for (let n = 0; n < APPENDS; n++) {
    const before = await work();
    const isShown = await page.evaluate(async (count) => {
      await globalThis.inspection.append({ author: 'agent', actions: { stateDelta: { appended: count } } });
      return globalThis.inspection.rows.find(({ key: name }) => name === 'appended')?.value === count;
    }, n);
    await frames(page);
    measured.push((await work()) - before);
    assert.ok(isShown);
  }
  return measured;
}

describe('a large session', () => {
  const bench = workbench();

  for (const [what, seed, count, last] of [
    [`${EVENTS} events`, manyEvents, EVENTS, EVENTS],
    [`${KEYS} keys`, manyKeys, KEYS, 50],
  ]) {
    for (const where of ['in the page', 'of a server']) {
      it(`with ${what} ${where} is shown, travelled through, and appended to`, async (t) => {
        const given = { mount: { write: true, session: key }, init: watchPaint };
        const service = new SessionService();
        t.after(() => service.close());
        if (where === 'of a server') await seed({ service, arg: { key, count } });
        const page =
          where === 'of a server'
            ? await bench.overServer(t, service, given)
            : await bench.inPage(t, { ...given, seed, arg: { key, count } });
        await page.waitForFunction(() => globalThis.loaded !== undefined);
        await page.evaluate(() => globalThis.inspection.settled());
        const { painted, loaded } = await page.evaluate(() => ({
          painted: globalThis.painted,
          loaded: globalThis.loaded,
        }));
        t.diagnostic(
          `${what} ${where}: first paint after ${painted.toFixed(0)} ms, whole after ${loaded.toFixed(0)} ms`,
        );
        t.diagnostic(`${what} ${where}: work of a step of the slider ${told(await steps(page, last))}`);
        t.diagnostic(`${what} ${where}: work of an appended event ${told(await appends(page))}`);
      });
    }
  }
});
