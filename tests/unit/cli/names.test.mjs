// Names and patterns on the command line.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { NamePattern, NameFilter } = await source('cli/sources/names.ts');

/** A pattern, the names that it means, others, and the only name that it can mean. */
const PATTERNS = [
  ['ana', ['ana'], ['Ana', 'anab', 'banana', ''], 'ana'],
  ['a*', ['a', 'ana', 'a\nb', 'a*'], ['ba', ''], undefined],
  ['*token*', ['token', 'accessTokens token', '*token*'], ['toke'], undefined],
  ['*', ['', 'a', '👩‍🚀'], [], undefined],
  ['a**b', ['ab', 'axb'], ['a'], undefined],
  ['a\\*', ['a*', 'a\\*'], ['ab', 'a'], 'a*'],
  ['a.b', ['a.b'], ['axb'], 'a.b'],
  ['(a+)$|[b]?{2}^/', ['(a+)$|[b]?{2}^/'], ['a', 'b'], '(a+)$|[b]?{2}^/'],
  ['C:\\data', ['C:\\data'], ['C:data'], 'C:\\data'],
];

describe('a pattern of names', () => {
  for (const [text, meant, others, only] of PATTERNS) {
    it(`${text} means ${meant.map((name) => JSON.stringify(name)).join(', ')}`, () => {
      const pattern = new NamePattern(text);
      for (const name of meant) assert.ok(pattern.matches(name), name);
      for (const name of others) assert.ok(!pattern.matches(name), name);
      assert.equal(pattern.exact, only);
    });
  }
});

describe('a filter of names', () => {
  it('without a pattern means all names, and none by itself', () => {
    const filter = new NameFilter([]);
    assert.deepEqual([filter.isOpen, filter.only, filter.matches('x')], [true, undefined, true]);
  });

  it('with one name means that one', () => {
    const filter = new NameFilter(['ana']);
    assert.deepEqual([filter.isOpen, filter.only, filter.matches('ben')], [false, 'ana', false]);
  });

  it('with several means what any of them means', () => {
    const filter = new NameFilter(['ana', 'b*']);
    const names = ['ana', 'ben', 'cem'].filter((name) => filter.matches(name));
    assert.deepEqual([filter.only, names, filter.text], [undefined, ['ana', 'ben'], '"ana" or "b*"']);
  });
});
