// The arithmetic of the timeline, without a screen.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';

/** Modules of the page, for Node. */
async function load(...paths) {
  const contents = paths.map((path) => `export * from ${JSON.stringify(path)};`).join('\n');
  const stdin = { contents, resolveDir: fileURLToPath(new URL('../../www/inspector', import.meta.url)), loader: 'ts' };
  const { outputFiles } = await build({ stdin, bundle: true, format: 'esm', packages: 'external', write: false });
  return await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

const picture = await load('./timeline/layout.ts', './timeline/density.ts');

const stepOf = fc.double({ min: 0.01, max: 44, noNaN: true });
const scopesOf = fc.array(fc.integer({ min: 0, max: 7 }), { maxLength: 3000 });

/** A log with so many events: every third is another author's, and a turn is one to four events. */
function placesOf(scopes) {
  const lanes = scopes.map((_, place) => Math.floor(place / 3) % 3);
  const turns = [];
  const turnNumbers = [];
  scopes.forEach((_, place) => {
    const isNew = place === 0 || place % 5 === 0 || place % 7 === 0;
    turns.push(isNew ? place + 1 : turns.at(-1));
    turnNumbers.push((turnNumbers.at(-1) ?? 0) + (isNew ? 1 : 0));
  });
  return { scopes, lanes, turns, turnNumbers };
}

/** The boxes of an outline as it is drawn: `[x, y, width, height]`. */
function boxesOf(path) {
  return path
    .split('z')
    .filter((box) => box !== '')
    .map((box) => /^M(\S+) (\S+)h(\S+?)v(\S+?)h/u.exec(box).slice(1).map(Number));
}

describe('the arithmetic of the timeline', () => {
  it('an event is found where it is drawn, at every zoom that tells events apart', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.double({ min: 3, max: 44, noNaN: true }),
        fc.double({ min: 0.01, max: 0.99, noNaN: true }),
        (count, step, inside) => {
          const { lanes } = placesOf(Array(count).fill(0));
          const revision = Math.max(1, Math.ceil(inside * count));
          assert.equal(picture.eventAt({ x: (revision + inside) * step, lane: 7 }, step, { lanes }), revision);
          assert.equal(
            picture.eventAt({ x: inside * step, lane: 0 }, step, { lanes }),
            undefined,
            'the creation is no event',
          );
          assert.equal(
            picture.eventAt({ x: (count + 1 + inside) * step, lane: 0 }, step, { lanes }),
            undefined,
            'there is nothing after the last one',
          );
        },
      ),
    );
  });

  it('where events share a pixel, one of the lane that is pointed at is found', () => {
    const lanes = Array.from({ length: 1000 }, (_, place) => (place % 10 === 4 ? 1 : 0));
    for (let x = 30; x < 90; x++) {
      const [one, other] = [0, 1].map((lane) => picture.eventAt({ x, lane }, 0.1, { lanes }));
      assert.deepEqual([lanes[one - 1], lanes[other - 1]], [0, 1]);
      assert.ok(Math.abs(one - 10 * x) <= 1 && Math.abs(other - 10 * x) <= 10);
    }
  });

  it('all that is visible is drawn, and at most three times as much', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e7, noNaN: true }),
        fc.integer({ min: 1, max: 3000 }),
        stepOf,
        fc.integer({ min: 0, max: 1e5 }),
        (scroll, width, step, count) => {
          const span = picture.drawnSpan(scroll, width);
          assert.ok(span.from <= scroll && span.to >= scroll + width);
          assert.ok(span.to - span.from <= 3 * width + 3);
          const { first, last } = picture.rangeOf(span, step, count);
          assert.ok(first >= 1 && last <= count && last - first <= (3 * width + 3) / step + 1);
          assert.ok(first === 1 || first * step <= span.from + step);
          assert.ok(last === count || (last + 1) * step >= span.to);
        },
      ),
    );
  });

  it('what is brought into view is in view, and what is in view stays where it is', () => {
    const span = fc
      .tuple(fc.integer({ max: 1e6, min: 0 }), fc.integer({ min: 1, max: 44 }))
      .map(([from, width]) => ({ from, to: from + width }));
    fc.assert(
      fc.property(
        span,
        fc.integer({ min: 0, max: 1e6 }),
        fc.integer({ min: 100, max: 2000 }),
        (wanted, scroll, width) => {
          const next = picture.scrollFor(wanted, { from: scroll, to: scroll + width });
          assert.ok(next >= 0 && wanted.from >= next && wanted.to <= next + width);
          assert.ok(next === scroll || wanted.from < scroll || wanted.to > scroll + width);
        },
      ),
    );
  });

  it('zooming goes through all steps and back, from what fits', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e5 }), fc.integer({ min: 100, max: 2000 }), (count, width) => {
        const fit = picture.fitStep(count, width);
        assert.ok(picture.widthOf(count, fit) <= width + 1e-6);
        const up = [];
        for (let step = fit; step !== undefined; step = picture.zoomed(step, 1, fit)) up.push(step);
        const down = [];
        for (let step = up.at(-1); step !== undefined; step = picture.zoomed(step, -1, fit)) down.push(step);
        assert.equal(up.at(-1), 44);
        assert.equal(down.at(-1), Math.min(fit, 14));
        assert.ok(up.every((step, index) => index === 0 || step > up[index - 1]));
        assert.ok(down.every((step, index) => index === 0 || step < down[index - 1]));
      }),
    );
    assert.ok(
      picture.widthOf(5_000_000, picture.allowedStep(44, 5_000_000)) < 13_000_000,
      'browsers scroll no further',
    );
  });

  it('every other turn is a band, whole, also where its beginning is out of sight', () => {
    const places = placesOf(Array(60).fill(0));
    const bands = picture.bandsOf(places, { first: 1, last: 60 }, 10);
    const isIn = (revision) => bands.some(({ from, to }) => from <= revision * 10 && to >= (revision + 1) * 10);
    places.turnNumbers.forEach((number, place) => assert.equal(isIn(place + 1), number % 2 === 1, `#${place + 1}`));
    for (const { from, to } of picture.bandsOf(places, { first: 13, last: 40 }, 10)) {
      assert.ok(bands.some((band) => band.from === from && (band.to === to || to === 410)));
    }
  });

  it('the ruler names round revisions that have room', () => {
    assert.deepEqual(picture.ticks({ first: 3, last: 17 }, 14), [5, 10, 15]);
    assert.deepEqual(picture.ticks({ first: 1, last: 4 }, 60), [1, 2, 3, 4]);
    assert.deepEqual(
      picture.ticks({ first: 1, last: 100_000 }, 0.012),
      [5000, 10_000, 15_000, 20_000].concat(picture.ticks({ first: 20_001, last: 100_000 }, 0.012)),
    );
    fc.assert(
      fc.property(stepOf, fc.integer({ min: 1, max: 1e5 }), fc.integer({ min: 0, max: 1000 }), (step, first, more) => {
        const found = picture.ticks({ first, last: first + more }, step);
        assert.ok(
          found.every(
            (tick, index) =>
              tick >= first && tick <= first + more && (index === 0 || (tick - found[index - 1]) * step >= 56),
          ),
        );
      }),
    );
  });

  it('a mark has a segment for each scope that was written, and together they fill it', () => {
    for (const isWide of [false, true]) {
      assert.deepEqual(picture.segmentsOf(0, { width: 10, height: 16, isWide }), []);
      assert.deepEqual(
        picture.segmentsOf(6, { width: 10, height: 16, isWide }).map(({ scope, x, y }) => [scope, x, y]),
        [
          ['app', isWide ? 2.5 : 5, isWide ? 8 : 4],
          ['user', isWide ? 7.5 : 5, isWide ? 8 : 12],
        ],
      );
      assert.deepEqual(
        picture.segmentsOf(7, { width: 9, height: 15, isWide }).map(({ scope }) => scope),
        ['session', 'app', 'user'],
      );
    }
  });
});

