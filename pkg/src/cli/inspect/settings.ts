// The options of `statepad inspect`, checked.

import { addressOf, type Address } from '../addresses.js';
import { UsageError } from '../errors.js';
import type { Arguments } from '../arguments.js';
import type { InspectedPart } from '../../inspect.js';

/** The options of a run. */
export interface InspectSettings {
  readonly address: Address;
  /** The text of the address, which may hold a password. */
  readonly addressText: string;
  readonly port: number;
  readonly open: boolean;
  readonly write: boolean;
  /** `undefined` where everything is shown. */
  readonly only: InspectedPart | undefined;
  readonly tokenFile: string | undefined;
}

/** The options that arguments give. Throws `UsageError`. */
export function settingsOf(args: Arguments): InspectSettings {
  const [addressText = ''] = args.positionals;
  const address = addressOf(addressText);
  const only = partOf(args);
  if (only !== undefined && address.kind === 'server') {
    throw new UsageError('--app, --user and --session are not for a server: it limits its tokens, as apps=shop');
  }
  return {
    address,
    addressText,
    port: args.number('port', { least: 0, most: 65_535 }),
    open: !args.has('no-open'),
    write: args.has('write'),
    only,
    tokenFile: args.optional('token-file'),
  };
}

function partOf(args: Arguments): InspectedPart | undefined {
  const [apps, users, sessions] = ['app', 'user', 'session'].map((name) => {
    const names = args.texts(name);
    return names.length === 0 ? undefined : names;
  });
  return apps === undefined && users === undefined && sessions === undefined ? undefined : { apps, users, sessions };
}
