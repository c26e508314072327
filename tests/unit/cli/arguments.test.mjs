// The arguments of commands, read by their options.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { readArguments, helpOfCommand, UsageError } = await source(
  'cli/read-arguments.ts',
  'cli/help.ts',
  'cli/errors.ts',
);

const COMMAND = {
  name: 'try',
  usage: 'PLACE [options]',
  summary: 'Tries.',
  positionals: ['PLACE'],
  operands: [{ title: 'Places', rows: [['here', 'this one']] }],
  options: {
    port: { type: 'string', short: 'p', value: 'PORT', default: '80', help: 'the port' },
    name: { type: 'string', value: 'NAME', multiple: true, help: `a name ${'and more '.repeat(20)}` },
    file: { type: 'string', help: 'a file' },
    quiet: { type: 'boolean', short: 'q', help: 'says nothing' },
  },
  sections: [],
  load: async () => assert.fail('it is not loaded'),
};

/** Arguments, and the result: `[port, names, file, quiet]`. */
const READ = [
  [['here'], ['80', [], undefined, false]],
  [
    ['here', '--port', '1', '--quiet'],
    ['1', [], undefined, true],
  ],
  [
    ['--port=1', '-q', 'here'],
    ['1', [], undefined, true],
  ],
  [
    ['-p', '1', 'here'],
    ['1', [], undefined, false],
  ],
  [
    ['here', '--name', 'a', '--name=b'],
    ['80', ['a', 'b'], undefined, false],
  ],
  [
    ['here', '--file=-x'],
    ['80', [], '-x', false],
  ],
  [
    ['--file', 'x', '--', 'here'],
    ['80', [], 'x', false],
  ],
];

/** Refused arguments, and the words of each refusal. */
const REFUSED = [
  [[], 'PLACE is missing'],
  [['here', 'there'], 'there is an argument too many: try takes only PLACE'],
  [['here', '--prot', '1'], 'there is no option --prot'],
  [['here', '--s3cret!x'], 'there is no option of such a name'],
  [['here', '-x'], 'there is no option -x'],
  [['here', '--port'], '--port needs a value: --port PORT'],
  [['here', '--port', '--quiet'], '--port needs a value: --port PORT'],
  [['here', '--file'], '--file needs a value: --file VALUE'],
  [['here', '--quiet=yes'], '--quiet takes no value'],
  [['here', '--port=1', '-p', '2'], '-p is given twice'],
  [['here', '-q', '--quiet'], '--quiet is given twice'],
];

const refusal = (message) => (error) => {
  assert.ok(error instanceof UsageError);
  assert.deepEqual([error.message, error.code], [message, 2]);
  return true;
};

describe('arguments', () => {
  for (const [args, expected] of READ) {
    it(`of ${args.join(' ')} are read`, () => {
      const read = readArguments(COMMAND, args);
      assert.deepEqual(read.positionals, ['here']);
      assert.deepEqual([read.text('port'), read.texts('name'), read.optional('file'), read.has('quiet')], expected);
    });
  }

  for (const [args, message] of REFUSED) {
    it(`${JSON.stringify(args)} are refused`, () =>
      assert.throws(() => readArguments(COMMAND, args), refusal(message)));
  }

  for (const args of [['--help'], ['-h'], ['here', '--port', '1', '--help']]) {
    it(`${args.join(' ')} asks for help`, () => assert.equal(readArguments(COMMAND, args), 'help'));
  }

  it('are whole numbers within limits, where numbers are asked for', () => {
    const number = (text) => readArguments(COMMAND, ['here', `--port=${text}`]).number('port', { least: 1, most: 99 });
    assert.equal(number('42'), 42);
    for (const text of ['0', '100', '-1', '1.5', '1e1', '0x1', ' 1', '', 'x']) {
      assert.throws(() => number(text), refusal('--port must be a whole number from 1 to 99'), text);
    }
  });

  it('are one of some words, where words are asked for', () => {
    const choice = (text) => readArguments(COMMAND, ['here', `--port=${text}`]).choice('port', ['a', 'b']);
    assert.equal(choice('b'), 'b');
    assert.throws(() => choice('c'), refusal('--port must be one of a, b'));
  });
});

describe('help', () => {
  const help = helpOfCommand(COMMAND);

  it('names every option, its value and its default', () => {
    for (const part of [
      '-p, --port PORT',
      '(default: 80)',
      '--name NAME',
      '--file VALUE',
      '-q, --quiet',
      '-h, --help',
    ]) {
      assert.ok(help.includes(part), part);
    }
  });

  it('fits a terminal of 80 columns', () => {
    assert.deepEqual(
      help.split('\n').filter((line) => line.length > 80),
      [],
    );
  });
});
