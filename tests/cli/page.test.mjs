// docs/command-line.md says what the program does.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blocksOf, textOf } from '../docs/pages.mjs';
import { source } from '../support/source.mjs';

/** Those of `inspect`, by themselves: some of their names are those of `serve`. */
const inspecting = await source(
  'cli/commands/inspect.ts',
  'cli/inspect/greeting.ts',
  'cli/inspect/settings.ts',
  'cli/read-arguments.ts',
);
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
  for (const [heading, command] of [
    ['Options', serve],
    ['Options of inspect', inspecting.inspect],
  ]) {
    it(`has every option of ${command.name} with its default, and no other`, () => checkOptions(heading, command));
  }

  function checkOptions(heading, command) {
    const documented = rowsUnder(heading).map(([, option, , standard]) => [option, standard]);
    const options = Object.entries(command.options).map(([name, { short, value, default: standard }]) => {
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
  }

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
    const calls = shown.map((line) => /^npx statepad (serve|inspect) (.*)$/.exec(line));
    assert.ok(calls.length > 1);
    for (const [, name, args] of calls) {
      const { command, settings } = {
        serve: { command: serve, settings: settingsOf },
        inspect: { command: inspecting.inspect, settings: inspecting.settingsOf },
      }[name];
      settings(readArguments(command, args.split(' ')));
    }
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
    const [inspector] = blocksOf(text).filter(
      ({ heading, language }) => /of inspect$/.test(heading) && language === 'text',
    );
    const told = inspecting.greetingForPrograms({ url: 'http://x/inspector/#token=y', store: 's', write: false });
    assert.deepEqual(Object.keys(JSON.parse(inspector.code)), Object.keys(JSON.parse(told)));
    const [greeting, log] = blocksOf(text)
      .filter((block) => block.heading === 'For programs')
      .map(({ code }) =>
        code
          .trim()
          .split('\n')
          .map((line) => Object.keys(JSON.parse(line))),
      );
    const keysOf = (line) => Object.keys(JSON.parse(line));
    assert.deepEqual(greeting, [
      keysOf(greetingForPrograms({ url: '', store: '', token: '', inspector: '', insecure: false })),
    ]);
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
