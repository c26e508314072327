// The arguments of `statepad show`, checked.

import { addressOf, type Address } from '../addresses.js';
import { UsageError } from '../errors.js';
import { Redaction } from '../output/redact.js';
import { timeIn } from '../output/times.js';
import { NameFilter, type SessionFilter } from '../sources/names.js';
import type { Arguments } from '../arguments.js';

/** The lists, from the widest on; `session` is one session with its events. */
export type Level = 'apps' | 'users' | 'sessions' | 'session';

/** The settings of a call. */
export interface ShowSettings {
  readonly address: Address;
  /** The text of the address, which may hold a password. */
  readonly addressText: string;
  readonly tokenFile: string | undefined;
  readonly filter: SessionFilter;
  readonly level: Level;
  readonly at: number | undefined;
  readonly key: string | undefined;
  /** In milliseconds since the epoch. */
  readonly since: number;
  readonly limit: number;
  readonly redaction: Redaction;
  readonly json: boolean;
}

const LEVELS = ['app', 'user', 'session'] as const;
const MOST = Number.MAX_SAFE_INTEGER;

/** The settings that arguments give. Throws `UsageError`. */
export function settingsOf(args: Arguments, now: number): ShowSettings {
  const [addressText = '', ...names] = args.positionals;
  const [app, user, session] = LEVELS.map((name, index) => namesOf(args, name, names[index])) as [
    NameFilter,
    NameFilter,
    NameFilter,
  ];
  const filter = { app, user, session };
  const level = levelOf(filter);
  const at = args.optional('at') === undefined ? undefined : args.number('at', { least: 0, most: MOST });
  const key = args.optional('key');
  if (at !== undefined && level !== 'session') {
    throw new UsageError('--at is about one session: name it');
  }
  if (key !== undefined) {
    checkKey(key, filter, level);
  }
  const since = args.optional('since');
  return {
    address: addressOf(addressText),
    addressText,
    tokenFile: args.optional('token-file'),
    filter,
    level,
    at,
    key,
    since: since === undefined ? -Infinity : timeIn('--since', since, now),
    limit: args.optional('limit') === undefined ? Infinity : args.number('limit', { least: 0, most: MOST }),
    redaction: new Redaction(args.texts('redact')),
    json: args.has('json'),
  };
}

/** The names of a level, which stand either alone or behind options. */
function namesOf(args: Arguments, option: (typeof LEVELS)[number], positional: string | undefined): NameFilter {
  const texts = args.texts(option);
  if (positional !== undefined && texts.length > 0) {
    throw new UsageError(`--${option} is given, and ${option.toUpperCase()} as well: leave one of them out`);
  }
  return new NameFilter(positional === undefined ? texts : [positional]);
}

/** A single name leads into what it names; anything else lists what it means. */
function levelOf({ app, user, session }: SessionFilter): Level {
  if (!session.isOpen) {
    return session.only === undefined ? 'sessions' : 'session';
  }
  if (!user.isOpen) {
    return user.only === undefined ? 'users' : 'sessions';
  }
  return app.only === undefined ? 'apps' : 'users';
}

/** A session has the history of all keys that it wrote; its app and its user those of all sessions. */
function checkKey(key: string, { app, user }: SessionFilter, level: Level): void {
  const isOfApp = key.startsWith('app:') && level === 'users' && user.isOpen;
  const isOfUser = key.startsWith('user:') && level === 'sessions' && user.only !== undefined;
  if (level !== 'session' && !(app.only !== undefined && (isOfApp || isOfUser))) {
    const owner = key.startsWith('app:') ? 'an APP' : key.startsWith('user:') ? 'an APP and a USER' : 'a SESSION';
    throw new UsageError(`--key ${key.replace(/^(app:|user:)?.*$/s, '$1…')} needs ${owner}, by name`);
  }
}
