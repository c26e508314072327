/**
 * The command line.
 */
import { parseArgs } from 'node:util';

/** The text that `--help` prints. */
export const HELP = `Replays conversations through ADK's Runner on StatepadSessionService, offline, with a scripted model.

usage: npm start [-- [options] [conversations.jsonl]]

  -q, --quiet     only the totals, and what is wrong
  -v, --verbose   every conversation in full, with every instruction
  --no-serve      does not serve the page afterwards
  -h, --help      this text

Without a file it plays the conversations in examples/conversations.jsonl. A file holds one JSON object per line:

  {"id": "...", "services": ["..."], "final": {"city": "Lisbon"}, "turns": [
    {"author": "user", "text": "...", "delta": {"city": "Lisbon"}, "deleted": ["date"]},
    {"author": "agent", "text": "..."}]}

and, if you like, "user" (whose session it is; else every conversation has its own user) and "instruction" (the
template of the answering agent). Every text, delta and deletion goes through the agents into the session's events;
at the end each final state is compared with "final".

exit code: 0 all equal; 1 a line was broken or a state differed; 2 wrong usage or a file that can't be read`;

/** A command line that makes no sense. */
export class UsageError extends Error {}

/**
 * @param {readonly string[]} args
 * @returns {{ help: boolean, quiet: boolean, verbose: boolean, file: string | undefined }}
 */
export function readOptions(args) {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        quiet: { type: 'boolean', short: 'q', default: false },
        verbose: { type: 'boolean', short: 'v', default: false },
      },
    });
    if (positionals.length > 1) throw new UsageError(`one file at a time, got ${positionals.length}`);
    if (values.quiet && values.verbose) throw new UsageError('--quiet and --verbose exclude each other');
    return { help: values.help, quiet: values.quiet, verbose: values.verbose, file: positionals[0] };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error instanceof Error ? error.message : String(error));
  }
}
