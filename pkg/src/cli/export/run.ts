// `statepad export`: the sessions of any address as JSON lines.

import { kindOf, redacted } from './line.js';
import { fileTarget, standardOutput, type LineTarget } from './target.js';
import { addressOf } from '../addresses.js';
import { EXIT, MissingError } from '../errors.js';
import { Progress } from '../output/progress.js';
import { Redaction } from '../output/redact.js';
import { tell, tellError } from '../tell.js';
import { openedToRead } from '../work/reading.js';
import { CACHED_EVENTS, exportedLines } from '../work/exported.js';
import { counted, selectionOf, type Selection } from '../work/filter.js';
import { interruption } from '../work/interruption.js';
import type { Arguments } from '../arguments.js';
import type { Surroundings } from '../command.js';
import type { SessionOperations } from '../../client.js';

/** Writes the lines. Resolves with the code to exit with. Throws `CommandError`. */
export async function run(args: Arguments, surroundings: Surroundings): Promise<number> {
  const { secrets } = surroundings;
  const [addressText = ''] = args.positionals;
  secrets.hideIn(addressText);
  const address = addressOf(addressText);
  const selection = selectionOf(args, Date.now());
  const redaction = new Redaction(args.texts('redact'));
  const signal = interruption();
  const opened = await openedToRead(address, surroundings, {
    tokenFile: args.optional('token-file'),
    cachedEvents: CACHED_EVENTS,
  });
  try {
    const out = args.optional('out');
    const target = out === undefined ? standardOutput() : await fileTarget(out, { force: args.has('force') });
    const isQuiet = args.has('quiet');
    const work = { selection, redaction, signal, isQuiet, surroundings };
    try {
      const counts = await written(opened.source, target, work);
      if (counts.sessions + counts.scopes === 0 && !isOpen(selection)) {
        throw new MissingError(`nothing in ${opened.name} has these names`);
      }
      await target.end();
      if (!isQuiet) {
        tell(surroundings, `${counted(counts.sessions, 'session')}, ${counted(counts.events, 'event')}`);
      }
      return counts.unreadable === 0 ? EXIT.ok : EXIT.failure;
    } finally {
      await target.drop();
    }
  } finally {
    await opened.close();
  }
}

interface Work {
  readonly selection: Selection;
  readonly redaction: Redaction;
  readonly signal: AbortSignal;
  readonly isQuiet: boolean;
  readonly surroundings: Surroundings;
}

interface Counts {
  sessions: number;
  events: number;
  /** Lines with values. */
  scopes: number;
  unreadable: number;
}

async function written(
  source: SessionOperations,
  target: LineTarget,
  { selection, redaction, signal, isQuiet, surroundings }: Work,
): Promise<Counts> {
  const counts: Counts = { sessions: 0, events: 0, scopes: 0, unreadable: 0 };
  const progress = new Progress((sessions) => `${counted(sessions, 'session')} so far`, { isQuiet });
  const lines = exportedLines(source, selection, {
    signal,
    onUnreadable: ({ appName, userId, sessionId }, error) => {
      counts.unreadable += 1;
      progress.clear();
      tell(surroundings, `left out, as it cannot be read: session ${sessionId} of ${userId} in ${appName}`);
      tellError(surroundings, error);
    },
  });
  try {
    for await (const line of lines) {
      signal.throwIfAborted();
      const kind = kindOf(line);
      counts.sessions += Number(kind === 'session');
      counts.events += Number(kind === 'event');
      counts.scopes += Number(kind === 'scope' && !line.endsWith('"state":{}}'));
      await target.line(redacted(line, redaction));
      progress.update(counts.sessions);
    }
  } finally {
    progress.clear();
  }
  return counts;
}

/** True when all sessions are meant, or those since a time, which may be none. */
function isOpen({ filter: { app, user, session }, since }: Selection): boolean {
  return since !== undefined || (app.isOpen && user.isOpen && session.isOpen);
}
