// `statepad inspect`, as data.

import { ADDRESSES, SOURCE_OPTIONS } from './sources.js';
import { EXIT } from '../errors.js';
import type { Command } from '../command.js';

/** Opens the inspector for the sessions of an address. */
export const inspect: Command = {
  name: 'inspect',
  usage: 'ADDRESS [options]',
  positionals: ['ADDRESS'],
  summary: 'Opens a page that shows the sessions of a store, and follows what is written.',
  operands: [ADDRESSES],
  options: {
    port: {
      type: 'string',
      short: 'p',
      value: 'PORT',
      default: '0',
      help: 'the port on 127.0.0.1; 0 takes a free one',
    },
    'no-open': { type: 'boolean', help: 'opens no browser: the address is printed anyway' },
    write: { type: 'boolean', help: 'lets the page write, too: state, events, rewinds, forks, deletions' },
    app: { type: 'string', value: 'APP', multiple: true, help: 'shows only this app; repeatable' },
    user: { type: 'string', value: 'USER', multiple: true, help: 'shows only this user, in each app; repeatable' },
    session: { type: 'string', value: 'ID', multiple: true, help: 'shows only sessions with this id; repeatable' },
    ...SOURCE_OPTIONS,
  },
  sections: [
    {
      title: 'Exit codes',
      rows: [
        [String(EXIT.ok), 'told to end'],
        [String(EXIT.failure), 'the sessions or the port cannot be used'],
        [String(EXIT.usage), 'the command line or the token file is wrong'],
      ],
    },
  ],
  load: async () => await import('../inspect/run.js'),
};
