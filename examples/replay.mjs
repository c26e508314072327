/**
 * Replays conversations through ADK's own Runner on statepad. Run it with `npm start`; `npm start -- --help` says
 * more.
 */
import { readFile } from 'node:fs/promises';
import { LogLevel, setLogLevel } from '@google/adk';
import { StatepadSessionService } from 'statepad/adk';
import { compareFinal, turnsInLog } from './replay/check.mjs';
import { HELP, readOptions, UsageError } from './replay/options.mjs';
import { play } from './replay/play.mjs';
import { print, printer, printMismatch, progress, silent } from './replay/print.mjs';
import { readConversations } from './replay/read.mjs';

const SHIPPED = new URL('./conversations.jsonl', import.meta.url);
/** Up to so many turns are printed in full; longer input gets a line of progress. */
const FULL = 100;

process.stdout.on('error', (error) => {
  if (/** @type {NodeJS.ErrnoException} */ (error).code === 'EPIPE') process.exit(0);
  throw error;
});
process.exitCode = await main(process.argv.slice(2));

/** @param {string[]} args @returns {Promise<number>} the exit code */
async function main(args) {
  setLogLevel(LogLevel.ERROR);
  let options;
  let text;
  try {
    options = readOptions(args);
    if (options.help) {
      print(HELP);
      return 0;
    }
    text = await readFile(options.file ?? SHIPPED, 'utf8');
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const hint = error instanceof UsageError ? '\nnpm start -- --help shows how' : '';
    process.stderr.write(`replay: ${error.message}${hint}\n`);
    return 2;
  }
  return replay(readConversations(text), options);
}

/**
 * Plays what could be read and prints the totals.
 *
 * @param {ReturnType<typeof readConversations>} input
 * @param {{ quiet: boolean, verbose: boolean }} options
 */
async function replay({ conversations, broken }, { quiet, verbose }) {
  for (const { line, wrong } of broken) print(`line ${line}: ${wrong}`);
  const turns = conversations.reduce((sum, conversation) => sum + conversation.turns.length, 0);
  const full = !quiet && (verbose || turns <= FULL);
  const watcher = full ? printer({ all: verbose }) : silent;
  const bar = quiet || full ? undefined : progress(conversations.length);
  const service = new StatepadSessionService();
  const totals = { turns: 0, logged: 0, events: 0, equal: 0 };
  const started = performance.now();

  for (const [index, conversation] of conversations.entries()) {
    const session = await play(conversation, service, watcher).catch((/** @type {unknown} */ error) => String(error));
    totals.turns += conversation.turns.length;
    if (typeof session === 'string') {
      bar?.clear();
      print(`  ${conversation.id}: stopped with ${session}`);
    } else {
      totals.events += session.events.length;
      totals.logged += turnsInLog(conversation.turns, session.events);
      const mismatches = compareFinal(conversation.final, session.state);
      if (mismatches.length === 0) totals.equal += 1;
      else bar?.clear();
      for (const mismatch of mismatches) printMismatch(conversation.id, mismatch);
      if (full && mismatches.length === 0)
        print(`  the final state is as expected, ${session.events.length} events\n`);
    }
    bar?.at(index + 1, totals);
  }

  const seconds = (performance.now() - started) / 1000;
  const rate = seconds > 0 ? Math.round(totals.events / seconds) : 0;
  print(
    `${conversations.length} sessions, ${totals.turns} turns, ${totals.events} events in ${seconds.toFixed(2)} s, ${rate} events/s`,
  );
  print(`turns in the logs:       ${totals.logged} of ${totals.turns}`);
  print(`final states equal:      ${totals.equal} of ${conversations.length}`);
  if (broken.length > 0) print(`broken lines:            ${broken.length}`);
  const good = broken.length === 0 && totals.equal === conversations.length && totals.logged === totals.turns;
  return good ? 0 : 1;
}
