// The structural difference of two values.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { modelOf } from './bundle.mjs';

const { alignmentOf, changesOf, differenceOf } = await modelOf('align', 'diff');

const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, '', 'x', 'y'),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__', 'constructor'), tie('value'), { noNullPrototype: true }),
  ),
}));
const json = value.map((one) => JSON.parse(JSON.stringify(one)));

/** One side of a difference, put together from its parts. */
function sideOf(difference, side) {
  if (difference.kind !== 'nested') return difference[side];
  const parts = difference.parts.map(({ name, difference: part }) => [name, sideOf(part, side)]);
  const there = parts.filter(([, one]) => one !== undefined);
  return difference.isArray ? there.map(([, one]) => one) : Object.fromEntries(there);
}

describe('a difference', () => {
  it('has both values in its parts, in their order', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const difference = differenceOf(before, after);
        assert.deepEqual(sideOf(difference, 'before'), before);
        assert.deepEqual(sideOf(difference, 'after'), after);
      }),
      { numRuns: 1000 },
    );
  });

  it('has no changes exactly when the values are equal', () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        assert.deepEqual(changesOf(before, structuredClone(before)), []);
        assert.equal(changesOf(before, after).length === 0, isDeepStrictEqual(before, after));
      }),
      { numRuns: 1000 },
    );
  });

  it('takes an insertion into a list for one addition, and a changed item for a change within it', () => {
    const items = Array.from({ length: 1000 }, (_, id) => ({ id, name: `item ${id}` }));
    assert.deepEqual(changesOf(items, [{ id: -1 }, ...items]), [{ path: [0], kind: 'added', after: { id: -1 } }]);
    const changed = items.map((one) => (one.id === 500 ? { ...one, name: 'new' } : one));
    assert.deepEqual(changesOf(items, changed), [
      { path: [500, 'name'], kind: 'changed', before: 'item 500', after: 'new' },
    ]);
    assert.deepEqual(changesOf(items, items.slice(1)), [{ path: [0], kind: 'removed', before: items[0] }]);
  });

  it('tells the members that are gone behind those that they followed', () => {
    const names = ({ parts }) => parts.map(({ name, difference }) => `${name} ${difference.kind}`);
    assert.deepEqual(names(differenceOf({ a: 1, b: 1, c: 1 }, { a: 1, c: 2, d: 1 })), [
      'a same',
      'b removed',
      'c changed',
      'd added',
    ]);
  });

  it('does not mind the order of members, hostile names, depth and length', () => {
    assert.equal(differenceOf({ a: 1, b: 2 }, { b: 2, a: 1 }).kind, 'same');
    assert.deepEqual(
      changesOf({}, JSON.parse('{"__proto__": 1, "constructor": 2}')).map(({ path }) => path[0]),
      ['__proto__', 'constructor'],
    );
    const deep = (leaf, depth = 3000) => JSON.parse(`${'['.repeat(depth)}${leaf}${']'.repeat(depth)}`);
    assert.equal(changesOf(deep(1), deep(2)).length, 1);
    const long = Array.from({ length: 20_000 }, (_, n) => n);
    assert.equal(changesOf(long, [...long].reverse()).length, 20_000);
  });

  it('of a missing value is an addition, a removal, or nothing', () => {
    assert.deepEqual(
      [differenceOf(undefined, 1).kind, differenceOf(1, undefined).kind, differenceOf(undefined, undefined).kind],
      ['added', 'removed', 'same'],
    );
  });
});

describe('an alignment', () => {
  it('has every item of both lists once, in order, and pairs a longest common subsequence', () => {
    const list = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 7 });
    fc.assert(
      fc.property(list, list, (before, after) => {
        const pairs = alignmentOf(before, after, (one, other) => one === other);
        assert.deepEqual(
          pairs.flatMap(([from]) => from ?? []),
          [...before.keys()],
        );
        assert.deepEqual(
          pairs.flatMap(([, to]) => to ?? []),
          [...after.keys()],
        );
        const longest = (from, to) =>
          from === before.length || to === after.length
            ? 0
            : before[from] === after[to]
              ? 1 + longest(from + 1, to + 1)
              : Math.max(longest(from + 1, to), longest(from, to + 1));
        const equal = pairs.filter(
          ([from, to]) => from !== undefined && to !== undefined && before[from] === after[to],
        );
        assert.ok(equal.length >= longest(0, 0));
      }),
    );
  });
});
