// The options of `statepad serve`.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { readArguments, settingsOf, serve, hostInUrl } = await source(
  'cli/read-arguments.ts',
  'cli/serve/options.ts',
  'cli/commands/serve.ts',
);

const settings = (...args) => settingsOf(readArguments(serve, ['memory:', ...args]));
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/** Arguments, and the members that they set. */
const SETTINGS = [
  [
    [],
    {
      ...{ host: '127.0.0.1', port: 8377, isLoopback: true, hosts: LOOPBACK, insecure: false, tokenFile: undefined },
      ...{ basePath: '', origins: [], bodyLimit: 2 ** 23, streams: 1_000, poll: 1_000, migrate: 'create' },
      ...{ log: 'auto', quiet: false, grace: 10_000 },
    },
  ],
  [['--host', 'LOCALHOST'], { host: 'localhost', isLoopback: true, hosts: LOOPBACK }],
  [['--host', '127.0.0.2'], { isLoopback: true, hosts: [...LOOPBACK, '127.0.0.2'] }],
  [['--host', '::1'], { host: '::1', isLoopback: true, hosts: LOOPBACK }],
  [['--host', '[::1]'], { host: '::1', isLoopback: true, hosts: LOOPBACK }],
  [['--host', '0.0.0.0'], { isLoopback: false, hosts: undefined }],
  [['--host', '::'], { isLoopback: false, hosts: undefined }],
  [['--host', '127.0.0.1.example.com'], { isLoopback: false, hosts: undefined }],
  [['--allow-host', 'Agents.example.com'], { hosts: [...LOOPBACK, 'agents.example.com'] }],
  [
    ['--host', '0.0.0.0', '--allow-host', 'a.example', '--allow-host', '[fd00::1]'],
    { hosts: [...LOOPBACK, '0.0.0.0', 'a.example', '[fd00::1]'] },
  ],
  [['--port', '0'], { port: 0 }],
  [['--insecure'], { insecure: true }],
  [['--base-path', '/agents/v2/'], { basePath: '/agents/v2' }],
  [['--base-path', '/'], { basePath: '' }],
  [
    ['--cors', 'https://a.example', '--cors', 'http://localhost:3000'],
    { origins: ['https://a.example', 'http://localhost:3000'] },
  ],
  [['--body-limit', '1000'], { bodyLimit: 1_000 }],
  [['--body-limit', '512kib'], { bodyLimit: 2 ** 19 }],
  [['--body-limit', '1MB'], { bodyLimit: 1_000_000 }],
  [['--streams', '1', '--poll', '250', '--grace', '0'], { streams: 1, poll: 250, grace: 0 }],
  [['--migrate', 'upgrade', '--log', 'text', '-q'], { migrate: 'upgrade', log: 'text', quiet: true }],
];

/** Arguments that are refused, and the words that say why. */
const REFUSED = [
  [['--insecure', '--token-file', 'x'], /--insecure asks for no token/],
  [['--insecure', '--host', '0.0.0.0'], /needs a --host of this machine/],
  [['--host', 'http://localhost'], /--host takes a name or an address/],
  [['--host', 'localhost:80'], /--host takes a name or an address/],
  [['--host='], /--host takes a name or an address/],
  [['--port', '65536'], /--port must be a whole number/],
  [['--allow-host', 'https://a.example'], /--allow-host takes the name of a host/],
  [['--allow-host', 'a.example/x'], /--allow-host takes the name of a host/],
  [['--allow-host='], /--allow-host takes the name of a host/],
  [['--base-path', 'agents'], /--base-path takes a path/],
  [['--base-path', '/a//b'], /--base-path takes a path/],
  [['--base-path', '/a?b'], /--base-path takes a path/],
  [['--cors', '*'], /--cors takes the origin/],
  [['--cors', 'https://a.example/'], /--cors takes the origin/],
  [['--body-limit', '1GiBX'], /--body-limit takes a number of bytes/],
  [['--body-limit', '0'], /--body-limit takes a number of bytes/],
  [['--body-limit', '9999999MiB'], /--body-limit takes a number of bytes/],
  [['--streams', '0'], /--streams must be/],
  [['--poll', '0'], /--poll must be/],
  [['--grace', '3601'], /--grace must be/],
  [['--migrate', 'now'], /--migrate must be one of create, upgrade, check/],
  [['--log', 'xml'], /--log must be one of auto, json, text/],
];

describe('the settings of a server', () => {
  for (const [args, expected] of SETTINGS) {
    it(`of ${args.join(' ') || 'no option'}`, () => {
      const read = settings(...args);
      for (const [name, value] of Object.entries(expected)) assert.deepEqual(read[name], value, name);
    });
  }

  for (const [args, message] of REFUSED) {
    it(`are refused for ${args.join(' ')}`, () => assert.throws(() => settings(...args), { code: 2, message }));
  }

  it('have brackets around an address of IPv6 in a URL', () => {
    assert.deepEqual(['::1', '127.0.0.1', 'localhost'].map(hostInUrl), ['[::1]', '127.0.0.1', 'localhost']);
  });
});
