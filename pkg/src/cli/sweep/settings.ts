// The options of `statepad sweep`, checked.

import { addressOf, isStore, type Address } from '../addresses.js';
import { UsageError } from '../errors.js';
import { durationIn } from '../output/times.js';
import type { Arguments } from '../arguments.js';

/** The options of a run. */
export interface SweepSettings {
  readonly address: Address;
  /** The text of the address, which may hold a password. */
  readonly addressText: string;
  readonly app: string | undefined;
  readonly limit: number;
  /** In milliseconds. */
  readonly userTtl: number | undefined;
  readonly dryRun: boolean;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly tokenFile: string | undefined;
}

/** The options that arguments give. Throws `UsageError`. */
export function settingsOf(args: Arguments): SweepSettings {
  const [addressText = ''] = args.positionals;
  const address = addressOf(addressText);
  const userTtl = args.optional('user-ttl');
  if (address.kind === 'lines') {
    throw new UsageError('JSON lines are only read: sweep the store that they came from');
  }
  if (userTtl !== undefined && !isStore(address)) {
    throw new UsageError('--user-ttl is for a store: a server has it from its own statepad serve --user-ttl');
  }
  return {
    address,
    addressText,
    app: args.optional('app'),
    limit: args.optional('limit') === undefined ? Infinity : args.number('limit', { least: 1, most: 2 ** 31 - 1 }),
    userTtl: userTtl === undefined ? undefined : durationIn('--user-ttl', userTtl),
    dryRun: args.has('dry-run'),
    json: args.has('json'),
    quiet: args.has('quiet'),
    tokenFile: args.optional('token-file'),
  };
}
