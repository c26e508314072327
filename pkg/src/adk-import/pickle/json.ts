// Converts the value of a pickle to JSON, as pydantic would write it.

import { isEnum, isModel } from './classes.js';
import { Dict, Global, Instance, PythonSet } from './data.js';
import { Budget } from './limits.js';
import { dateText, datetimeText, durationText, numberOf, timeText } from './times.js';
import { refuse } from '../../jsonl/problems.js';
import { lostNumber } from '../../model/json-numbers.js';
import { put } from '../../model/json.js';
import { textOfNumber, type Numbers } from '../values.js';

/** The deepest nesting of values: a value of a pickle can contain itself. */
const MAX_DEPTH = 200;

/**
 * A value of Python as JSON, of a pickle of so many bytes. Members of models that are `None` are omitted. Throws
 * `LIMIT_EXCEEDED` when it expands to far more than that.
 */
export function jsonOfPickle(value: unknown, bytes: number, numbers: Numbers): unknown {
  return jsonOf(value, { budget: new Budget(bytes), numbers }, 0);
}

/** The allowance of a conversion, and the treatment of numbers. */
interface Terms {
  readonly budget: Budget;
  readonly numbers: Numbers;
}

/** Converts the elements of a value. */
interface Inside {
  readonly value: (value: unknown) => unknown;
  readonly key: (key: unknown) => string;
}

function jsonOf(value: unknown, terms: Terms, depth: number): unknown {
  if (depth > MAX_DEPTH) {
    return refuse('the pickle has values that are nested too deep');
  }
  const { budget, numbers } = terms;
  budget.take(typeof value === 'string' || value instanceof Uint8Array ? value.length : 0);
  const inside: Inside = {
    value: (item) => jsonOf(item, terms, depth + 1),
    key: (key) => {
      const text = keyText(key);
      budget.take(text.length);
      return text;
    },
  };
  if (typeof value === 'bigint') {
    return integer(value, numbers);
  }
  if (typeof value === 'number') {
    // JSON has no other numbers: pydantic writes null for them.
    return Number.isFinite(value) ? value : null;
  }
  if (Array.isArray(value)) {
    return value.map(inside.value);
  }
  if (value instanceof PythonSet) {
    return value.items.map(inside.value);
  }
  if (value instanceof Dict) {
    return objectOf(value.entries, inside);
  }
  if (value instanceof Uint8Array) {
    return bytesText(value);
  }
  if (value instanceof Instance) {
    return instance(value, inside);
  }
  return value instanceof Global ? refuse(`actions have the class ${value.path} itself, not an instance`) : value;
}

function integer(value: bigint, numbers: Numbers): unknown {
  const token = String(value);
  const number = lostNumber(token);
  return number === undefined ? Number(value) : textOfNumber(number, 'the pickle', numbers)(token);
}

function objectOf(entries: Iterable<readonly [unknown, unknown]>, inside: Inside): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, value] of entries) {
    put(object, inside.key(key), inside.value(value));
  }
  return object;
}

/** A key of a dict as JSON has it. */
function keyText(key: unknown): string {
  switch (typeof key) {
    case 'string':
      return key;
    case 'boolean':
    case 'number':
    case 'bigint':
      return String(key);
    default:
      return key === null ? 'None' : refuse('a dict has keys that are not strings');
  }
}

function instance(value: Instance, inside: Inside): unknown {
  const { path, module, name } = value.type;
  if (isModel(path)) {
    return model(value, inside);
  }
  const [first] = value.args;
  if (isEnum(path)) {
    return inside.value(first);
  }
  if (module.startsWith('pathlib')) {
    return pathText(value.args.map(textOf), name.includes('Windows'));
  }
  return plain(value, inside);
}

function plain(value: Instance, inside: Inside): unknown {
  const [first, second] = value.args;
  switch (value.type.path) {
    case 'builtins.dict':
    case 'collections.OrderedDict':
    case 'collections.defaultdict':
      return objectOf(value.entries, inside);
    case 'builtins.list':
    case 'builtins.set':
    case 'builtins.frozenset':
    case 'builtins.tuple':
      return [...((Array.isArray(first) ? first : []) as unknown[]), ...value.items].map(inside.value);
    case 'builtins.complex':
      return complexText(numberOf(first), numberOf(second));
    case 'datetime.date':
      return dateText(bytesOf(first));
    case 'datetime.time':
      return timeText(bytesOf(first), second);
    case 'datetime.datetime':
      return datetimeText(bytesOf(first), second);
    case 'datetime.timedelta':
      return durationText(value.args.map(numberOf));
    case 'decimal.Decimal':
      return typeof first === 'string' ? first : refuse('a Decimal in the pickle has no digits');
    case 'uuid.UUID':
      return uuidText(partsOf(value.state, inside).get('int'));
    case 'builtins.bytes':
    case 'builtins.bytearray':
      return first instanceof Uint8Array ? bytesText(first) : '';
    default:
      return value.args.length === 1 ? inside.value(first) : refuse(`a ${value.type.path} is not a JSON value`);
  }
}

/** The members of a model, including defaults, except those that are `None`. */
function model({ type, state }: Instance, inside: Inside): Record<string, unknown> {
  const parts = partsOf(state, inside);
  const [own, extra] = [parts.get('__dict__'), parts.get('__pydantic_extra__')];
  if (!(own instanceof Dict)) {
    return refuse(`a ${type.path} has no members`);
  }
  const isOfGenai = type.module === 'google.genai.types';
  const members: Record<string, unknown> = {};
  for (const [key, value] of [...own.entries, ...(extra instanceof Dict ? extra.entries : [])]) {
    const name = inside.key(key);
    if (value !== null) {
      const member = inside.value(value);
      put(members, name, isOfGenai && value instanceof Uint8Array ? base64(value) : member);
    }
  }
  return members;
}

/** A text itself: other values are refused, because a list would become one with all of its items. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : refuse('a path in the pickle has parts that are not strings');
}

function bytesOf(value: unknown): Uint8Array {
  return value instanceof Uint8Array ? value : refuse('a time in the pickle has no bytes');
}

/** Bytes as pydantic writes them: as a text if they are one, otherwise in Base64. */
function bytesText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return base64(bytes);
  }
}

/** In the alphabet for URLs. */
function base64(bytes: Uint8Array): string {
  const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return text.replaceAll('+', '-').replaceAll('/', '_');
}

function complexText(real: number, imaginary: number): string {
  const sign = imaginary < 0 || Object.is(imaginary, -0) ? '-' : '+';
  const part = `${Math.abs(imaginary)}j`;
  return real === 0 ? `${sign === '-' ? '-' : ''}${part}` : `${real}${sign}${part}`;
}

/** The entries of a state by their keys. */
function partsOf(state: unknown, inside: Inside): ReadonlyMap<string, unknown> {
  const entries = state instanceof Dict ? state.entries : [];
  return new Map(entries.map(([key, value]) => [inside.key(key), value]));
}

function uuidText(number: unknown): string {
  if (typeof number !== 'number' && typeof number !== 'bigint') {
    return refuse('a UUID in the pickle has no number');
  }
  const digits = BigInt(number).toString(16).padStart(32, '0');
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

function pathText(parts: readonly string[], isWindows: boolean): string {
  const separator = isWindows ? '\\' : '/';
  const [root = '.', ...names] = parts;
  return root.endsWith(separator) ? root + names.join(separator) : parts.length === 0 ? '.' : parts.join(separator);
}
