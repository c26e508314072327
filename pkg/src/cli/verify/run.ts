// `statepad verify`: checks the storage, the log of each session, and the values of apps and users.

import { textOf, type Fault } from './fault.js';
import { checkedSession, type Checked } from './session-log.js';
import { checkedValues, type Scope } from './shared-values.js';
import { checkedStorage } from './storage.js';
import { addressOf, shownAddress, type Address } from '../addresses.js';
import { EXIT } from '../errors.js';
import { Output } from '../output/output.js';
import { Progress } from '../output/progress.js';
import { appsIn, sessionsIn, usersIn, type Listed } from '../sources/walk.js';
import { tellError } from '../tell.js';
import { visible, visibleJson } from '../visible.js';
import { openedToRead } from '../work/reading.js';
import { CACHED_EVENTS } from '../work/exported.js';
import { counted, selectionOf, type Selection } from '../work/filter.js';
import { interruption } from '../work/interruption.js';
import { isStatepadError, type SessionKey } from '../../index.js';
import type { Arguments } from '../arguments.js';
import type { Surroundings } from '../command.js';

/** The sessions that are checked side by side. */
const SIDE_BY_SIDE = 8;

/** Checks everything that is meant. Resolves with the code to exit with. Throws `CommandError`. */
export async function run(args: Arguments, surroundings: Surroundings): Promise<number> {
  const { folder, secrets } = surroundings;
  const [addressText = ''] = args.positionals;
  secrets.hideIn(addressText);
  const address = addressOf(addressText);
  const selection = selectionOf(args, Date.now());
  const signal = interruption();
  const report = new Report(args);
  const storage = await checkedStorage(address, { folder, isQuick: args.has('quick') });
  await report.add(storage);
  try {
    await checkContent({ args, surroundings, address, selection, signal, report });
  } catch (error) {
    if (storage.length === 0 || signal.aborted) {
      throw error;
    }
    // A consequence of what is said above.
    tellError(surroundings, error);
  } finally {
    report.progress.clear();
  }
  return await report.end(shownAddress(address));
}

interface Work extends Pick<Checked, 'signal'> {
  readonly args: Arguments;
  readonly surroundings: Surroundings;
  readonly address: Address;
  readonly selection: Selection;
  readonly report: Report;
}

/** Checks the sessions, and the values of apps and users. */
async function checkContent({ args, surroundings, address, selection, signal, report }: Work): Promise<void> {
  const opened = await openedToRead(address, surroundings, {
    tokenFile: args.optional('token-file'),
    cachedEvents: CACHED_EVENTS,
  });
  try {
    const checked = { source: opened.source, service: opened.service, signal };
    await checkSessions(checked, selection, report);
    await checkValues(checked, selection, report);
  } finally {
    await opened.close();
  }
}

async function checkSessions(checked: Checked, { filter, since }: Selection, report: Report): Promise<void> {
  let waiting: SessionKey[] = [];
  const check = async (): Promise<void> => {
    checked.signal.throwIfAborted();
    const keys = waiting;
    waiting = [];
    for (const { faults, events } of await Promise.all(keys.map(async (key) => await checkedSession(checked, key)))) {
      report.count(events);
      await report.add(faults);
    }
  };
  for await (const listed of sessionsIn(checked.source, filter, since)) {
    waiting.push(keyOf(listed));
    if (waiting.length === SIDE_BY_SIDE) {
      await check();
    }
  }
  await check();
}

/** A session that a list cannot show says why when it is read. */
function keyOf(listed: Listed): SessionKey {
  if ('corrupt' in listed) {
    return listed.corrupt;
  }
  const { appName, userId, id: sessionId } = listed.session;
  return { appName, userId, sessionId };
}

async function checkValues(checked: Checked, { filter }: Selection, report: Report): Promise<void> {
  for await (const scope of scopesIn(checked, filter)) {
    checked.signal.throwIfAborted();
    await report.add(await checkedValues(checked, scope));
  }
}

async function* scopesIn({ source }: Checked, filter: Selection['filter']): AsyncGenerator<Scope> {
  for await (const appName of appsIn(source, filter)) {
    yield { appName };
    try {
      for await (const userId of usersIn(source, appName, filter)) {
        yield { appName, userId };
      }
    } catch (error) {
      if (!isStatepadError(error) || error.code !== 'INVALID_ARGUMENT') {
        throw error;
      }
      // A store that cannot list users.
    }
  }
}

/** Prints findings as they come, and the summary. */
class Report {
  readonly progress: Progress;
  readonly #output = new Output();
  readonly #isJson: boolean;
  readonly #isQuiet: boolean;
  #sessions = 0;
  #events = 0;
  #problems = 0;
  #notes = 0;

  constructor(args: Arguments) {
    this.#isJson = args.has('json');
    this.#isQuiet = args.has('quiet');
    const describe = (sessions: number): string => `${counted(sessions, 'session')} so far`;
    this.progress = new Progress(describe, { isQuiet: this.#isQuiet });
  }

  /** Counts a session with its events. */
  count(events: number): void {
    this.#sessions += 1;
    this.#events += events;
    this.progress.update(this.#sessions);
  }

  /** Prints findings. */
  async add(faults: readonly Fault[]): Promise<void> {
    for (const fault of faults) {
      this.#problems += Number(fault.kind === 'problem');
      this.#notes += Number(fault.kind === 'note');
      this.progress.clear();
      await this.#output.line(this.#isJson ? visibleJson(fault) : visible(textOf(fault)));
      await this.#output.flush();
    }
  }

  /** Prints the summary. Resolves with the code to exit with. */
  async end(store: string): Promise<number> {
    this.progress.clear();
    const [sessions, events, problems, notes] = [this.#sessions, this.#events, this.#problems, this.#notes];
    if (this.#isJson) {
      await this.#output.line(visibleJson({ kind: 'verified', store, sessions, events, problems, notes }));
    } else if (!this.#isQuiet || problems > 0) {
      const found = problems === 0 ? 'no problem' : counted(problems, 'problem');
      const also = notes === 0 ? '' : `, ${counted(notes, 'note')}`;
      await this.#output.line(
        `${store}: ${counted(sessions, 'session')} with ${counted(events, 'event')} checked: ${found}${also}`,
      );
    }
    await this.#output.end();
    return problems === 0 ? EXIT.ok : EXIT.missing;
  }
}
