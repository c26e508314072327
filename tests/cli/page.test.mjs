// docs/command-line.md says what the program does.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blocksOf, textOf } from '../docs/pages.mjs';
import { source } from '../support/source.mjs';

const { ADDRESS_FORMS, addressOf, greetingForPrograms, Log, readArguments, serve, settingsOf, tokensIn } =
  await source(
    'cli/addresses.ts',
    'cli/commands/serve.ts',
    'cli/read-arguments.ts',
    'cli/serve/greeting.ts',
    'cli/serve/log.ts',
    'cli/serve/options.ts',
    'cli/serve/token-file.ts',
  );

const PAGE = 'docs/command-line.md';
const text = textOf(PAGE);
/** The rows of the table under a heading: a list of cells each. */
const rowsUnder = (heading) => {
  const [, section] = text.split(`\n### ${heading}\n`);
  const lines = section.split('\n### ')[0].split('\n');
  return lines.filter((line) => /^\| `/.test(line)).map((line) => line.split('|').map((cell) => cell.trim()));
};

describe(PAGE, () => {
  it('has every option with its default, and no other', () => {
    const documented = rowsUnder('Options').map(([, option, , standard]) => [option, standard]);
    const options = Object.entries(serve.options).map(([name, { short, value, default: standard }]) => {
      const long = value === undefined ? `\`--${name}\`` : `\`--${name} ${value}\``;
      return [short === undefined ? long : `\`-${short}\`, ${long}`, standard];
    });
    assert.deepEqual(
      documented.map(([option]) => option),
      [...options.map(([option]) => option), '`-h`, `--help`'],
    );
    for (const [index, [option, standard]] of options.entries()) {
      if (standard !== undefined) assert.equal(documented[index][1], `\`${standard}\``, option);
    }
  });

  it('has every address', () => {
    const [table] = text.split('\n## Addresses\n')[1].split('\n## ');
    const forms = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, form]) => form);
    assert.deepEqual(
      forms,
      ADDRESS_FORMS.map(({ form }) => form),
    );
    for (const form of forms) addressOf(form);
  });

  it('has commands that are understood', () => {
    const shown = blocksOf(text).flatMap(({ language, code }) => (language === 'sh' ? code.trim().split('\n') : []));
    const calls = shown.map((line) => /^npx statepad serve (.*)$/.exec(line)?.[1].split(' '));
    assert.ok(calls.length > 1);
    for (const args of calls) settingsOf(readArguments(serve, args));
  });

  it('has a token file whose lines grant what their comments say', () => {
    const { code } = blocksOf(text).find((block) => block.heading === 'Tokens');
    const principals = tokensIn(new TextEncoder().encode(code), 'tokens.txt').map(({ principal }) => principal);
    assert.deepEqual(
      principals.map(({ id, apps, users, writes }) => [id, apps, users, writes]),
      [
        ['shop', ['shop'], 'all', ['session', 'user', 'app']],
        ['ana', ['shop'], ['ana'], undefined],
        [principals[2].id, ['shop', 'tutor'], 'all', []],
      ],
    );
    assert.equal(principals[2].ends, Date.UTC(2030, 11, 31));
  });

  it('has every limit of a token', () => {
    const names = rowsUnder('Tokens').flatMap(([, cell]) => [...cell.matchAll(/`(\w+)=`/g)].map(([, name]) => name));
    assert.throws(
      () => tokensIn(new TextEncoder().encode('token x=y'), 'tokens.txt'),
      ({ message }) => message.endsWith(`none of ${names.join('=, ')}=`),
    );
  });

  it('has lines for programs with the members of those that are printed', () => {
    const [greeting, log] = blocksOf(text)
      .filter((block) => block.heading === 'For programs')
      .map(({ code }) =>
        code
          .trim()
          .split('\n')
          .map((line) => Object.keys(JSON.parse(line))),
      );
    const keysOf = (line) => Object.keys(JSON.parse(line));
    assert.deepEqual(greeting, [keysOf(greetingForPrograms({ url: '', store: '', token: '', insecure: false }))]);
    const lines = [];
    const printing = new Log({
      format: 'json',
      quiet: false,
      now: () => new Date(),
      write: (line) => lines.push(line),
    });
    printing.request({ operation: 'x', method: 'GET', status: 200, duration: 1 });
    printing.error('x', '1');
    printing.info('x');
    assert.deepEqual(log, lines.map(keysOf));
  });
});
