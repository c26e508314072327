// `statepad render`, as data.

import { ADDRESSES, SOURCE_OPTIONS } from './sources.js';
import { EXIT } from '../errors.js';
import type { Command } from '../command.js';

/** Renders a template with the state of a session. */
export const render: Command = {
  name: 'render',
  usage: 'TEMPLATE ADDRESS APP USER SESSION [options]',
  positionals: ['TEMPLATE', 'ADDRESS', 'APP', 'USER', 'SESSION'],
  summary: 'Prints the instruction that a template gives with the state of a session, now or in the past.',
  operands: [
    {
      title: 'Examples, behind statepad render',
      widest: 44,
      rows: [
        ['prompt.txt sessions.db shop ana monday', 'the instruction of now'],
        ['prompt.txt sessions.db shop ana monday --at 3', 'as it was after three events'],
        ['… --explain', 'each placeholder, its value, and the write of that'],
        ["--text 'Explain {topic}.' sessions.db …", 'a template on the command line'],
        ['… --set temp:draft=\'"hello"\'', 'with a value that no store has'],
      ],
    },
    {
      title: 'TEMPLATE',
      rows: [
        ['FILE', 'a text with placeholders, as {topic}, {user:name?} or {cart.items[0].id}'],
        ['-', 'the same from standard input'],
      ],
    },
    ADDRESSES,
  ],
  options: {
    text: { type: 'boolean', help: 'TEMPLATE is the text itself' },
    at: { type: 'string', value: 'REVISION', help: 'the state after so many events; 0 is the creation' },
    set: { type: 'string', value: 'KEY=JSON', multiple: true, help: 'the value of a temp: key; repeatable' },
    explain: { type: 'boolean', help: 'prints a table of the placeholders in place of the instruction' },
    json: { type: 'boolean', help: 'prints that table as JSON, an object a line' },
    ...SOURCE_OPTIONS,
  },
  sections: [
    {
      title: 'Exit codes',
      rows: [
        [String(EXIT.ok), 'all required values are there'],
        [String(EXIT.failure), 'the template or the address cannot be read'],
        [String(EXIT.usage), 'the command line is wrong'],
        [String(EXIT.missing), 'there is no such session or revision, or a value is missing'],
      ],
    },
  ],
  load: async () => await import('../render/run.js'),
};
