// `statepad show`, as data.

import { ADDRESSES, FILTER_OPTIONS, REDACT_OPTION, SOURCE_OPTIONS } from './sources.js';
import { EXIT } from '../errors.js';
import type { Command } from '../command.js';

/** Shows what a store has. */
export const show: Command = {
  name: 'show',
  usage: 'ADDRESS [APP [USER [SESSION]]] [options]',
  positionals: ['ADDRESS'],
  optionals: ['APP', 'USER', 'SESSION'],
  summary: 'Shows apps, users, sessions, and the state and the events of a session.',
  operands: [
    {
      title: 'Examples, behind statepad show',
      widest: 30,
      rows: [
        ['sessions.db', 'the apps'],
        ['sessions.db shop', 'the values of an app, and its users'],
        ['sessions.db shop ana', 'the values of a user, and her sessions'],
        ['sessions.db shop ana monday', 'a session: its state and its events'],
        ['… shop ana monday --at 3', 'its state after three events'],
        ['… shop ana monday --key topic', 'the writes of a key, and the values before them'],
        ['… shop ana --key user:email', 'those of all sessions, of an app: or a user: key'],
        ["… '*' '*' '*' --since 2h", 'all sessions with a change in the last two hours'],
        ["… --session 'mon*' --json", 'all sessions with such ids, as JSON'],
      ],
    },
    ADDRESSES,
  ],
  options: {
    at: { type: 'string', value: 'REVISION', help: 'a session as it was after so many events; 0 is its creation' },
    key: { type: 'string', value: 'KEY', help: 'the history of a key, with its prefix' },
    since: {
      type: 'string',
      value: 'TIME',
      help: 'only what is not older: a time as 2026-01-31T09:30:00Z, or a duration as 90s, 30m, 2h, 3d, 1w',
    },
    limit: { type: 'string', short: 'n', value: 'NUMBER', help: 'the first of a list; the last of events and writes' },
    ...FILTER_OPTIONS,
    ...REDACT_OPTION,
    json: { type: 'boolean', help: 'prints JSON, an object a line' },
    ...SOURCE_OPTIONS,
  },
  sections: [
    {
      title: 'Exit codes',
      rows: [
        [String(EXIT.ok), 'all is shown'],
        [String(EXIT.failure), 'the address cannot be read, or one of the sessions'],
        [String(EXIT.usage), 'the command line is wrong'],
        [String(EXIT.missing), 'nothing has the name that is given'],
      ],
    },
  ],
  load: async () => await import('../show/run.js'),
};