describe('many events in little room', () => {
  const lanes = { top: 18, height: 24 };

  it('a column shows every scope that an event in it has written, in the lane of the event', () => {
    fc.assert(
      fc.property(
        scopesOf,
        fc.double({ min: 0.05, max: 5.9, noNaN: true }),
        fc.option(fc.array(fc.nat({ max: 2999 }))),
        (scopes, step, wanted) => {
          const places = placesOf(scopes);
          const only =
            wanted === null
              ? undefined
              : [...new Set(wanted)]
                  .filter((place) => place < scopes.length)
                  .map((place) => place + 1)
                  .sort((a, b) => a - b);
          const paths = picture.columnPaths(places, { first: 1, last: scopes.length }, { step, lanes, only });
          const shown = only ?? scopes.map((_, place) => place + 1);
          const rest = {
            session: boxesOf(paths.session),
            app: boxesOf(paths.app),
            user: boxesOf(paths.user),
            none: boxesOf(paths.none),
          };
          const used = new Set();
          for (const revision of shown) {
            const written = ['session', 'app', 'user'].filter(
              (_, index) => (scopes[revision - 1] & (1 << index)) !== 0,
            );
            for (const scope of written) {
              const top = 18 + places.lanes[revision - 1] * 24;
              const box = rest[scope].find(
                ([x, y, width]) =>
                  y >= top && y < top + 24 && x < (revision + 0.5) * step && x + width > (revision + 0.5) * step,
              );
              assert.ok(box, `#${revision} ${scope}`);
              used.add(box);
            }
          }
          assert.ok(
            Object.entries(rest).every(([scope, boxes]) => scope === 'none' || boxes.every((box) => used.has(box))),
            'nothing else is drawn',
          );
          const columns = (scopes.length + 1) / Math.max(Math.ceil(3 / step), 1) + 1;
          assert.ok(Object.values(rest).every((boxes) => boxes.length <= 3 * columns));
        },
      ),
      { numRuns: 60 },
    );
  });

  it('a column is as high as many events of it wrote to the scope', () => {
    // Three events share a column, the creation and two events the first one.
    const places = placesOf([1, 1, 1, 0, 4, 0, 0, 0]);
    const paths = picture.columnPaths(
      { ...places, lanes: places.lanes.fill(0) },
      { first: 1, last: 8 },
      { step: 1, lanes: { top: 0, height: 24 } },
    );
    assert.deepEqual(paths, {
      session: 'M0 3.5h3v5.5h-3zM3 6.25h3v2.75h-3z',
      app: '',
      user: 'M3 18.25h3v2.75h-3z',
      temp: '',
      none: 'M6 11h3v2h-3z',
    });
  });

  it('the overview counts every event once, however the log has grown', () => {
    fc.assert(
      fc.property(scopesOf, fc.array(fc.nat({ max: 3000 })), (scopes, stops) => {
        const events = scopes.map((_, index) => ({ index }));
        const grown = new picture.Density();
        for (const stop of [...stops.sort((a, b) => a - b), scopes.length]) {
          grown.update({ events: events.slice(0, stop), scopes: scopes.slice(0, stop) });
        }
        const whole = new picture.Density();
        whole.update({ events, scopes });
        assert.deepEqual([grown.size, grown.counts], [whole.size, whole.counts]);
        ['session', 'app', 'user'].forEach((scope, index) => {
          const written = scopes.filter((bits) => (bits & (1 << index)) !== 0).length;
          assert.equal(
            whole.counts[scope].reduce((sum, count) => sum + count, 0),
            written,
          );
          assert.ok(whole.counts[scope].length <= 512);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('another log is counted anew, also one that begins in the same way', () => {
    const events = Array.from({ length: 6 }, (_, index) => ({ index }));
    const density = new picture.Density();
    density.update({ events, scopes: [1, 1, 1, 1, 1, 1] });
    density.update({ events: [...events.slice(0, 3), {}, {}, {}, {}], scopes: [1, 1, 1, 2, 2, 2, 2] });
    assert.deepEqual(density.counts, {
      session: [1, 1, 1, 0, 0, 0, 0],
      app: [0, 0, 0, 1, 1, 1, 1],
      user: [0, 0, 0, 0, 0, 0, 0],
    });
    assert.match(density.paths().app, /^M/u);
    assert.equal(density.paths().user, '');
    density.update({ events: [], scopes: [] });
    assert.deepEqual(density.paths(), { session: '', app: '', user: '' });
    density.update({ events, scopes: [0, 0, 4, 0, 0, 0] });
    assert.deepEqual(density.paths(), { session: '', app: '', user: 'M0.42857 0.0000H0.57143v1.0000H0.42857z' });
    density.update({ events: [], scopes: [] });
    assert.deepEqual(density.counts, { session: [], app: [], user: [] });
  });
});
