// Reading the arguments of a command by its options.

import { parseArgs } from 'node:util';
import { Arguments } from './arguments.js';
import { UsageError } from './errors.js';
import type { Command, Option } from './command.js';

/** The option that every command has. */
export const HELP_OPTION: Option = { type: 'boolean', short: 'h', help: 'shows this' };

/**
 * The arguments of a command; `help` when it is asked for. Throws `UsageError`. No message repeats an argument, which
 * may be a secret, but for the name of an option.
 */
export function readArguments(command: Command, args: readonly string[]): Arguments | 'help' {
  const options: Readonly<Record<string, Option>> = { ...command.options, help: HELP_OPTION };
  const config = Object.fromEntries(
    Object.entries(options).map(([name, { type, multiple = false, short }]) => [
      name,
      { type, multiple, ...(short !== undefined && { short }) },
    ]),
  );
  const parsed = parseArgs({
    args: [...args],
    options: config,
    allowPositionals: true,
    // Its own messages repeat arguments.
    strict: false,
    tokens: true,
  });
  const given = new Set<string>();
  for (const token of parsed.tokens) {
    if (token.kind === 'option') {
      checkOption(token, options[token.name], given);
    }
  }
  if (parsed.values['help'] === true) {
    return 'help';
  }
  checkPositionals(command, parsed.positionals);
  const defaults = Object.entries(options).flatMap(([name, option]) =>
    option.default === undefined ? [] : [[name, option.default] as const],
  );
  return new Arguments(parsed.positionals, { ...Object.fromEntries(defaults), ...parsed.values });
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  readonly inlineValue?: boolean | undefined;
}

function checkOption(token: OptionToken, option: Option | undefined, given: Set<string>): void {
  const { name, rawName, value } = token;
  if (option === undefined) {
    throw new UsageError(`there is no option ${/^--?[a-z][a-z-]{0,30}$/i.test(rawName) ? rawName : 'of such a name'}`);
  }
  if (option.type === 'boolean' && value !== undefined) {
    throw new UsageError(`${rawName} takes no value`);
  }
  if (option.type === 'string' && (value === undefined || (token.inlineValue === false && /^-./.test(value)))) {
    throw new UsageError(`${rawName} needs a value: ${rawName} ${option.value ?? 'VALUE'}`);
  }
  if (given.has(name) && option.multiple !== true) {
    throw new UsageError(`${rawName} is given twice`);
  }
  given.add(name);
}

function checkPositionals({ name, positionals, optionals = [] }: Command, given: readonly string[]): void {
  const missing = positionals[given.length];
  if (missing !== undefined) {
    throw new UsageError(`${missing} is missing`);
  }
  const all = [...positionals, ...optionals];
  if (given.length > all.length) {
    const wanted = all.length === 0 ? 'no argument' : `only ${all.join(' ')}`;
    throw new UsageError(`there is an argument too many: ${name} takes ${wanted}`);
  }
}
