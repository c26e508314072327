// The texts of help.

import { HELP_OPTION } from './read-arguments.js';
import type { Command, HelpSection, Option } from './command.js';

/** The widest line, in columns. */
const WIDTH = 80;
/** The widest first column, unless a section has another one. */
const WIDEST = 26;

/** The help of the program. */
export function helpOf(commands: readonly Command[]): string {
  return [
    'Usage: statepad COMMAND',
    section({ title: 'Commands', rows: commands.map(({ name, summary }) => [name, summary] as const) }),
    section({
      title: 'Options',
      rows: [
        ['-h, --help', 'shows this; statepad COMMAND --help that of a command'],
        ['-v, --version', 'shows the version'],
      ],
    }),
  ].join('\n\n');
}

/** The help of a command. */
export function helpOfCommand({ name, usage, summary, operands, options, sections }: Command): string {
  const all: readonly (readonly [string, Option])[] = [...Object.entries(options), ['help', HELP_OPTION]];
  const rows = all.map(([long, option]) => [nameOf(long, option), meaningOf(option)] as const);
  const parts = [...operands, { title: 'Options', rows }, ...sections];
  return [`Usage: statepad ${name} ${usage}`, summary, ...parts.map(section)].join('\n\n');
}

function meaningOf({ help, default: standard }: Option): string {
  return standard === undefined ? help : `${help} (default: ${standard})`;
}

function nameOf(long: string, { short, value, type }: Option): string {
  const name = short === undefined ? `--${long}` : `-${short}, --${long}`;
  return type === 'string' ? `${name} ${value ?? 'VALUE'}` : name;
}

function section({ title, rows, widest: most = WIDEST }: HelpSection): string {
  const widest = Math.min(most, Math.max(...rows.map(([name]) => name.length)));
  const lines = rows.flatMap(([name, meaning]) => {
    const [first = '', ...more] = wrapped(meaning, WIDTH - widest - 4);
    const indent = ' '.repeat(widest + 4);
    const begin = name.length > widest ? [`  ${name}`, indent + first] : [`  ${name.padEnd(widest)}  ${first}`];
    return [...begin, ...more.map((line) => indent + line)];
  });
  return [`${title}:`, ...lines].join('\n');
}

/** A text in lines of a width. */
function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else {
      lines.push(word);
    }
  }
  return lines;
}
