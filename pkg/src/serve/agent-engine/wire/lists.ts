// Lists in pages: their order, and the tokens that say where the next page begins.

import { invalidArgument, invalidFields } from './errors.js';
import { protoNameOf } from './schema.js';
import { digest } from '../../../model/digest.js';
import type { Query } from './query.js';

/** The orders of a list: by times, by the names of their fields. */
export type Times<T> = Readonly<Record<string, (item: T) => bigint>>;

/** A list, before it is in order. */
export interface Listing<T> {
  /** The kind of list, for its tokens. */
  readonly title: string;
  readonly items: readonly T[];
  readonly query: Query;
  readonly times: Times<T>;
  /** The order when none is asked for; that of their numbers when it is empty. */
  readonly orderBy: string;
  /** Tells apart items of equal times: lower first. */
  readonly number: (item: T) => number;
  /** The largest number of items on a page, and the default. */
  readonly maxSize: number;
}

/** A page, and the token of the next one. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly nextPageToken: string | undefined;
}

/** One page of a list, as its query asks for it. */
export function pageOf<T>(listing: Listing<T>): Page<T> {
  const { query, number } = listing;
  const size = sizeOf(query, listing.maxSize);
  const ranks = readOrder(listing);
  const rankOf = (item: T): readonly bigint[] => [...ranks.map((rank) => rank(item)), BigInt(number(item))];
  const key = digest(JSON.stringify([listing.title, query['filter'] ?? '', query['orderBy'] ?? '']));
  const after = query['pageToken'] ? readToken(query['pageToken'], key, ranks.length + 1) : undefined;
  const sorted = listing.items
    .map((item) => ({ item, rank: rankOf(item) }))
    .sort((a, b) => compare(a.rank, b.rank))
    .filter(({ rank }) => after === undefined || compare(rank, after) > 0);
  const page = sorted.slice(0, size);
  const last = page.at(-1);
  const nextPageToken = last !== undefined && sorted.length > size ? writeToken(key, last.rank) : undefined;
  return { items: page.map(({ item }) => item), nextPageToken };
}

/** The size of the page that a query asks for. */
export function sizeOf({ pageSize }: Query, max: number): number {
  const size = Number(pageSize ?? 0);
  if (size < 0) {
    throw invalidFields(['page_size', 'Page size must not be negative.']);
  }
  return size === 0 ? max : Math.min(size, max);
}

/** Functions that rank an item, the first of them before the others. */
function readOrder<T>({ query, times, orderBy }: Listing<T>): ((item: T) => bigint)[] {
  const text = query['orderBy']?.trim() ? query['orderBy'] : orderBy;
  return (text === '' ? [] : text.split(',')).map((part) => {
    const [, path = '', direction] = /^\s*(\w+)(?:\s+(asc|desc))?\s*$/.exec(part) ?? [];
    const name = Object.keys(times).find((one) => one === path || protoNameOf(one) === path);
    const time = times[name ?? ''];
    if (time === undefined) {
      throw invalidFields(['order_by', 'Invalid order by.']);
    }
    return direction === 'desc' ? (item) => -time(item) : time;
  });
}

function compare(a: readonly bigint[], b: readonly bigint[]): number {
  const at = a.findIndex((rank, index) => rank !== b[index]);
  return at < 0 ? 0 : (a[at] ?? 0n) < (b[at] ?? 0n) ? -1 : 1;
}

function writeToken(key: string, rank: readonly bigint[]): string {
  return btoa([key, ...rank].join(' '))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '');
}

function readToken(token: string, key: string, length: number): readonly bigint[] {
  try {
    const [mark, ...rank] = atob(token.replaceAll('-', '+').replaceAll('_', '/')).split(' ');
    if (mark === key && rank.length === length) {
      return rank.map(BigInt);
    }
  } catch {
    // It is none of the service's own.
  }
  throw invalidArgument();
}
