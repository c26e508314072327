// `statepad sweep`, as data.

import { ADDRESSES, SOURCE_OPTIONS } from './sources.js';
import { QUIET_OPTION } from './work.js';
import { EXIT } from '../errors.js';
import type { Command } from '../command.js';

/** Removes what has expired. */
export const sweep: Command = {
  name: 'sweep',
  usage: 'ADDRESS [options]',
  positionals: ['ADDRESS'],
  summary: 'Removes the sessions that have expired, and the values of users who have no session any more.',
  operands: [
    {
      title: 'Examples, behind statepad sweep',
      rows: [
        ['sessions.db --dry-run', 'says what would be removed'],
        ['sessions.db', 'removes it, also while other processes write'],
        ['… --app shop --limit 1000', 'at most so much of one app'],
        ['sessions.db --user-ttl 90d', 'also the values of users who were last seen so long ago'],
      ],
    },
    ADDRESSES,
  ],
  options: {
    app: { type: 'string', value: 'APP', help: 'only what belongs to this app' },
    limit: {
      type: 'string',
      short: 'n',
      value: 'NUMBER',
      help: 'the most sessions and users together that are removed',
    },
    'user-ttl': {
      type: 'string',
      value: 'DURATION',
      help:
        'also removes values of users without sessions, last changed so long ago, as 30m, 2h, 3d, 1w; ' +
        'a server has a setting of its own',
    },
    'dry-run': { type: 'boolean', help: 'removes nothing, and says what would be removed' },
    json: { type: 'boolean', help: 'prints the numbers as JSON' },
    ...QUIET_OPTION,
    ...SOURCE_OPTIONS,
  },
  sections: [
    {
      title: 'Exit codes',
      rows: [
        [String(EXIT.ok), 'it is done, also where nothing has expired'],
        [String(EXIT.failure), 'the address cannot be used, keeps no expiry, or the token may not sweep'],
        [String(EXIT.usage), 'the command line is wrong'],
        ['130, 143', 'a signal has ended it; the rest stays for the next sweep'],
      ],
    },
  ],
  load: async () => await import('../sweep/run.js'),
};
