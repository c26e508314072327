// Tables on a terminal and elsewhere, their widths, and lines at the pace of the reader.

import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { source } from '../../support/source.mjs';

const { Table, Output, ReaderGone, widthOf, cutTo, padTo } = await source(
  'cli/output/table.ts',
  'cli/output/output.ts',
  'cli/output/width.ts',
  'cli/errors.ts',
);

/** Texts, and the columns that they take. */
const WIDTHS = [
  ['', 0],
  ['abc', 3],
  ['ünï', 3],
  ['e\u0301', 1],
  ['潮の満', 6],
  ['ｶﾅ', 2],
  ['ＡＢ', 4],
  ['한글', 4],
  ['👩‍🚀', 2],
  ['🇫🇷', 2],
  ['❤️', 2],
  ['…→', 2],
  ['नमस्ते', 3],
];

/** A text, the most columns, and what is kept. */
const CUTS = [
  ['abc', 3, 'abc'],
  ['abcd', 3, 'ab…'],
  ['潮の満', 6, '潮の満'],
  ['潮の満', 5, '潮の…'],
  ['潮の満', 4, '潮…'],
  ['a👩‍🚀b', 3, 'a…'],
  ['abc', 1, '…'],
  ['abc', 0, ''],
];

describe('the width of a text', () => {
  for (const [text, width] of WIDTHS) {
    it(`is ${width} for ${JSON.stringify(text)}`, () => assert.equal(widthOf(text), width));
  }

  for (const [text, most, kept] of CUTS) {
    it(`${JSON.stringify(text)} is cut to ${most} columns as ${JSON.stringify(kept)}`, () => {
      assert.equal(cutTo(text, most), kept);
      assert.ok(widthOf(kept) <= most);
    });
  }

  it('is made up for by blanks', () => assert.deepEqual([padTo('潮', 4), padTo('abcd', 2)], ['潮  ', 'abcd']));
});

/** A stream that keeps what is written; a terminal with `columns`. */
class Stream extends EventEmitter {
  text = '';
  destroyed = false;
  isFull = false;
  constructor(columns) {
    super();
    Object.assign(this, columns === undefined ? {} : { isTTY: true, columns });
  }
  write(text, done) {
    this.text += text;
    done?.();
    return !this.isFull;
  }
}

/** The lines of a table of these rows. */
async function printed(columns, titles, rows) {
  const stream = new Stream(columns);
  const output = new Output(stream);
  const table = new Table(output, titles);
  for (const row of rows) await table.row(row);
  await table.end();
  await output.end();
  return stripVTControlCharacters(stream.text).split('\n').slice(0, -1);
}

const TITLES = [{ title: 'NAME' }, { title: 'COUNT', align: 'right' }, { title: 'VALUE', isFlexible: true }];

describe('a table', () => {
  it('is as wide as its rows need where nobody looks', async () => {
    const long = 'x'.repeat(300);
    assert.deepEqual(
      await printed(undefined, TITLES, [
        ['潮', '1', long],
        ['abcdef', '20', ''],
      ]),
      ['NAME    COUNT  VALUE', `潮          1  ${long}`, 'abcdef     20'],
    );
  });

  it('is no wider than the terminal', async () => {
    const lines = await printed(30, TITLES, [
      ['abc', '1', 'x'.repeat(50)],
      ['潮の満', '20', '潮'.repeat(20)],
    ]);
    assert.deepEqual(lines, [
      'NAME    COUNT  VALUE',
      `abc         1  ${'x'.repeat(14)}…`,
      `潮の満     20  ${'潮'.repeat(7)}…`,
    ]);
    for (const line of lines) assert.ok(widthOf(line) <= 30);
  });

  it('gives the room that one text does not need to the other', async () => {
    const titles = [
      { title: 'A', isFlexible: true },
      { title: 'B', isFlexible: true },
    ];
    assert.deepEqual(await printed(40, titles, [['x'.repeat(60), 'yyy']]), [
      `A${' '.repeat(36)}B`,
      `${'x'.repeat(34)}…  yyy`,
    ]);
  });

  it('obeys nothing that is in its texts', async () => {
    const [, row] = await printed(80, TITLES, [['\x1b[31mred', '1', 'a\nb']]);
    assert.equal(row, '\\u001b[31mred      1  a\\nb');
  });

  it('without rows prints nothing', async () => assert.deepEqual(await printed(80, TITLES, []), []));

  it('prints the first rows before it knows the others', async () => {
    const stream = new Stream(80);
    const table = new Table(new Output(stream), TITLES);
    for (let row = 0; row < 64; row++) await table.row([`row ${row}`, '1', '']);
    assert.match(stripVTControlCharacters(stream.text), /^NAME/);
  });
});

describe('standard output', () => {
  it('writes the first line at once', async () => {
    const stream = new Stream();
    await new Output(stream).line('first');
    assert.equal(stream.text, 'first\n');
  });

  it('waits for a reader that is slow', async () => {
    const stream = new Stream();
    stream.isFull = true;
    const output = new Output(stream);
    let isWritten = false;
    const waiting = once(stream, 'newListener');
    const line = output.line('x').then(() => (isWritten = true));
    await waiting;
    assert.equal(isWritten, false);
    stream.emit('drain');
    await line;
    assert.equal(stream.listenerCount('drain') + stream.listenerCount('close'), 0);
  });

  it('tells that its reader is gone, once it waits for it and ever after', async () => {
    const stream = new Stream();
    stream.isFull = true;
    const output = new Output(stream);
    const waiting = once(stream, 'newListener');
    const line = output.line('x');
    await waiting;
    stream.emit('error', Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
    await assert.rejects(line, ReaderGone);
    await assert.rejects(output.end(), ReaderGone);
  });
});
