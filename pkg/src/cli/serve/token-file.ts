// The file of tokens: one a line, with what it is limited to.

import { createHash } from 'node:crypto';
import { UsageError } from '../errors.js';
import type { Principal, StoredScope, StorageWork } from '../../serve.js';

/** A token, and the principal that it stands for. */
export interface KnownToken {
  readonly token: string;
  readonly principal: Principal;
}

/** The scopes, as a token that may do everything writes them. */
export const ALL_SCOPES: readonly StoredScope[] = ['session', 'user', 'app'];

/** The works on the storage, as a token that may do everything starts them. */
export const ALL_WORKS: readonly StorageWork[] = ['sweep'];

/** The characters of a token in a header (RFC 6750). */
const TOKEN = /^[\w.~+/-]+=*$/;

/** The limits that a line may have, and the reading of their values. Each throws a text: the fault. */
const LIMITS: Readonly<Record<string, (value: string) => Partial<Principal>>> = {
  apps: (value) => ({ apps: namesIn(value) }),
  users: (value) => ({ users: namesIn(value) }),
  sessions: (value) => ({ sessions: namesIn(value) }),
  reads: (value) => ({ reads: chosenIn(value, ALL_SCOPES, 'reads= and writes= take') }),
  writes: (value) => ({ writes: chosenIn(value, ALL_SCOPES, 'reads= and writes= take') }),
  may: (value) => ({ may: chosenIn(value, ALL_WORKS, 'may= takes') }),
  id: (value) => ({ id: idIn(value) }),
  ends: (value) => ({ ends: timeIn(value) }),
};

/** A fault of a line. It repeats nothing of the line, which may be a token in the wrong place. */
class LineFault extends Error {}

/**
 * The tokens of a file, in the order of their lines. Throws `UsageError`, which names the file as `name` and the line
 * that cannot be read.
 */
export function tokensIn(bytes: Uint8Array, name: string): readonly KnownToken[] {
  const lines = textOf(bytes, name).split(/\r?\n/);
  const places = new Map<string, number>();
  const tokens = lines.flatMap((line, index) => {
    const words = wordsOf(line);
    if (words.length === 0) {
      return [];
    }
    try {
      const known = knownToken(words);
      const earlier = places.get(known.token);
      if (earlier !== undefined) {
        throw new LineFault(`the token is that of line ${earlier}`);
      }
      places.set(known.token, index + 1);
      return [known];
    } catch (error) {
      throw error instanceof LineFault ? new UsageError(`${name}, line ${index + 1}: ${error.message}`) : error;
    }
  });
  if (tokens.length === 0) {
    throw new UsageError(`${name} has no token`);
  }
  return tokens;
}

function textOf(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError(`${name} is not a text in UTF-8`);
  }
}

/** The words of a line before its comment. */
function wordsOf(line: string): readonly string[] {
  const words = line.split(/\s+/).filter((word) => word !== '');
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment === -1 ? words : words.slice(0, comment);
}

function knownToken([token = '', ...limits]: readonly string[]): KnownToken {
  if (/^bearer:?$/i.test(token)) {
    throw new LineFault('the token stands alone, without Bearer before it');
  }
  if (!TOKEN.test(token)) {
    throw new LineFault('the token has a character that the header cannot carry: use letters, digits and -._~+/');
  }
  let members: Partial<Principal> = {};
  for (const [index, limit] of limits.entries()) {
    const [, name = '', value = ''] = /^([a-z]+)=(.*)$/s.exec(limit) ?? [];
    const read = Object.hasOwn(LIMITS, name) ? LIMITS[name] : undefined;
    if (read === undefined) {
      throw new LineFault(`limit ${index + 1} is none of ${Object.keys(LIMITS).join('=, ')}=`);
    }
    if (name in members) {
      throw new LineFault(`${name} is given twice`);
    }
    members = { ...members, ...read(value) };
  }
  return { token, principal: principalOf(token, members) };
}

/**
 * The principal of the limits of a line. A token that is limited neither to users nor to sessions is that of a
 * program which acts for all of them: it writes `app:` keys, too. With no other limit than apps it may also sweep.
 */
function principalOf(token: string, members: Partial<Principal>): Principal {
  const isForAll = members.users === undefined && members.sessions === undefined;
  const isUnlimited = isForAll && members.reads === undefined && members.writes === undefined;
  return {
    id: createHash('sha256').update(token).digest('base64url').slice(0, 16),
    apps: 'all',
    users: 'all',
    ...(isForAll && { writes: ALL_SCOPES }),
    ...(isUnlimited && { may: ALL_WORKS }),
    ...members,
  };
}

/** Names with commas between them; those in a name are escaped, as in a URL. Nothing stands for none. */
function namesIn(value: string): readonly string[] {
  const names = value === '' ? [] : value.split(',').map(decoded);
  if (names.includes('')) {
    throw new LineFault('a name between two commas is empty');
  }
  return names;
}

/** Some of the known names. `what` begins the fault. */
function chosenIn<Name extends string>(value: string, known: readonly Name[], what: string): readonly Name[] {
  const names = value === '' ? [] : value.split(',');
  if (!names.every((name): name is Name => (known as readonly string[]).includes(name))) {
    throw new LineFault(`${what} ${known.join(', ')}, or nothing for none of them`);
  }
  return names;
}

function idIn(value: string): string {
  if (value === '') {
    throw new LineFault('id= has no name behind it');
  }
  return decoded(value);
}

function timeIn(value: string): number {
  const time = /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) {
    throw new LineFault('ends= takes a time like 2030-12-31T23:59:59Z');
  }
  return time;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    throw new LineFault('a % in a name is written %25, a comma %2C, a space %20');
  }
}
