// The state as lines of a tree: scopes, their keys, and the members of opened values.

import type { Json } from '../../index.js';
import { differenceOf, type Difference } from '../model/diff.js';
import type { Scope } from '../model/log.js';
import type { RowChange } from '../model/rows.js';
import { isFound, type Entry } from './entries.js';

/** The scopes, from what is closest to a session. */
export const ORDER: readonly Scope[] = ['session', 'user', 'app', 'temp'];

/** The way to a value inside of a key's value. */
export type Path = readonly (string | number)[];

/** A line of the tree. */
export interface Line {
  readonly kind: 'scope' | 'key' | 'member';
  /** Unique in the tree, and the same at every moment. */
  readonly id: string;
  /** From 1, a scope. */
  readonly level: number;
  /** From 1, among its siblings. */
  readonly place: number;
  /** The number of its siblings, with itself. */
  readonly siblings: number;
  readonly scope: Scope;
  /** The name of the scope, the key with its prefix, the name or the index of the member. */
  readonly name: string;
  /** `undefined` when there is nothing to open. */
  readonly isOpen: boolean | undefined;
  /** The key; absent for a scope. */
  readonly entry: Entry | undefined;
  /** Empty for a scope and for a key. */
  readonly path: Path;
  readonly value: Json | undefined;
  readonly change: RowChange | undefined;
  readonly before: Json | undefined;
  /** The number of keys below a scope that have a value; otherwise 0. */
  readonly count: number;
}

/** The choices of the reader of a tree. */
export interface TreeView {
  /** By id of a line: open or not, where the reader has chosen. */
  readonly opened: ReadonlyMap<string, boolean>;
  /** Lines with this text, in lower case, alone; empty for all. */
  readonly needle: string;
  /** True for changes alone. */
  readonly onlyChanges: boolean;
  /** True to open changed values down to what has changed in them. */
  readonly opensChanges: boolean;
}

/** The id of the line of a scope. */
export function idOfScope(scope: Scope): string {
  return `scope ${scope}`;
}

/** The id of the line of a key. */
export function idOfKey(key: string): string {
  return `key ${key}`;
}

/** An item of a list that is gone may have the index of another one. */
function idOfMember(key: string, path: Path, change: RowChange | undefined): string {
  return `${change === 'deleted' ? 'gone' : 'member'} ${JSON.stringify([key, ...path])}`;
}

/**
 * All lines of a tree, in order. Those of the `last` entries, in the same view, stay the same objects where an entry
 * is the same and in its place.
 */
export function linesOf(entries: readonly Entry[], view: TreeView, last: readonly Line[] = []): Line[] {
  const lines: Line[] = [];
  const isAll = !view.onlyChanges && view.needle === '';
  const shown = isAll
    ? entries
    : entries.filter((entry) => (!view.onlyChanges || entry.change !== undefined) && isFound(entry, view.needle));
  const byScope = new Map(ORDER.map((scope): [Scope, Entry[]] => [scope, []]));
  for (const entry of shown) {
    byScope.get(entry.scope)?.push(entry);
  }
  ORDER.forEach((scope, place) => {
    const own = byScope.get(scope) ?? [];
    const id = idOfScope(scope);
    const isOpen = view.opened.get(id) ?? true;
    lines.push({
      ...{ kind: 'scope', id, level: 1, place: place + 1, siblings: ORDER.length, scope, name: scope, path: [] },
      ...{ isOpen, entry: undefined, value: undefined, change: undefined, before: undefined },
      count: own.filter(({ value }) => value !== undefined).length,
    });
    if (isOpen) {
      const known = new KnownLines(last, scope);
      own.forEach((entry, index) => {
        if (!known.take(lines, entry, [index + 1, own.length])) {
          addKey(lines, view, entry, [index + 1, own.length]);
        }
      });
    }
  });
  return lines;
}

/** The lines of the keys of a scope, as they were. */
class KnownLines {
  readonly #lines: readonly Line[];
  #at: number;

  constructor(lines: readonly Line[], scope: Scope) {
    this.#lines = lines;
    this.#at = lines.findIndex(({ kind, scope: own }) => kind === 'scope' && own === scope) + 1;
  }

