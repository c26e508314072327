// The positions that stores make up whose storage counts none: two versions of a scope never have one position, or a
// service would take the values of one for those of the other.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../support/fixtures.mjs';
import { source } from '../../support/source.mjs';

const { Positions: OfVersions } = await source('stores/adk-database/positions.ts');
const { Positions: OfValues } = await source('stores/shared/positions.ts');

/** Notes which version each position of a scope was told for; one has only one. */
function ledger() {
  const versions = new Map();
  return (scope, position, version) => {
    const place = `${scope} ${position}`;
    assert.ok(Number.isSafeInteger(position) && position >= 0, place);
    assert.equal(versions.get(place) ?? version, version, `two versions have the position ${place}`);
    versions.set(place, version);
  };
}

describe('of versions that rows name', () => {
  const ofApp = { app: 'a' };
  const version = (number) => (number === 0 ? null : `v${number}`);
  const seen = (number) => [version(number), number === 0];

  test('two versions never have one position; the next of the latest has the next one', () => {
    const step = fc.record({
      // The age of the version, and the number of others that come between.
      back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(20)),
      others: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(3)),
      act: fc.constantFrom('read', 'read', 'move'),
      user: fc.constantFrom(undefined, 'u', 'v'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const positions = new OfVersions();
        const note = ledger();
        const latest = new Map();
        for (const { back, others, act, user } of steps) {
          const name = user === undefined ? ofApp : { ...ofApp, user };
          const scope = `${user}`;
          const now = (latest.get(scope) ?? 0) + others;
          latest.set(scope, now);
          if (act === 'read') {
            // A read version may be old: another answer was faster.
            const from = Math.max(0, now - back);
            note(scope, positions.of(name, seen(from)), version(from));
            continue;
          }
          const top = positions.top(name);
          const before = positions.of(name, seen(now));
          const after = positions.moved(name, seen(now), version(now + 1));
          latest.set(scope, now + 1);
          note(scope, before, version(now));
          note(scope, after, version(now + 1));
          assert.ok(after > top, 'a position goes back');
          assert.equal(positions.top(name), after);
          if (before >= top) assert.equal(after, before + 1);
          assert.equal(positions.versionAt(name, after), version(now + 1));
          // Told again, it is the same.
          assert.equal(positions.moved(name, seen(now), version(now + 1)), after);
          assert.equal(positions.of(name, seen(now + 1)), after);
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test('one that was made of an older version than the latest is behind all', () => {
    const positions = new OfVersions();
    assert.equal(positions.of(ofApp, [null, true]), 0);
    assert.equal(positions.moved(ofApp, [null, true], 'v1'), 1);
    assert.equal(positions.of(ofApp, ['v5', false]), 2);
    assert.equal(positions.moved(ofApp, ['v1', false], 'v2'), 3);
    assert.deepEqual([positions.of(ofApp, ['v5', false]), positions.of(ofApp, ['v2', false])], [2, 3]);
    assert.deepEqual(
      [2, 3, 4].map((number) => positions.versionAt(ofApp, number)),
      ['v5', 'v2', undefined],
    );
    assert.equal(positions.versionAt(ofApp, undefined), undefined);
  });

  test('an untouched scope is at 0; one with values, or a row, when it is first seen is not where one change leads', () => {
    for (const first of [
      ['v1', false],
      [null, false],
    ]) {
      const positions = new OfVersions();
      assert.equal(positions.of(ofApp, first), 2);
      assert.equal(positions.of({ app: 'b' }, [null, true]), 0);
      assert.equal(positions.of(ofApp, [null, true]), first[0] === null ? 2 : 3);
    }
  });

  test('a version that is not remembered any more gets a number that none had', () => {
    const positions = new OfVersions();
    const note = ledger();
    for (let number = 1; number <= 40; number++) note('a', positions.of(ofApp, [`v${number}`, false]), number);
    const remembered = (number) => positions.versionAt(ofApp, number + 1) === `v${number}`;
    assert.deepEqual([25, 40].map(remembered), [true, true]);
    assert.equal(positions.versionAt(ofApp, 25), undefined);
    const again = positions.of(ofApp, ['v1', false]);
    assert.equal(again, 42);
    note('a', again, 1);
  });

  test('a scope that is not remembered any more goes on behind all that were forgotten', () => {
    const positions = new OfVersions();
    const note = ledger();
    for (let number = 1; number <= 9; number++) note('a', positions.of(ofApp, [`v${number}`, false]), number);
    const kept = { app: 'kept' };
    positions.of(kept, ['v1', false]);
    for (let number = 0; number < 10_000; number++) {
      positions.of({ app: 'a', user: `${number}` }, [null, true]);
      if (number === 5_000) assert.equal(positions.of(kept, ['v1', false]), 2);
    }
    assert.equal(positions.top(kept), 2);
    assert.equal(positions.top(ofApp), 0);
    // Nothing is known of it: it may have been forgotten with values.
    assert.ok(positions.of({ app: 'a', user: 'new' }, [null, true]) > 10);
    note('a', positions.of(ofApp, ['v10', false]), 10);
    assert.ok(positions.top(ofApp) > 10);
  });

  test('what was read is timely when it has a number, or when nothing else was seen meanwhile', () => {
    const positions = new OfVersions();
    assert.equal(positions.isTimely(ofApp, ['v1', false], 0), true);
    positions.of(ofApp, ['v1', false]);
    const top = positions.top(ofApp);
    assert.equal(positions.isTimely(ofApp, ['v0', false], top), true);
    positions.of(ofApp, ['v2', false]);
    assert.equal(positions.isTimely(ofApp, ['v0', false], top), false);
    assert.equal(positions.isTimely(ofApp, ['v1', false], top), true);
    assert.equal(positions.isTimely(ofApp, [null, true], top), false);
    positions.of(ofApp, [null, true]);
    assert.equal(positions.isTimely(ofApp, [null, true], top), true);
  });
});

describe('of values that are compared', () => {
  test('two versions never have one position; a change of what was seen last has the next one', () => {
    const step = fc.record({
      act: fc.constantFrom('read', 'write', 'late', 'lost', 'others'),
      scope: fc.constantFrom('a', 'b'),
      value: fc.nat(2),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const positions = new OfValues();
        const note = ledger();
        const now = { a: {}, b: {} };
        const seenAt = {};
        let lost = 0;
        for (const { act, scope, value } of steps) {
          const writes = positions.writes(scope);
          if (act === 'read') {
            seenAt[scope] = positions.positionOf(scope, now[scope]);
            note(scope, seenAt[scope], JSON.stringify(now[scope]));
            assert.equal(positions.positionOf(scope, { ...now[scope] }), seenAt[scope]);
            assert.equal(positions.writes(scope), writes);
          } else if (act === 'others') {
            now[scope] = { ...now[scope], theirs: value };
          } else if (act === 'lost') {
            now[scope] = { ...now[scope], own: value };
            note(scope, positions.positionAfter(scope), `lost ${(lost += 1)}`);
            assert.equal(positions.writes(scope), writes + 1);
          } else {
            // `late`: what it found is not what was seen last.
            const found =
              act === 'late'
                ? Math.max(0, (seenAt[scope] ?? 0) - 1)
                : (seenAt[scope] ??= positions.positionOf(scope, now[scope]));
            const isLast = positions.positionOf(scope, now[scope]) === found;
            now[scope] = { ...now[scope], own: value };
            const after = positions.written(scope, found, now[scope]);
            note(scope, after, isLast ? JSON.stringify(now[scope]) : `lost ${(lost += 1)}`);
            if (isLast) assert.equal(after, found + 1);
            assert.equal(positions.writes(scope), writes + 1);
          }
        }
      }),
      { numRuns: runs(500) },
    );
  });

  test('an untouched scope is at 0, and what cannot be told is at a position that none has', () => {
    const positions = new OfValues();
    assert.equal(positions.positionOf('a', {}), 0);
    assert.equal(positions.positionOf('b', { x: 1 }), 1);
    const told = [
      positions.unknown(),
      positions.unknown(),
      positions.positionAfter('a'),
      positions.positionOf('a', {}),
    ];
    assert.deepEqual(told, [2, 3, 4, 5]);
    // One that has values may have been forgotten.
    positions.positionOf('c', Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`${index}`, index])));
    assert.equal(positions.positionOf('d', {}), 7);
  });
});
