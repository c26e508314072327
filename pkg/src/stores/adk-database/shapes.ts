// Shapes of values, read from their texts.

import { SHAPES } from './event-shapes.js';

/** The type of a value that neither has parts nor belongs to the user. */
export type Plain = 'str' | 'int' | 'float' | 'bool' | 'bytes' | 'time';

/** The type of a value. */
export type Shape =
  | { readonly kind: 'any' }
  | { readonly kind: 'plain'; readonly plain: Plain }
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'list' | 'map'; readonly of: Shape }
  | { readonly kind: 'either'; readonly of: readonly Shape[] }
  | { readonly kind: 'model'; readonly name: string };

/** A member of a model. */
export interface Member {
  readonly stored: string;
  readonly name: string;
  readonly isRequired: boolean;
  readonly shape: Shape;
}

/** A model: its members by their names in JSON, and by those under which they are stored. */
export interface Model {
  readonly keepsOthers: boolean;
  readonly byName: ReadonlyMap<string, Member>;
  readonly byStored: ReadonlyMap<string, Member>;
  readonly required: readonly string[];
}

let models: ReadonlyMap<string, Model> | undefined;

/** A model by its name. The texts are read at the first call. */
export function modelOf(name: string): Model {
  models ??= new Map(SHAPES.trim().replaceAll('\n  ', ' ').split('\n').map(modelIn));
  const model = models.get(name);
  if (model === undefined) {
    throw new Error(`there is no shape with the name ${name}`);
  }
  return model;
}

function modelIn(line: string): readonly [name: string, Model] {
  const [, name = '', plus, members = ''] = /^(\w+)(\+?): (.*)$/.exec(line) ?? [];
  const byName = new Map<string, Member>();
  const byStored = new Map<string, Member>();
  for (const member of members.split(' ').map(memberIn)) {
    byStored.set(member.stored, member);
    if (!byName.has(member.name)) {
      byName.set(member.name, member);
    }
  }
  const required = [...byName.values()].filter(({ isRequired }) => isRequired).map(({ stored }) => stored);
  return [name, { keepsOthers: plus === '+', byName, byStored, required }];
}

function memberIn(text: string): Member {
  const [, stored = '', name = inCamelCase(stored), mark, shape = ''] = /^(\w+)(?:=(\w+))?(!?):(.*)$/.exec(text) ?? [];
  return { stored, name, isRequired: mark === '!', shape: shapeIn(shape) };
}

function inCamelCase(stored: string): string {
  return stored.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const PLAIN: ReadonlySet<string> = new Set<Plain>(['str', 'int', 'float', 'bool', 'bytes', 'time']);

function shapeIn(text: string): Shape {
  if (text.endsWith('[]') || text.endsWith('{}')) {
    return { kind: text.endsWith('[]') ? 'list' : 'map', of: shapeIn(text.slice(0, -2)) };
  }
  if (text.startsWith('(')) {
    return { kind: 'either', of: alternativesIn(text.slice(1, -1)).map(shapeIn) };
  }
  if (text.startsWith("'")) {
    return { kind: 'literal', value: text.slice(1, -1) };
  }
  if (text === 'any') {
    return { kind: 'any' };
  }
  return PLAIN.has(text) ? { kind: 'plain', plain: text as Plain } : { kind: 'model', name: text };
}

/** Splits at each bar that stands in no parentheses. */
function alternativesIn(text: string): string[] {
  const parts: string[] = [];
  let [depth, start] = [0, 0];
  for (let index = 0; index < text.length; index++) {
    depth += text[index] === '(' ? 1 : text[index] === ')' ? -1 : 0;
    if (text[index] === '|' && depth === 0) {
      parts.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...parts, text.slice(start)];
}
