// Checks of requests by their schemas.

import { invalid, unknown } from '../../checks/arguments.js';
import { likelyName } from '../../checks/names.js';
import { isWellFormed } from '../../model/json.js';
import { describe, isObject } from '../../model/value-types.js';
import type { ListSchema, NullableNumberSchema, NumberSchema, ObjectSchema, Schema, TextSchema } from './schema.js';

/** Checks a parsed value. Throws `INVALID_ARGUMENT` with the path of the fault; `path` is that of the value. */
export function check(schema: Schema, value: unknown, path: string): void {
  if (isNullable(schema)) {
    if (value !== null) {
      checkNumber({ ...schema, type: 'number' }, value, path);
    }
    return;
  }
  switch (schema.type) {
    case 'string':
      checkText(schema, value, path);
      break;
    case 'number':
    case 'integer':
      checkNumber(schema, value, path);
      break;
    case 'boolean':
      if (typeof value !== 'boolean') {
        invalid(path, `must be true or false, not ${describe(value)}`);
      }
      break;
    case 'array':
      checkList(schema, value, path);
      break;
    case 'object':
      checkMembers(schema, value, path);
      break;
    default:
    // Any value.
  }
}

function isNullable(schema: Schema): schema is NullableNumberSchema {
  return Array.isArray(schema.type);
}

/** The values of parameters, which arrive as texts. `undefined` stands for a parameter that is absent. */
export function readParameters(
  schema: ObjectSchema,
  textOf: (name: string) => string | undefined,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, each] of Object.entries(schema.properties ?? {})) {
    const text = textOf(name);
    if (text !== undefined) {
      values[name] = parsed(each, text);
    }
  }
  check(schema, values, '');
  return values;
}

/** Refuses parameters whose names are near misses of known ones; others may be those of a proxy. */
export function checkParameterNames(names: Iterable<string>, known: readonly string[]): void {
  for (const name of names) {
    const likely = known.includes(name) ? undefined : likelyName(name, known);
    if (likely !== undefined) {
      unknown(name, 'the parameters', likely);
    }
  }
}

/** The value of a text; the text itself where it has none, for the check to refuse. */
function parsed({ type }: Schema, text: string): unknown {
  switch (type) {
    case 'number':
    case 'integer':
      return /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : text;
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text;
    default:
      return text;
  }
}

function checkText(
  { enum: choices, pattern, minLength = 0, maxLength }: TextSchema,
  value: unknown,
  path: string,
): void {
  if (typeof value !== 'string') {
    invalid(path, `must be a string, not ${describe(value)}`);
  }
  if (!isWellFormed(value)) {
    invalid(path, 'must be a string without lone surrogates');
  }
  if (choices !== undefined && !choices.includes(value)) {
    invalid(path, `must be one of ${choices.join(', ')}`);
  }
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(value)) {
    invalid(path, `must match ${pattern}`);
  }
  if (value.length < minLength || value.length > (maxLength ?? Infinity)) {
    invalid(path, `must have ${countText(minLength, maxLength, 'character')}`);
  }
}

function checkNumber(
  { type, minimum = -Infinity, maximum = Infinity }: NumberSchema,
  value: unknown,
  path: string,
): void {
  const isFit = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value);
  if (!isFit || (value as number) < minimum || (value as number) > maximum) {
    const kind = type === 'integer' ? 'a whole number' : 'a number';
    const range = rangeText(minimum, maximum === Infinity ? undefined : maximum);
    invalid(path, `must be ${kind}${range === '' ? '' : ` ${range}`}, not ${describe(value)}`);
  }
}

function checkList({ items, minItems = 0, maxItems }: ListSchema, value: unknown, path: string): void {
  if (!Array.isArray(value)) {
    invalid(path, `must be a list, not ${describe(value)}`);
  }
  if (value.length < minItems || value.length > (maxItems ?? Infinity)) {
    invalid(path, `must have ${countText(minItems, maxItems, 'item')}`);
  }
  value.forEach((item, index) => check(items, item, `${path}[${index}]`));
}

function checkMembers(schema: ObjectSchema, value: unknown, path: string): void {
  const { properties = {}, required = [], additionalProperties, minProperties = 0, maxProperties } = schema;
  if (!isObject(value)) {
    invalid(path === '' ? 'body' : path, `must be an object, not ${describe(value)}`);
  }
  const names = Object.keys(value);
  if (names.length < minProperties || names.length > (maxProperties ?? Infinity)) {
    invalid(path, `must have ${countText(minProperties, maxProperties, 'member')}`);
  }
  for (const name of names) {
    if (additionalProperties === false && !Object.hasOwn(properties, name)) {
      const known = Object.keys(properties);
      const likely = likelyName(name, known);
      const what = `the request, which has ${known.join(', ')}`;
      unknown(memberPath(path, name, true), what, likely && memberPath(path, likely, true));
    }
  }
  for (const name of required) {
    if (!Object.hasOwn(value, name)) {
      invalid(memberPath(path, name, true), 'is missing');
    }
  }
  for (const name of names) {
    const isMember = Object.hasOwn(properties, name);
    const each = isMember ? properties[name] : additionalProperties;
    if (each !== undefined && each !== false) {
      check(each, (value as Readonly<Record<string, unknown>>)[name], memberPath(path, name, isMember));
    }
  }
}

/** Members are written as in JavaScript, and keys in brackets: `expected.set["user:theme"]`. */
function memberPath(path: string, name: string, isMember: boolean): string {
  return !isMember ? `${path}[${JSON.stringify(name)}]` : path === '' ? name : `${path}.${name}`;
}

/** `1 member`, `from 1 to 5 items`. */
function countText(least: number, most: number | undefined, what: string): string {
  return least === most ? `exactly ${most} ${what}${most === 1 ? '' : 's'}` : `${rangeText(least, most)} ${what}s`;
}

/** `from 1 to 5`, `from 1`, `up to 5`; empty for any number. */
function rangeText(least: number, most: number | undefined): string {
  if (most === undefined) {
    return least === -Infinity ? '' : `from ${least}`;
  }
  return least === -Infinity ? `up to ${most}` : `from ${least} to ${most}`;
}
