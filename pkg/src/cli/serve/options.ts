// The options of `statepad serve`, checked.

import { isIP } from 'node:net';
import { storeAddressOf, type StoreAddress } from '../addresses.js';
import { UsageError } from '../errors.js';
import { durationIn } from '../output/times.js';
import type { LimitName } from '../../index.js';
import type { GrowthOptions } from '../sources/service.js';
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
  /** The expiry and the limits of the sessions. */
  readonly growth: GrowthOptions;
  readonly migrate: 'create' | 'upgrade' | 'check';
  readonly log: 'auto' | 'json' | 'text';
  readonly quiet: boolean;
  /** In milliseconds. */
  readonly grace: number;
}

/** The names of this machine. */
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const MOST = 2 ** 31 - 1;
const UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  kb: 1e3,
  kib: 2 ** 10,
  mb: 1e6,
  mib: 2 ** 20,
  gb: 1e9,
  gib: 2 ** 30,
};

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
    bodyLimit: sizeIn('--body-limit', args.text('body-limit'), MOST),
    streams: args.number('streams', { least: 1, most: MOST }),
    poll: args.number('poll', { least: 1, most: MOST }),
    growth: growthIn(args),
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

function growthIn(args: Arguments): GrowthOptions {
  const duration = (name: string): number | undefined => {
    const text = args.optional(name);
    return text === undefined ? undefined : durationIn(`--${name}`, text);
  };
  return {
    ttl: duration('ttl'),
    userTtl: duration('user-ttl'),
    sweepEvery: duration('sweep-every'),
    limits: limitsIn(args.texts('limit')),
  };
}

/** The limits, and the reading of their values. */
const LIMITS: Readonly<Record<LimitName, (option: string, text: string) => number>> = {
  value: bytesIn,
  delta: bytesIn,
  event: bytesIn,
  state: bytesIn,
  keys: countIn,
  events: countIn,
};

/** The limits in texts like `value=1MiB`. */
function limitsIn(texts: readonly string[]): GrowthOptions['limits'] {
  const limits: Partial<Record<LimitName, number>> = {};
  for (const text of texts) {
    const [, name = '', most = ''] = /^([a-z]+)=(.*)$/s.exec(text) ?? [];
    if (!isLimit(name)) {
      throw new UsageError(`--limit takes one of ${Object.keys(LIMITS).join('=, ')}=, as value=1MiB`);
    }
    if (limits[name] !== undefined) {
      throw new UsageError(`--limit ${name}= is given twice`);
    }
    limits[name] = most === 'none' ? Infinity : LIMITS[name](`--limit ${name}=`, most);
  }
  return limits;
}

function isLimit(name: string): name is LimitName {
  return Object.hasOwn(LIMITS, name);
}

function bytesIn(option: string, text: string): number {
  return sizeIn(option, text, Number.MAX_SAFE_INTEGER);
}

function countIn(option: string, text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : NaN;
  if (!(count >= 1 && Number.isSafeInteger(count))) {
    throw new UsageError(`${option} takes a whole number from 1, or none`);
  }
  return count;
}

function sizeIn(option: string, text: string, most: number): number {
  const [, digits, unit = ''] = /^(\d+)([a-z]*)$/i.exec(text) ?? [];
  const size = Number(digits) * (UNITS[unit.toLowerCase()] ?? NaN);
  if (!(size >= 1 && size <= most)) {
    throw new UsageError(`${option} takes a number of bytes, as 8388608, 512KiB or 8MiB`);
  }
  return size;
}
