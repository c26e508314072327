// `statepad export`, as data.

import { ADDRESSES, FILTER_OPTIONS, REDACT_OPTION, SOURCE_OPTIONS } from './sources.js';
import { QUIET_OPTION, SINCE_OPTION } from './work.js';
import { EXIT } from '../errors.js';
import type { Command } from '../command.js';

/** Writes sessions as JSON lines. */
export const exportCommand: Command = {
  name: 'export',
  usage: 'ADDRESS [options]',
  positionals: ['ADDRESS'],
  summary: 'Writes sessions as JSON lines, which statepad import, show and inspect read.',
  operands: [
    {
      title: 'Examples, behind statepad export',
      widest: 40,
      rows: [
        ['sessions.db > sessions.jsonl', 'everything'],
        ['sessions.db --out sessions.jsonl', 'the same, as a file that is there when it is complete'],
        ['sessions.db --app shop --user ana', "a user's sessions and values"],
        ['… --session monday --redact content', 'a session to share, without what was said in it'],
        ["… --since 7d --redact '*token*'", 'the sessions of a week, without such keys'],
      ],
    },
    ADDRESSES,
  ],
  options: {
    out: { type: 'string', short: 'o', value: 'FILE', help: 'the file to write; standard output without it' },
    force: { type: 'boolean', help: 'replaces the file, if it is there' },
    ...FILTER_OPTIONS,
    ...SINCE_OPTION,
    ...REDACT_OPTION,
    ...QUIET_OPTION,
    ...SOURCE_OPTIONS,
  },
  sections: [
    {
      title: 'Exit codes',
      rows: [
        [String(EXIT.ok), 'all is written'],
        [String(EXIT.failure), 'the address or the file cannot be used, or a session cannot be read'],
        [String(EXIT.usage), 'the command line is wrong'],
        [String(EXIT.missing), 'nothing has the names that are given'],
        ['130, 143', 'a signal has ended it; there is no file'],
      ],
    },
  ],
  load: async () => await import('../export/run.js'),
};
