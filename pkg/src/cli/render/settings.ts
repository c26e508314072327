// The arguments of `statepad render`, checked.

import { addressOf, type Address } from '../addresses.js';
import { UsageError } from '../errors.js';
import type { Arguments } from '../arguments.js';
import type { Json, SessionKey } from '../../index.js';

/** The settings of a call. */
export interface RenderSettings {
  /** A file, `-` for standard input, or the text itself. */
  readonly template: string;
  readonly isText: boolean;
  readonly address: Address;
  /** The text of the address, which may hold a password. */
  readonly addressText: string;
  readonly tokenFile: string | undefined;
  readonly key: SessionKey;
  readonly at: number | undefined;
  /** Values under `temp:` keys. */
  readonly temp: Readonly<Record<string, Json>>;
  readonly explain: boolean;
  readonly json: boolean;
}

/** The settings that arguments give. Throws `UsageError`. */
export function settingsOf(args: Arguments): RenderSettings {
  const [template = '', addressText = '', appName = '', userId = '', sessionId = ''] = args.positionals;
  const json = args.has('json');
  const explain = args.has('explain') || json;
  return {
    template,
    isText: args.has('text'),
    address: addressOf(addressText),
    addressText,
    tokenFile: args.optional('token-file'),
    key: { appName, userId, sessionId },
    at: args.optional('at') === undefined ? undefined : args.number('at', { least: 0, most: Number.MAX_SAFE_INTEGER }),
    temp: Object.fromEntries(args.texts('set').map(valueIn)),
    explain,
    json,
  };
}

/** `temp:x=JSON`. What is no JSON is a text. */
function valueIn(text: string): readonly [string, Json] {
  const [, key = '', value = ''] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (!key.startsWith('temp:')) {
    throw new UsageError('--set is for temp: keys, which no store has, as --set temp:draft=\'"hello"\'');
  }
  try {
    return [key, JSON.parse(value) as Json];
  } catch {
    throw new UsageError(`--set ${key} needs JSON behind the =, and a text in quotes: ${key}='"hello"'`);
  }
}
