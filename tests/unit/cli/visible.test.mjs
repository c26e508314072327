// Texts of others on a terminal: nothing in them is obeyed.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { visible, visibleLines, visibleJson } = await source('cli/visible.ts');

/** Texts, and what is printed for them. */
const TEXTS = [
  ['plain text, ünïcödé, 潮, 👩‍🚀, é', 'plain text, ünïcödé, 潮, 👩‍🚀, é'],
  ['\x1b[31mred\x1b[0m', '\\u001b[31mred\\u001b[0m'],
  ['\x1b]0;title\x07', '\\u001b]0;title\\u0007'],
  ['a\nb\r\tc', 'a\\nb\\r\\tc'],
  ['\x9b2J', '\\u009b2J'],
  ['del\x7f', 'del\\u007f'],
  ['user\u202etxt.exe', 'user\\u202etxt.exe'],
  ['\u2066a\u2069\u200b\ufeff', '\\u2066a\\u2069\\u200b\\ufeff'],
  ['\u2028\u2029', '\\u2028\\u2029'],
  ['\ud800', '\\ud800'],
  ['\u{e0041}', '\\udb40\\udc41'],
];

describe('a text of others', () => {
  for (const [text, shown] of TEXTS) {
    it(`${JSON.stringify(text)} is printed as ${shown}`, () => assert.equal(visible(text), shown));

    it(`${JSON.stringify(text)} is the same value in printed JSON`, () => {
      const line = visibleJson({ [text]: [text] });
      assert.equal(visible(line), line);
      assert.deepEqual(JSON.parse(line), { [text]: [text] });
    });
  }

  it('keeps the ends of its lines in a message', () => assert.equal(visibleLines('a\n\x1bb'), 'a\n\\u001bb'));
});
