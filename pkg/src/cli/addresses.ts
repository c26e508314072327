// The addresses of stores on a command line.

import { UsageError } from './errors.js';

/** The address of a store, which this process opens by itself. */
export type StoreAddress =
  | { readonly kind: 'sqlite' | 'journal'; readonly path: string }
  | { readonly kind: 'postgres' | 'redis' | 'adk-database'; readonly url: string }
  | { readonly kind: 'memory' };

/** The address of sessions: a store, a server over one, or a file of JSON lines. */
export type Address =
  | StoreAddress
  | { readonly kind: 'server'; readonly url: string }
  /** `path` is absent for standard input. */
  | { readonly kind: 'lines'; readonly path?: string };

/** A kind of address. */
interface AddressForm {
  /** Its form, as help shows it. */
  readonly form: string;
  readonly meaning: string;
  readonly pattern: RegExp;
  /** The address of a text that matches. Throws `UsageError`. */
  readonly read: (match: RegExpExecArray) => Address;
}

/** The forms of the addresses of stores. */
export const STORE_FORMS: readonly AddressForm[] = [
  {
    form: 'sessions.db',
    meaning: 'an SQLite file: a path that ends in .db, .sqlite or .sqlite3, or sqlite:PATH',
    pattern: /^(?:sqlite:(?<named>.*)|(?<path>(?:file:\/\/\/)?(?![\w+.-]{2,}:).*\.(?:db|sqlite3?)))$/is,
    read: ({ groups: { named, path } = {} }) => ({ kind: 'sqlite', path: pathOf('sqlite', path ?? named) }),
  },
  {
    form: 'postgres://HOST/DATABASE',
    meaning: 'Postgres; needs the package pg',
    pattern: /^postgres(?:ql)?:\/\/.*$/is,
    read: ([url]) => ({ kind: 'postgres', url: urlOf(url) }),
  },
  {
    form: 'redis://HOST',
    meaning: 'Redis, also by rediss://; needs the package ioredis or redis',
    pattern: /^rediss?:\/\/.*$/is,
    read: ([url]) => ({ kind: 'redis', url: urlOf(url) }),
  },
  {
    form: 'adk-database:postgres://HOST/DATABASE',
    meaning: "the tables of google-adk's DatabaseSessionService; needs the package pg",
    pattern: /^adk-database:(?<url>postgres(?:ql)?:\/\/.*)$/is,
    read: ({ groups }) => ({ kind: 'adk-database', url: urlOf(groups?.['url'] ?? '') }),
  },
  {
    form: 'journal:FILE',
    meaning: 'a file of lines, for one process at a time',
    pattern: /^journal:(?<path>.*)$/is,
    read: ({ groups }) => ({ kind: 'journal', path: pathOf('journal', groups?.['path']) }),
  },
  {
    form: 'memory:',
    meaning: 'nothing is kept: for a try',
    pattern: /^memory:$/i,
    read: () => ({ kind: 'memory' }),
  },
];

/** All forms. A text has the first one that matches it. */
export const ADDRESS_FORMS: readonly AddressForm[] = [
  ...STORE_FORMS,
  {
    form: 'https://HOST',
    meaning: 'a server of statepad serve, also by http://, with its path; its token comes from --token-file',
    pattern: /^https?:\/\/.*$/is,
    read: ([url]) => ({ kind: 'server', url: serverIn(url) }),
  },
  {
    form: 'sessions.jsonl',
    meaning: 'JSON lines of an export: a path that ends in .jsonl, or jsonl:PATH',
    pattern: /^(?:jsonl:(?<named>.*)|(?<path>(?:file:\/\/\/)?(?![\w+.-]{2,}:).*\.jsonl))$/is,
    read: ({ groups: { named, path } = {} }) => ({ kind: 'lines', path: pathOf('jsonl', path ?? named) }),
  },
  {
    form: '-',
    meaning: 'JSON lines on standard input',
    pattern: /^-$/,
    read: () => ({ kind: 'lines' }),
  },
];

/** The address that a text names. Throws `UsageError`, which does not repeat it: it may hold a password. */
export function addressOf(text: string): Address {
  for (const { pattern, read } of ADDRESS_FORMS) {
    const match = pattern.exec(text);
    if (match !== null) {
      return read(match);
    }
  }
  return refuse('the address is of no known kind', ADDRESS_FORMS);
}

/** The address of a store that a text names. Throws `UsageError`, as {@link addressOf}. */
export function storeAddressOf(text: string): StoreAddress {
  const address = addressOf(text);
  return isStore(address) ? address : refuse('the address is not that of a store', STORE_FORMS);
}

/** True for the address of a store. */
export function isStore(address: Address): address is StoreAddress {
  return address.kind !== 'server' && address.kind !== 'lines';
}

function refuse(problem: string, forms: readonly AddressForm[]): never {
  const widest = Math.max(...forms.map(({ form }) => form.length));
  const list = forms.map(({ form, meaning }) => `\n  ${form.padEnd(widest)}  ${meaning}`).join('');
  throw new UsageError(`${problem}; there are:${list}`);
}

/** An address for people: without user, password and parameters. */
export function shownAddress(address: Address): string {
  switch (address.kind) {
    case 'memory':
      return 'memory:';
    case 'sqlite':
      return address.path;
    case 'journal':
      return `journal:${address.path}`;
    case 'lines':
      return address.path ?? 'standard input';
    case 'adk-database':
      return `adk-database:${shownUrl(address.url)}`;
    default:
      return shownUrl(address.url);
  }
}

function shownUrl(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}

/** The URL of a server. A token in it would be seen by everybody who lists the processes of the machine. */
function serverIn(url: string): string {
  const { username, password, search, hash } = new URL(urlOf(url));
  if (`${username}${password}${search}${hash}` !== '') {
    const place = 'the token of a server comes from --token-file or STATEPAD_TOKEN';
    throw new UsageError(`the address of a server has neither a user nor parameters: ${place}`);
  }
  return url;
}

function pathOf(kind: string, path = ''): string {
  if (path === '') {
    throw new UsageError(`the address names no file: ${kind}:PATH`);
  }
  if (path.startsWith('//')) {
    throw new UsageError(`the address takes the path as it is: ${kind}:folder/FILE, or ${kind}:/folder/FILE`);
  }
  return path;
}

function urlOf(url: string): string {
  if (!URL.canParse(url)) {
    const example = 'a # in a password is written %23';
    throw new UsageError(`the address is not a valid URL: characters with a meaning in URLs are escaped, ${example}`);
  }
  return url;
}
