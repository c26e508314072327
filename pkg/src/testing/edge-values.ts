// Texts and values that stores have mishandled.

import type { Json } from '../model/types.js';

/** Separators in the paths, queries or keys of many stores. */
export const SEPARATORS = [
  '',
  '/',
  ':',
  '|',
  ',',
  '.',
  '-',
  '_',
  ' ',
  '\n',
  '\u0000',
  '\u001f',
  '"',
  "'",
  '\\',
  '%2F',
  '::',
  "','",
  '\uffff',
];

/** Texts that must all stay distinct. */
export const TEXTS: readonly string[] = [
  // Members of objects, or names that objects treat specially.
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'toJSON',
  'then',
  'length',
  // Empty texts, and texts that look like nothing, a number or a boolean.
  '',
  ' ',
  '  ',
  'null',
  'undefined',
  'NaN',
  'true',
  'false',
  '0',
  '00',
  '-0',
  '1',
  '01',
  '1.0',
  '1e0',
  '0x1',
  '10',
  '9',
  // Separators, wildcards, quotes, escapes.
  '/',
  '//',
  '.',
  '..',
  '../x',
  ':',
  '|',
  ',',
  ';',
  '#',
  '?',
  '*',
  '%',
  '_',
  'x%',
  'x_',
  'xy',
  '$',
  '{',
  '}',
  '{x}',
  '[',
  ']',
  '@',
  '&',
  '=',
  '~',
  '"',
  "'",
  '`',
  '\\',
  '\\\\',
  '\\0',
  '\\u0000',
  "'; --",
  '%00',
  '%2F',
  '\n',
  '\r\n',
  '\t',
  '\u0000',
  '\u0000\u0000',
  'x\u0000',
  '\u001f',
  '\u007f',
  // Case, spaces at the end, forms of one character.
  'x',
  'X',
  'x ',
  ' x',
  'x\n',
  '\u00e9',
  'e\u0301',
  '\u00c9',
  'ß',
  'ss',
  'SS',
  'ı',
  'I',
  'i',
  'İ',
  'ﬁ',
  'fi',
  '\u00c5',
  '\u212b',
  // Far from Latin; in the last group the orders of UTF-8 and UTF-16 differ.
  '名前',
  'имя',
  'اسم',
  'नाम',
  '\u200d',
  '\u2028',
  '\u2029',
  '\ufeff',
  'x\ufeff',
  '\u0600',
  '\ud7ff',
  '\ue000',
  '\ufffd',
  '\uffff',
  '\u{10000}',
  '\u{10ffff}',
  '😀',
  '👩‍👩‍👧',
  '\ue000x',
  '😀x',
];

/** Ids in UTF-8 order, which is not that of UTF-16: surrogates come before U+E000 there. */
export const IDS: readonly string[] = [
  '',
  '\u0000',
  ' ',
  '-',
  '0',
  '1',
  '10',
  '2',
  'A',
  'B',
  'Z',
  '_',
  'a',
  'aa',
  'b',
  '\u007f',
  '\u00e9',
  '\u0416',
  '\u4e2d',
  '\ud7ff',
  '\ue000',
  '\ufffd',
  '\uffff',
  '\u{10000}',
  '😀',
  '\u{10ffff}',
];

/** A text of this many letters that hardly compresses. */
export function letters(length: number): string {
  let seed = 1;
  let text = '';
  while (text.length < length) {
    // Of the minimal standard generator.
    seed = (seed * 48_271) % 2_147_483_647;
    text += String.fromCharCode(97 + (seed % 26));
  }
  return text;
}

/** Sorts texts by their UTF-8 bytes. */
export function inByteOrder(texts: readonly string[]): string[] {
  const encoder = new TextEncoder();
  const bytes = new Map(texts.map((text) => [text, encoder.encode(text)]));
  return [...texts].sort((a, b) => compareBytes(bytes.get(a) ?? [], bytes.get(b) ?? []));
}

function compareBytes(a: ArrayLike<number>, b: ArrayLike<number>): number {
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = (a[index] ?? 0) - (b[index] ?? 0);
    if (order !== 0) {
      return order;
    }
  }
  return a.length - b.length;
}

/** A value nested to this depth, by arrays and objects in turn. */
export function nested(levels: number): Json {
  let value: Json = 'the inmost';
  for (let level = 0; level < levels; level++) {
    value = level % 2 === 0 ? [value] : { x: value };
  }
  return value;
}

/** Values at the limits of JSON. */
export const VALUES: readonly Json[] = [
  null,
  true,
  false,
  '',
  [],
  {},
  [[]],
  [{}],
  { x: [] },
  { x: {} },
  { x: null },
  [null],
  [[], {}, null, '', 0, false],
  0,
  -0,
  1,
  -1,
  0.1,
  0.1 + 0.2,
  1 / 3,
  1.5,
  100,
  1e15,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 53),
  2 ** 63,
  2 ** 64,
  1e20,
  1e21,
  1e-6,
  1e-7,
  1e308,
  -1e308,
  Number.MAX_VALUE,
  5e-324,
  123_456_789.123_456_79,
  ...TEXTS,
  'a\u0000b',
  '\\u0000',
  '\\ud800',
  '"\\"',
  '</script>',
  '\b\f\v',
  '\u0080\u009f',
  '[]',
  '{}',
  '{"x":1}',
  '1e400',
  'x'.repeat(10_000),
  { b: 1, a: 2 },
  { a: 2, b: 1 },
  { 2: 'x', 1: 'y' },
  { '': 1 },
  { '\u0000': 1 },
  { 'a.b': 1, $set: { x: 1 } },
  { ['__proto__']: { x: 1 }, constructor: { prototype: null } },
  { toJSON: 'x', then: 'y', length: 3 },
  { set: { a: 1 }, unset: ['b'] },
  { type: 'Buffer', data: [1, 2] },
  [1, 'two', [3, { four: [5, { six: null }] }]],
  nested(100),
];

/** Texts of events: a store returns each unchanged, whatever it means. */
export const EVENT_TEXTS: readonly string[] = [
  '{}',
  'null',
  '0',
  '""',
  '[]',
  '-0',
  '1.0',
  '1E5',
  '100000000000000000000000001',
  '0.1000',
  '{ "b" :\t1.0 ,\r\n"a": "\\u0041" , "b": 2 }\n',
  ' \n{"x":1} ',
  '{"x":1,"x":2}',
  '{"b":1,"a":2}',
  '{"2":1,"1":2}',
  '{"__proto__":{"x":1},"constructor":null}',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\ud83d\\ude00"',
  '"\\/"',
  '"\\\\u0000"',
  '"\u2028\u2029\ufeff\u007f\u0080"',
  '"\ud83d\ude00 名前 e\u0301 é"',
  '"it\'s %s $1 ? :x @y ` ; --"',
  JSON.stringify(nested(100)),
  JSON.stringify(TEXTS),
];

/** True when a value has the character NUL in a text or a name. */
export function hasNul(value: unknown): boolean {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).some(([name, item]) => hasNul(name) || hasNul(item))
    : typeof value === 'string' && value.includes('\0');
}
