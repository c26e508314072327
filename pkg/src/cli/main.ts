// From the arguments of the process to a command, and from its end to the code that the process exits with.

import { readFileSync } from 'node:fs';
import process from 'node:process';
import { readArguments } from './read-arguments.js';
import { COMMANDS } from './commands.js';
import { CommandError, EXIT, ReaderGone, UsageError } from './errors.js';
import { helpOf, helpOfCommand } from './help.js';
import { Secrets } from './secrets.js';
import { tell, tellError, type Speaker } from './tell.js';
import type { Command } from './command.js';

/**
 * Runs the command that the arguments of the process name, and ends the process. `entry` is the URL of the file that
 * calls it, in the folder beside the package.json.
 */
export async function main(entry: string): Promise<void> {
  const args = process.argv.slice(2);
  const command = COMMANDS.find(({ name }) => name === args[0]);
  const debug = (process.env['DEBUG'] ?? '') !== '';
  const name = command === undefined ? 'statepad' : `statepad ${command.name}`;
  const speaker = { name, secrets: new Secrets(), debug };
  // Nobody reads any more: there is nothing to say it to.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  process.removeAllListeners('warning');
  process.on('warning', (warning) => tellWarning(warning, speaker));
  process.on('uncaughtException', (error) => process.exit(fail(error, speaker)));
  let code: number;
  try {
    code = await run(command, args, speaker, new URL('../package.json', entry));
  } catch (error) {
    code = fail(error, speaker);
  }
  // Connections of drivers, and sockets of clients, may still be open.
  process.exit(code);
}

/** Tells a warning of the process. That SQLite is new in Node is none. */
function tellWarning(warning: Error, speaker: Speaker): void {
  if (warning.name !== 'ExperimentalWarning') {
    tell(speaker, warning.message);
  }
}

/** Tells an error. Returns the code to exit with. */
function fail(error: unknown, speaker: Speaker): number {
  const isUsage = error instanceof UsageError;
  if (!(error instanceof ReaderGone)) {
    tellError({ ...speaker, debug: speaker.debug && !isUsage }, error);
  }
  if (isUsage) {
    process.stderr.write(`${speaker.name} --help shows how\n`);
  }
  return error instanceof CommandError ? error.code : EXIT.failure;
}

async function run(
  command: Command | undefined,
  args: readonly string[],
  speaker: Speaker,
  manifest: URL,
): Promise<number> {
  if (command === undefined) {
    return runWithout(args, manifest);
  }
  const read = readArguments(command, args.slice(1));
  if (read === 'help') {
    print(helpOfCommand(command));
    return EXIT.ok;
  }
  const loaded = await command.load();
  return await loaded.run(read, { folder: process.cwd(), ...speaker });
}

/** Answers a command line that names no command. Throws `UsageError`. */
function runWithout([first]: readonly string[], manifest: URL): number {
  switch (first) {
    case '-h':
    case '--help':
      print(helpOf(COMMANDS));
      return EXIT.ok;
    case '-v':
    case '--version':
      print(versionIn(manifest));
      return EXIT.ok;
    case undefined:
      process.stderr.write(`${helpOf(COMMANDS)}\n`);
      return EXIT.usage;
    default:
      throw new UsageError(`there is no such command; there are: ${COMMANDS.map(({ name }) => name).join(', ')}`);
  }
}

/** The version of the package. That of a source tree has none. */
function versionIn(manifest: URL): string {
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly version?: string };
  return version ?? 'unreleased';
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