  /** Goes on to the next key, and adds its lines if they are those of an entry in its place. */
  take(to: Line[], entry: Entry, [place, siblings]: readonly [number, number]): boolean {
    const first = this.#lines[this.#at];
    if (first?.kind !== 'key') {
      return false;
    }
    const isSame = first.entry === entry && first.place === place && first.siblings === siblings;
    do {
      if (isSame) {
        to.push(this.#lines[this.#at] as Line);
      }
      this.#at += 1;
    } while (this.#lines[this.#at]?.kind === 'member');
    return isSame;
  }
}

function addKey(lines: Line[], view: TreeView, entry: Entry, [place, siblings]: readonly [number, number]): void {
  const { key, scope, value, change, before } = entry;
  add(lines, view, {
    ...{ kind: 'key', id: idOfKey(key), level: 2, place, siblings, scope, name: key, entry, path: [] },
    ...{ value, change, before, count: 0 },
  });
}

/** Adds a line, and the members of its value when it is open. */
function add(lines: Line[], view: TreeView, line: Omit<Line, 'isOpen'>): void {
  const { id, entry, value, before, change } = line;
  const canOpen = isContainer(value) || (value === undefined && isContainer(before));
  const opens = view.opensChanges && change === 'changed' && isContainer(value) && isContainer(before);
  const isOpen = canOpen ? (view.opened.get(id) ?? opens) : undefined;
  lines.push({ ...line, isOpen });
  if (isOpen === true && entry !== undefined) {
    const members = membersOf(line);
    const shown = view.onlyChanges && change === 'changed' ? members.filter((member) => member.change) : members;
    shown.forEach((member, index) => {
      const path = [...line.path, member.name];
      add(lines, view, {
        ...{ kind: 'member', id: idOfMember(entry.key, path, member.change), level: line.level + 1, place: index + 1 },
        ...{ siblings: shown.length, scope: line.scope, name: String(member.name), entry, path, count: 0 },
        ...{ value: member.value, change: member.change, before: member.before },
      });
    });
  }
}

interface Member {
  readonly name: string | number;
  readonly value: Json | undefined;
  readonly before: Json | undefined;
  readonly change: RowChange | undefined;
}

/** The members of a value; of a changed one also those that are gone. */
function membersOf({ value, before, change }: Pick<Line, 'value' | 'before' | 'change'>): Member[] {
  const difference = change === 'changed' ? differenceOf(before, value) : undefined;
  if (difference?.kind === 'nested') {
    return difference.parts.map(({ name, difference: part }) => ({ name, ...memberOfPart(part) }));
  }
  const shown = value ?? before ?? null;
  return namesOf(shown).map((name) => {
    const member = memberOf(shown, name);
    return value === undefined
      ? { name, value: undefined, before: member, change: undefined }
      : { name, value: member, before: undefined, change: undefined };
  });
}

function memberOfPart(part: Difference): Omit<Member, 'name'> {
  switch (part.kind) {
    case 'same':
      return { value: part.after, before: undefined, change: undefined };
    case 'added':
      return { value: part.after, before: undefined, change: 'added' };
    case 'removed':
      return { value: undefined, before: part.before, change: 'deleted' };
    default:
      return { value: part.after, before: part.before, change: 'changed' };
  }
}

function namesOf(value: Json): (string | number)[] {
  return Array.isArray(value) ? Array.from(value.keys()) : isContainer(value) ? Object.keys(value) : [];
}

/** The own member of a value, because a member may be named like an inherited one. */
function memberOf(value: Json, name: string | number): Json | undefined {
  return Object.hasOwn(value as object, name) ? (value as Record<string | number, Json>)[name] : undefined;
}

/** True for a list and for an object, unless it is empty. */
export function isContainer(value: Json | undefined): value is Exclude<Json, string | number | boolean | null> {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  if (Array.isArray(value)) {
    return value.length > 0;
  }
  // It is asked of each key at each step: a list of all names of each value would take longer than all the rest.
  for (const name in value as object) {
    return Object.hasOwn(value, name);
  }
  return false;
}

/** The path to a line as a template writes it: `user:profile.cities[0]`. */
export function pathText({ entry, path }: Pick<Line, 'entry' | 'path'>): string {
  const steps = path.map((step) =>
    typeof step === 'number'
      ? `[${step}]`
      : /^[\p{L}_][\p{L}\p{N}_]*$/u.test(step)
        ? `.${step}`
        : `[${JSON.stringify(step)}]`,
  );
  return [entry?.key ?? '', ...steps].join('');
}
