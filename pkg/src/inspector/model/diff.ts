// The structural difference of two JSON values.

import type { Json } from '../../index.js';
import { alignmentOf } from './align.js';

/** The difference of two values at one place. */
export type Difference =
  | { readonly kind: 'same'; readonly before: Json; readonly after: Json }
  | { readonly kind: 'added'; readonly after: Json }
  | { readonly kind: 'removed'; readonly before: Json }
  /** Another value, of which no parts are compared. */
  | { readonly kind: 'changed'; readonly before: Json; readonly after: Json }
  /** Two objects, or two arrays, that differ in some of their parts. */
  | {
      readonly kind: 'nested';
      readonly before: Json;
      readonly after: Json;
      readonly isArray: boolean;
      /** All parts, those that are the same included: in the order of `after`, removed ones where they were. */
      readonly parts: readonly DifferentPart[];
    };

/** A member of an object, or an item of an array. */
export interface DifferentPart {
  /** The name of a member; of an item, its index in `after`, or in `before` when it was removed. */
  readonly name: string | number;
  readonly difference: Difference;
}

/** One change at a path. */
export interface PathChange {
  /** The names of members and indexes of items from the root. */
  readonly path: readonly (string | number)[];
  readonly kind: 'added' | 'removed' | 'changed';
  /** Absent when it was added. */
  readonly before?: Json;
  /** Absent when it was removed. */
  readonly after?: Json;
}

/** The depth below which values are compared whole. */
const DEPTH = 64;

/**
 * The difference of two values; `undefined` is a missing one. The order of an object's members does not count. Items
 * of arrays are aligned by equality: an item that was inserted at the beginning is one addition. Items between aligned
 * ones are compared in pairs. Very long differences are aligned by index.
 */
export function differenceOf(before: Json | undefined, after: Json | undefined, depth = DEPTH): Difference {
  if (before === undefined || after === undefined) {
    return after !== undefined
      ? { kind: 'added', after }
      : before !== undefined
        ? { kind: 'removed', before }
        : { kind: 'same', before: null, after: null };
  }
  if (isSame(before, after, depth)) {
    return { kind: 'same', before, after };
  }
  if (depth > 0 && isList(before) && isList(after)) {
    return { kind: 'nested', before, after, isArray: true, parts: itemsOf(before, after, depth - 1) };
  }
  if (depth > 0 && isRecord(before) && isRecord(after)) {
    return { kind: 'nested', before, after, isArray: false, parts: membersOf(before, after, depth - 1) };
  }
  return { kind: 'changed', before, after };
}

/** All changes between two values, by path, in the order of the parts. */
export function changesOf(before: Json | undefined, after: Json | undefined): readonly PathChange[] {
  const changes: PathChange[] = [];
  collect(differenceOf(before, after), [], changes);
  return changes;
}

function collect(difference: Difference, path: readonly (string | number)[], changes: PathChange[]): void {
  if (difference.kind === 'nested') {
    for (const { name, difference: part } of difference.parts) {
      collect(part, [...path, name], changes);
    }
  } else if (difference.kind !== 'same') {
    changes.push({ path, ...difference });
  }
}

type JsonRecord = Readonly<Record<string, Json>>;

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

function isRecord(value: Json): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The own member of a record, because a member may be named like an inherited one. */
function ownOf(record: JsonRecord, name: string): Json | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function isSame(one: Json, other: Json, depth: number): boolean {
  if (one === other) {
    return true;
  }
  if (depth === 0) {
    return JSON.stringify(one) === JSON.stringify(other);
  }
  if (isList(one) && isList(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index] as Json, depth - 1));
  }
  if (!isRecord(one) || !isRecord(other)) {
    return false;
  }
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name] as Json, other[name] as Json, depth - 1))
  );
}

/** The members of both: those of `after` in their order, each removed one behind the member that it followed. */
function membersOf(before: JsonRecord, after: JsonRecord, depth: number): DifferentPart[] {
  const removed = new Map<string | undefined, string[]>();
  let previous: string | undefined;
  for (const name of Object.keys(before)) {
    if (Object.hasOwn(after, name)) {
      previous = name;
    } else {
      const behind = removed.get(previous) ?? [];
      removed.set(previous, behind);
      behind.push(name);
    }
  }
  const part = (name: string): DifferentPart => ({
    name,
    difference: differenceOf(ownOf(before, name), ownOf(after, name), depth),
  });
  const gone = (behind: string | undefined): DifferentPart[] => (removed.get(behind) ?? []).map(part);
  return [...gone(undefined), ...Object.keys(after).flatMap((name) => [part(name), ...gone(name)])];
}

function itemsOf(before: readonly Json[], after: readonly Json[], depth: number): DifferentPart[] {
  return alignmentOf(before, after, (one, other) => isSame(one, other, depth)).map(([from, to]) => ({
    name: to ?? (from as number),
    difference: differenceOf(
      from === undefined ? undefined : before[from],
      to === undefined ? undefined : after[to],
      depth,
    ),
  }));
}
