// `statepad verify`, as data.

import { ADDRESSES, FILTER_OPTIONS, SOURCE_OPTIONS } from './sources.js';
import { QUIET_OPTION, SINCE_OPTION } from './work.js';
import { EXIT } from '../errors.js';
import type { Command } from '../command.js';

/** Checks what a store has. */
export const verify: Command = {
  name: 'verify',
  usage: 'ADDRESS [options]',
  positionals: ['ADDRESS'],
  summary: 'Checks a store: the storage, the log of each session, and the values that the logs write.',
  operands: [
    {
      title: 'Examples, behind statepad verify',
      rows: [
        ['sessions.db', 'everything'],
        ['sessions.db --app shop', 'the sessions and values of an app'],
        ['journal:sessions.log', 'a journal, also while another process writes to it'],
        ['… --since 1d --json', 'the sessions of a day, for a program'],
      ],
    },
    ADDRESSES,
  ],
  options: {
    ...FILTER_OPTIONS,
    ...SINCE_OPTION,
    quick: { type: 'boolean', help: "the short form of SQLite's own check, which passes over indexes" },
    json: { type: 'boolean', help: 'prints JSON, an object a line: the findings, then the counts' },
    ...QUIET_OPTION,
    ...SOURCE_OPTIONS,
  },
  sections: [
    {
      title: 'Checks',
      rows: [
        ['storage', "SQLite's own check; the version of the tables; the records of a journal"],
        ['sessions', 'each can be read, and has an event with an id of its own for each revision'],
        ['state', "a session's own values are those that its creation and its events write"],
        ['values', 'those of apps and users are the last writes in their logs, where these are kept'],
        ['rewinds, forks', 'they name an invocation and a session that are there'],
      ],
    },
    {
      title: 'Exit codes',
      rows: [
        [String(EXIT.ok), 'no problem'],
        [String(EXIT.failure), 'the address cannot be opened'],
        [String(EXIT.usage), 'the command line is wrong'],
        [String(EXIT.missing), 'there are problems'],
        ['130, 143', 'a signal has ended it'],
      ],
    },
  ],
  load: async () => await import('../verify/run.js'),
};
