// `statepad serve`, as data.

import { STORE_FORMS } from '../addresses.js';
import { EXIT } from '../errors.js';
import type { Command } from '../command.js';

/** Serves a store over HTTP. */
export const serve: Command = {
  name: 'serve',
  usage: 'ADDRESS [options]',
  positionals: ['ADDRESS'],
  summary: 'Serves the sessions of a store over HTTP.',
  operands: [{ title: 'Addresses', rows: STORE_FORMS.map(({ form, meaning }) => [form, meaning] as const) }],
  options: {
    host: { type: 'string', value: 'HOST', default: '127.0.0.1', help: 'the name or the address to listen on' },
    port: { type: 'string', short: 'p', value: 'PORT', default: '8377', help: 'the port; 0 takes a free one' },
    'token-file': {
      type: 'string',
      value: 'FILE',
      help: 'the tokens of clients, one a line, with limits; without it a token is made, and printed once',
    },
    insecure: { type: 'boolean', help: 'asks for no token; on this machine only' },
    'allow-host': {
      type: 'string',
      value: 'NAME',
      multiple: true,
      help: 'also answers requests to this name, as a proxy passes them on; repeatable',
    },
    'base-path': { type: 'string', value: 'PATH', help: 'the path below which all is served, as /agents' },
    'no-inspector': { type: 'boolean', help: 'leaves out the inspector, the page at /inspector/' },
    cors: {
      type: 'string',
      value: 'ORIGIN',
      multiple: true,
      help: 'lets pages of this origin send requests and read answers; repeatable',
    },
    'body-limit': { type: 'string', value: 'SIZE', default: '8MiB', help: 'the largest body of a request' },
    streams: { type: 'string', value: 'NUMBER', default: '1000', help: 'the streams of a client at a time' },
    ttl: {
      type: 'string',
      value: 'DURATION',
      help: 'sessions expire so long after their last write, as 30m, 2h, 3d, 1w, unless their creation says otherwise',
    },
    'user-ttl': {
      type: 'string',
      value: 'DURATION',
      help: 'a sweep also removes the values of users without sessions, last changed so long ago',
    },
    'sweep-every': {
      type: 'string',
      value: 'DURATION',
      help: 'removes what has expired at this interval; of several servers over a store one at a time',
    },
    limit: {
      type: 'string',
      value: 'NAME=MOST',
      multiple: true,
      help:
        'the most that is stored: value=, delta=, event=, state= in bytes, as 32MiB, keys=, events=; ' +
        'none turns one off; repeatable',
    },
    poll: {
      type: 'string',
      value: 'MS',
      default: '1000',
      help: 'the longest interval between two looks of a watch at the store',
    },
    migrate: {
      type: 'string',
      value: 'HOW',
      default: 'create',
      help: 'create: makes the tables where there are none; upgrade: also upgrades older ones; check: changes nothing',
    },
    log: {
      type: 'string',
      value: 'FORMAT',
      default: 'auto',
      help: 'json or text, on standard error; auto is text on a terminal, json elsewhere',
    },
    quiet: { type: 'boolean', short: 'q', help: 'logs no requests' },
    grace: {
      type: 'string',
      value: 'SECONDS',
      default: '10',
      help: 'the time that requests under way have when it is told to end',
    },
  },
  sections: [
    {
      title: 'A line of a token file',
      rows: [
        ['TOKEN', 'may do everything'],
        ['TOKEN users=ana writes=', 'reads the sessions of one user'],
        ['TOKEN apps=shop id=shop', 'all of one app, under a name that stays when the token changes'],
        ['TOKEN users= may=sweep', 'only removes what has expired'],
      ],
    },
    {
      title: 'Exit codes',
      rows: [
        [String(EXIT.ok), 'told to end, and all answered'],
        [String(EXIT.failure), 'the store or the port cannot be used, or a request was cut off'],
        [String(EXIT.usage), 'the command line or the token file is wrong'],
      ],
    },
  ],
  load: async () => await import('../serve/run.js'),
};
