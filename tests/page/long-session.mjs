// A long session on the page: its file, and what the tests of the timeline and of the events look at.

import assert from 'node:assert/strict';
import { DELETED, SessionService } from 'statepad';
import { exportLines } from 'statepad/jsonl';

export const AUTHORS = ['user', 'planner', 'agent'];

/** The writes of event #n of the fixture: 4 events are a turn; `topic` is deleted by #30. */
function deltaOf(n) {
  return {
    ...(n % 5 === 0 ? { topic: n === 30 ? DELETED : `topic ${n}` } : {}),
    ...(n % 8 === 0 ? { 'app:model': `model ${n}` } : {}),
    ...(n % 3 === 0 ? { 'user:theme': n } : {}),
  };
}

/** A file with a session of so many events. */
async function fileWith(count) {
  const service = new SessionService();
  const session = await service.createSession({
    appName: 'tutor',
    userId: 'ana',
    sessionId: 'long',
    state: { topic: 'none yet' },
  });
  for (let n = 1; n <= count; n++) {
    const text = [7, 19, 33].includes(n) ? `a needle in event ${n}` : `words of event ${n}`;
    await service.appendEvent({
      session,
      event: {
        id: `e${n}`,
        author: AUTHORS[n % 3],
        invocationId: `turn-${Math.floor((n - 1) / 4)}`,
        timestamp: Date.UTC(2026, 0, 1) + n * 1000,
        content: { role: 'model', parts: [{ text }] },
        actions: { stateDelta: deltaOf(n) },
        ...(n === 12 ? { branch: 'root.planner', mood: { calm: true } } : {}),
      },
    });
  }
  const lines = [];
  for await (const line of exportLines(service, { appName: 'tutor' })) lines.push(line);
  return { name: 'long.jsonl', mimeType: 'application/jsonl', buffer: Buffer.from(lines.join('\n')) };
}

/** Opens such a file in a page. */
export async function show(page, count) {
  await page.getByLabel('A file with sessions').setInputFiles(await fileWith(count));
  const parts = partsOf(page);
  await parts.moment.and(page.locator(`[max="${count}"]`)).waitFor();
  return parts;
}

/** The parts of the page that the tests look at. */
export function partsOf(page) {
  const region = (name) => page.getByRole('region', { name, exact: true });
  const timeline = region('Timeline');
  const picture = timeline.locator('.scroller');
  const list = region('Events').getByRole('listbox', { name: 'Events' });
  return {
    timeline,
    picture,
    list,
    details: region('Details'),
    moment: timeline.getByRole('slider', { name: 'moment' }),
    overview: timeline.getByRole('img', { name: /^overview of all/ }),
    button: (name) => timeline.getByRole('button', { name, exact: true }),
    mark: (revision) => picture.locator(`.mark[data-revision="${revision}"]`),
    option: (revision) => list.locator(`#event-${revision}`),
    at: (words) => timeline.locator('output').getByText(words).waitFor(),
    event: (revision) =>
      region('Details')
        .getByRole('heading', { name: `Event #${revision}`, exact: true })
        .waitFor(),
    topic: (text) =>
      region('State')
        .getByRole('listitem')
        .filter({ has: page.getByRole('button', { name: 'topic', exact: true }) })
        .getByText(text)
        .first()
        .waitFor(),
  };
}

/** The revisions of the marks that are drawn. */
export const drawn = (picture) =>
  picture.locator('.mark').evaluateAll((marks) => marks.map(({ dataset }) => Number(dataset.revision)));

/** Waits until a condition holds in the page; `what` is for the one who reads the failure. */
export async function until(what, holds) {
  for (const end = Date.now() + 20_000; !(await holds());) {
    assert.ok(Date.now() < end, `never came: ${what}`);
    await new Promise(setImmediate);
  }
}

/** Returns true if an element lies in the visible part of its scroller. */
export async function isInView(element) {
  return (
    (await element.count()) === 1 &&
    (await element.evaluate((it) => {
      const [inner, outer] = [it.getBoundingClientRect(), it.closest('.scroller, [tabindex]').getBoundingClientRect()];
      return (
        inner.left >= outer.left &&
        inner.right <= outer.right &&
        inner.top >= outer.top - 1 &&
        inner.bottom <= outer.bottom + 1
      );
    }))
  );
}

/** Returns true if an element lies in the box of another one. */
export async function isWithin(inner, outer) {
  const [one, other] = await Promise.all([inner.boundingBox(), outer.boundingBox()]);
  return one.y >= other.y && one.y + one.height <= other.y + other.height;
}

export const middle = ({ x, y, width, height }) => [x + width / 2, y + height / 2];
