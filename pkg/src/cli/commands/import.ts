// `statepad import`, as data.

import { ADDRESSES, FILTER_OPTIONS, SOURCE_OPTIONS } from './sources.js';
import { QUIET_OPTION } from './work.js';
import { EXIT } from '../errors.js';
import type { Command } from '../command.js';

/** Brings sessions into a store. */
export const importCommand: Command = {
  name: 'import',
  usage: 'FROM TO [options]',
  positionals: ['FROM', 'TO'],
  summary:
    'Brings sessions into a store, unchanged: with their ids, times and past. ' +
    'Sessions that are there stay as they are.',
  operands: [
    {
      title: 'Examples, behind statepad import',
      widest: 42,
      rows: [
        ['.adk/session.db sessions.db', "from google-adk's database into a new file"],
        ['sessions.jsonl sessions.db', 'the lines of an export'],
        ['sessions.db postgres://HOST/DATABASE', 'from one store into another'],
        ['adk-database:postgres://HOST/DB redis://HOST', "from google-adk's tables into Redis"],
        ['… --dry-run', 'says what would be done'],
        ['… --app shop --user ana', "only a user's sessions and values"],
      ],
    },
    ADDRESSES,
  ],
  options: {
    'dry-run': { type: 'boolean', help: 'reads and compares everything, and writes nothing' },
    integers: {
      type: 'string',
      value: 'text',
      help: "text: numbers in an ADK's database that JavaScript cannot hold become texts of their digits",
    },
    ...FILTER_OPTIONS,
    json: { type: 'boolean', help: 'prints JSON, an object a line: the problems, then the counts' },
    ...QUIET_OPTION,
    ...SOURCE_OPTIONS,
  },
  sections: [
    {
      title: 'Exit codes',
      rows: [
        [String(EXIT.ok), 'all sessions are there, and equal to those of FROM'],
        [String(EXIT.failure), 'an address cannot be used, or a session could not be imported unchanged'],
        [String(EXIT.usage), 'the command line is wrong, or TO takes no import'],
        ['130, 143', 'a signal has ended it; the next import continues'],
      ],
    },
  ],
  load: async () => await import('../import/run.js'),
};
