// Limits as they are sent: the database compares them exactly only where a change may come near one.

import { beyondLimit } from '../../store/refusals.js';
import { fromColumn } from '../shared/column-text.js';
import { namesOf, PARTS } from './operators.js';
import type { Change, StoreLimit, StoreLimits } from '../../store/contract.js';
import type { StoreError } from '../../store/store-error.js';

/** The most bytes of UTF-8 for a unit of UTF-16. */
const MAX_BYTES = 3;

/** The bytes of the results of all operators of a change up to which the database does not look closer. */
export const RESERVED_BYTES = 65_536;

/** A part of a room where there is no limit. */
const ANY = [null, null] as const;

/** The most that a change adds to a scope: names, and bytes of names and values. */
export interface Growth {
  readonly names: number;
  readonly bytes: number;
}

const NONE: Growth = { names: 0, bytes: 0 };

/**
 * The most events of the session, and the most names and bytes of each of its session, app and user, before a change
 * that is far from its limits; null where any number is far.
 */
export type Room = readonly [events: number | null, names: number | null, bytes: number | null];

/** The most that values add to a scope, under names and as JSON texts. */
export function growthBy(values: readonly (readonly [name: string, text: string])[]): Growth {
  const units = values.reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  return { names: values.length, bytes: units * MAX_BYTES };
}

/** The most names and bytes of a scope that may grow so much and is far from its limits. */
export function roomFor(
  { names, bytes }: Growth,
  { keys, state }: StoreLimits,
): readonly [number | null, number | null] {
  return names === 0 ? ANY : [finite(keys, names), finite(state, bytes)];
}

/**
 * The room that a change needs, which lets the session, the app and the user grow so much; `undefined` where it has no
 * limits that it could meet. It is the least of all three: a scope that the change does not write to is compared, too,
 * which at worst makes the database look closer.
 */
export function roomOf(
  { kind, operators, limits }: Pick<Change, 'kind' | 'operators' | 'limits'>,
  growth: readonly Growth[],
): Room | undefined {
  if (limits === undefined) {
    return undefined;
  }
  const rooms = PARTS.map((part, index) => {
    const { names, bytes } = growth[index] ?? NONE;
    const results = namesOf(operators, part);
    if (results.length === 0) {
      return roomFor({ names, bytes }, limits);
    }
    const reserved = RESERVED_BYTES + growthBy(results.map((name) => [name, ''])).bytes;
    return roomFor({ names: names + results.length, bytes: bytes + reserved }, limits);
  });
  const hasResults = PARTS.some((part) => namesOf(operators, part).length > 0);
  const { value = Infinity } = limits;
  const room: Room = [
    kind === 'append' ? finite(limits.events, 1) : null,
    leastOf(rooms.map(([names]) => names)),
    // Nothing is far from a limit that a result within that may exceed.
    hasResults && value < RESERVED_BYTES ? -1 : leastOf(rooms.map(([, bytes]) => bytes)),
  ];
  const isCompared = room.some((each) => each !== null) || (hasResults && value < Infinity);
  return isCompared ? room : undefined;
}

/** The least of some numbers, of which some are far. */
export function leastOf(numbers: readonly (number | null)[]): number | null {
  const finite = numbers.filter((each) => each !== null);
  return finite.length === 0 ? null : Math.min(...finite);
}

/** Limits as `check_limits` takes them: numbers with commas between them, of which any may be missing. */
export function limitsText({ value, state, keys, events }: StoreLimits = {}): string {
  return [value, state, keys, events].map((limit) => finite(limit, 0) ?? '').join(',');
}

function finite(limit: number | undefined, growth: number): number | null {
  return limit === undefined || !Number.isFinite(limit) ? null : limit - growth;
}

/** A refusal as `check_limits` answers it. */
export type Beyond = readonly [
  ...['limit', exceeded: StoreLimit, scope: 'app' | 'user' | 'session' | null, size: number],
  name?: string,
];

/** The refusal of a change after which there would be more than its limits allow. */
export function beyondIn([, exceeded, scope, size, name]: Beyond, change: Change): StoreError {
  return beyondLimit(change, {
    ...{ exceeded, size, limit: change.limits?.[exceeded] ?? 0 },
    ...(scope !== null && { scope }),
    ...(name !== undefined && { key: fromColumn(name) }),
  });
}
