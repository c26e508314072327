// `statepad show`: from its arguments to records, which are printed as they come.

import { sessionHistory, sharedHistory } from './history.js';
import { JsonView } from './json-view.js';
import { apps, sessions, users } from './lists.js';
import { session } from './session.js';
import { settingsOf, type ShowSettings } from './settings.js';
import { TableView } from './table-view.js';
import { EXIT, MissingError } from '../errors.js';
import { Output } from '../output/output.js';
import { sessionsIn } from '../sources/walk.js';
import { tell } from '../tell.js';
import { openedToRead } from '../work/reading.js';
import type { ShowRecord } from './records.js';
import type { NameFilter } from '../sources/names.js';
import type { Arguments } from '../arguments.js';
import type { Surroundings } from '../command.js';
import type { SessionOperations } from '../../client.js';
import type { Session } from '../../index.js';

/** Prints what is asked for. Resolves with the code to exit with. Throws `CommandError`. */
export async function run(args: Arguments, surroundings: Surroundings): Promise<number> {
  const { secrets } = surroundings;
  const settings = settingsOf(args, Date.now());
  secrets.hideIn(settings.addressText);
  const output = new Output();
  const view = settings.json ? new JsonView(output) : new TableView(output, settings);
  const opened = await openedToRead(settings.address, surroundings, { tokenFile: settings.tokenFile });
  try {
    let [isEmpty, isWhole] = [true, true];
    for await (const record of recordsOf(opened.source, settings)) {
      isEmpty = false;
      isWhole &&= record.kind !== 'corrupt';
      await view.print(record);
    }
    await view.end();
    if (isEmpty) {
      tell(surroundings, emptiness(settings, opened.name));
    }
    return isWhole ? EXIT.ok : EXIT.failure;
  } finally {
    await opened.close();
  }
}

/** The records that are asked for. */
async function* recordsOf(source: SessionOperations, settings: ShowSettings): AsyncGenerator<ShowRecord> {
  const { level, key, limit } = settings;
  if (level === 'session') {
    for await (const shown of shownSessions(source, settings)) {
      checkRevision(shown, settings);
      yield* key === undefined ? session(source, shown, settings) : sessionHistory(source, shown, key, settings);
    }
    return;
  }
  if (key !== undefined) {
    yield* sharedHistory(source, key, settings);
    return;
  }
  const list = { apps, users, sessions }[level](source, settings);
  let count = 0;
  for await (const record of list) {
    count += record.kind === 'scope' ? 0 : 1;
    if (count > limit) {
      return;
    }
    yield record;
  }
}

/** The sessions of the name that is asked for: one, unless its app or its user is left open. */
async function* shownSessions(source: SessionOperations, { filter }: ShowSettings): AsyncGenerator<Session> {
  const { app, user, session: id } = filter;
  if (app.only === undefined || user.only === undefined) {
    for await (const listed of sessionsIn(source, filter)) {
      if ('session' in listed) {
        yield listed.session;
      }
    }
    return;
  }
  const key = { appName: app.only, userId: user.only, sessionId: id.only ?? '' };
  const shown = await source.getSession({ ...key, config: { numRecentEvents: 0 } });
  if (shown !== undefined) {
    yield shown;
  }
}

/** Throws `MissingError` for a revision that a session does not have. */
function checkRevision({ id, revision }: Session, { at = 0 }: ShowSettings): void {
  if (at > revision) {
    throw new MissingError(`session ${JSON.stringify(id)} has no revision ${at}: its last one is ${revision}`);
  }
}

/** The words for nothing. Throws `MissingError` for something that was named. */
function emptiness({ filter, key, since }: ShowSettings, name: string): string {
  if (key !== undefined) {
    throw new MissingError(`no write of the key ${JSON.stringify(key)} is known`);
  }
  if (since > -Infinity) {
    return `nothing in ${name} since then`;
  }
  if (filter.app.isOpen && filter.user.isOpen && filter.session.isOpen) {
    return `${name} has no sessions`;
  }
  const names = Object.entries(filter).flatMap(([kind, { isOpen, text }]: [string, NameFilter]) =>
    isOpen ? [] : [`${kind} ${text}`],
  );
  throw new MissingError(`nothing in ${name} has these names: ${names.join(', ')}`);
}
