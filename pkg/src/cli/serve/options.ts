// The options of `statepad serve`, checked.

import { isIP } from 'node:net';
import { storeAddressOf, type StoreAddress } from '../addresses.js';
import { UsageError } from '../errors.js';
import type { Arguments } from '../arguments.js';

/** The options of a run. */
export interface ServeSettings {
  readonly address: StoreAddress;
  /** The text of the address, which may hold a password. */
  readonly addressText: string;
  readonly host: string;
  readonly port: number;
  readonly isLoopback: boolean;
  readonly tokenFile: string | undefined;
  readonly insecure: boolean;
  /** The names under which requests are answered; any when absent. */
  readonly hosts: readonly string[] | undefined;
  readonly basePath: string;
  /** False where the page is left out. */
  readonly hasInspector: boolean;
  readonly origins: readonly string[];
  readonly bodyLimit: number;
  readonly streams: number;
  readonly poll: number;
  readonly migrate: 'create' | 'upgrade' | 'check';
  readonly log: 'auto' | 'json' | 'text';
  readonly quiet: boolean;
  /** In milliseconds. */
  readonly grace: number;
}

/** The names of this machine. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const MOST = 2 ** 31 - 1;
const UNITS: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 1e3, kib: 2 ** 10, mb: 1e6, mib: 2 ** 20 };

/** The options that arguments give. Throws `UsageError`. */
export function settingsOf(args: Arguments): ServeSettings {
  const [addressText = ''] = args.positionals;
  const host = hostIn(args.text('host'));
  const isLoopback = isLoopbackHost(host);
  const insecure = args.has('insecure');
  const tokenFile = args.optional('token-file');
  if (insecure && tokenFile !== undefined) {
    throw new UsageError('--insecure asks for no token: leave it out, or --token-file');
  }
  if (insecure && !isLoopback) {
    throw new UsageError(`--insecure would let the whole network write: it needs a --host of this machine`);
  }
  return {
    address: storeAddressOf(addressText),
    addressText,
    host,
    port: args.number('port', { least: 0, most: 65_535 }),
    isLoopback,
    tokenFile,
    insecure,
    hosts: answeredHosts(host, isLoopback, args.texts('allow-host')),
    basePath: basePathIn(args.optional('base-path')),
    hasInspector: !args.has('no-inspector'),
    origins: args.texts('cors').map(originIn),
    bodyLimit: sizeIn(args.text('body-limit')),
    streams: args.number('streams', { least: 1, most: MOST }),
    poll: args.number('poll', { least: 1, most: MOST }),
    migrate: args.choice('migrate', ['create', 'upgrade', 'check']),
    log: args.choice('log', ['auto', 'json', 'text']),
    quiet: args.has('quiet'),
    grace: 1_000 * args.number('grace', { least: 0, most: 3_600 }),
  };
}

/** A host as it stands in a URL: an address of IPv6 has brackets there. */
export function hostInUrl(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host;
}

function hostIn(text: string): string {
  const host = /^\[(.*)\]$/.exec(text)?.[1] ?? text;
  if (isIP(host) === 0 && !/^[a-z\d](?:[a-z\d.-]*[a-z\d])?$/i.test(host)) {
    throw new UsageError('--host takes a name or an address of this machine, without port and scheme');
  }
  return host.toLowerCase();
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** On loopback, and where names are given, all others are refused; elsewhere the names are not known here. */
function answeredHosts(host: string, isLoopback: boolean, given: readonly string[]): readonly string[] | undefined {
  if (!isLoopback && given.length === 0) {
    return undefined;
  }
  return [...new Set([...LOOPBACK_NAMES, hostInUrl(host), ...given.map(nameIn)])];
}

function nameIn(name: string): string {
  if (!URL.canParse(`http://${name}`) || new URL(`http://${name}`).host !== name.toLowerCase()) {
    throw new UsageError('--allow-host takes the name of a host, as agents.example.com');
  }
  return new URL(`http://${name}`).hostname;
}

function basePathIn(path = ''): string {
  if (!/^(?:\/[\w.~-]+)*\/?$/.test(path)) {
    throw new UsageError('--base-path takes a path like /agents');
  }
  return path.replace(/\/$/, '');
}

function originIn(origin: string): string {
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
    throw new UsageError('--cors takes the origin of a page, as https://app.example.com');
  }
  return origin;
}

function sizeIn(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([a-z]*)$/i.exec(text) ?? [];
  const size = Number(digits) * (UNITS[unit.toLowerCase()] ?? NaN);
  if (!(size >= 1 && size <= MOST)) {
    throw new UsageError('--body-limit takes a number of bytes, as 8388608, 512KiB or 8MiB');
  }
  return size;
}
