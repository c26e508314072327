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

const { show, settingsOf: settingsOfShow } = await source('cli/commands/show.ts', 'cli/show/settings.ts');

const { exportCommand, importCommand, verify } = await source(
  'cli/commands/export.ts',
  'cli/commands/import.ts',
  'cli/commands/verify.ts',
);
const { sweep, settingsOf: settingsOfSweep } = await source('cli/commands/sweep.ts', 'cli/sweep/settings.ts');
const { render, settingsOf: settingsOfRender } = await source('cli/commands/render.ts', 'cli/render/settings.ts');

const PAGE = 'docs/command-line.md';
const text = textOf(PAGE);
/** The rows of the table under a heading: a list of cells each. */
const rowsUnder = (heading) => {
  const [, section] = text.split(`\n### ${heading}\n`);
  const lines = section.split('\n### ')[0].split('\n');
  return lines.filter((line) => /^\| `/.test(line)).map((line) => line.split('|').map((cell) => cell.trim()));
};

/** The calls of a command in the blocks of the page, as arguments. */
const callsOf = (name) =>
  blocksOf(text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code }) => code.trim().split('\n'))
    .filter((line) => line.startsWith(`npx statepad ${name} `))
    .map((line) => line.replaceAll("'", '').split(' ').slice(3));

/** Reads the addresses of a call. */
const addresses = ({ positionals }) => positionals.forEach((address) => addressOf(address));

/** The commands with options, the heading of their table, and the reading of their arguments. */
const COMMANDS = [
  { command: serve, heading: 'Options', read: settingsOf },
  { command: show, heading: 'Options of show', read: (args) => settingsOfShow(args, Date.now()) },
  { command: inspecting.inspect, heading: 'Options of inspect', read: inspecting.settingsOf },
  { command: exportCommand, heading: 'Options of export', read: addresses },
  { command: importCommand, heading: 'Options of import', read: addresses },
  { command: verify, heading: 'Options of verify', read: addresses },
  { command: sweep, heading: 'Options of sweep', read: settingsOfSweep },
  { command: render, heading: 'Options of render', read: settingsOfRender },
];

describe(PAGE, () => {
  for (const { command, heading, read } of COMMANDS) {
    it(`has every option of ${command.name} with its default, and no other`, () => {
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
    });

    it(`has calls of ${command.name} that are understood`, () => {
      const calls = callsOf(command.name);
      assert.ok(calls.length > 0);
      for (const args of calls) read(readArguments(command, args));
    });
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

  it('has a token file whose lines grant what their comments say', () => {
    const { code } = blocksOf(text).find((block) => block.heading === 'Tokens');
    const principals = tokensIn(new TextEncoder().encode(code), 'tokens.txt').map(({ principal }) => principal);
    assert.deepEqual(
      principals.map(({ id, apps, users, writes, may }) => [id, apps, users, writes, may]),
      [
        ['shop', ['shop'], 'all', ['session', 'user', 'app'], ['sweep']],
        ['ana', ['shop'], ['ana'], undefined, undefined],
        [principals[2].id, ['shop', 'tutor'], 'all', [], undefined],
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
