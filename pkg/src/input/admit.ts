// Admission: values are checked, copied and frozen in one pass. After it no later mutation by the caller reaches the
// service, and a value that JSON would lose or change silently is an error that names its path.
//
// Looking for members under symbols takes three times as long as looking for all others. So it is done only where a
// lost member would be lost state: in deltas and states with all their values, and among the members of an event and
// of its actions. Deeper in an event a member under a symbol is dropped, as by JSON.

import { ADK_EVENT } from '../model/adk-event.js';
import { isDeleted } from '../model/deletion.js';
import { StatepadError } from '../model/errors.js';
import { isWellFormed, put } from '../model/json.js';
import { NUMBER_BOUND, WORD_BOUND, stringBound } from '../model/json-size.js';
import { UNMARKED, contentOfMark, type KeyedOperators } from '../model/operator-write.js';
import { isOperator, type Operator } from '../model/operators.js';
import { describe, isPlain, isRevoked } from '../model/value-types.js';
import type { Json } from '../model/types.js';

/** The deepest nesting of lists and objects in a value; the core has the same limit. */
export const MAX_DEPTH = 100;

/** Options of the pass. */
export interface AdmitOptions {
  /**
   * Copies instances of classes as their own enumerable members, as ADK's stores do, instead of refusing them. ADK
   * puts a few into its events.
   */
  readonly instances?: boolean;
  /** Accepts near misses of known names while a log is read, because its events are kept unchanged. */
  readonly anyName?: boolean;
}

/** A copy of a delta, not frozen yet, and the keys that it deletes. */
export interface AdmittedDelta {
  readonly delta: Record<string, Json>;
  readonly deleted: readonly string[];
  /** Its operators, if it has any. Their keys stand at the end of the delta, as `null`. */
  readonly operators?: KeyedOperators | undefined;
  /** The most bytes that it has as JSON, in which its keys may stand twice. */
  readonly bound: number;
}

/**
 * The most bytes in JSON of all that was copied so far. The difference of two moments is a bound of what was copied in
 * between, and costs next to nothing. (A list of doubles, because each write to a variable allocates a large number.)
 */
const copied = new Float64Array(1);

function count(bytes: number): void {
  copied[0] = (copied[0] as number) + bytes;
}

/** See {@link copied}. */
export function boundSoFar(): number {
  return copied[0] as number;
}

/** The copy of every empty object. */
export const EMPTY: Json = Object.freeze({});

/** Copies and freezes one value. `path` names it in errors. */
export function admitValue(value: unknown, path: string, { instances = false }: AdmitOptions = {}): Json {
  try {
    return required(copy(value, '', 1, stateRules(instances)));
  } catch (fault) {
    throw report(fault, path);
  }
}

/**
 * Copies the members of `from` but one, freezing their values, into `into`. `names` are those of the members, and
 * `path` names `from` in errors.
 */
export function admitMembers(
  from: object,
  names: readonly string[],
  into: Record<string, Json>,
  except: string,
  path: string,
  { instances = false }: AdmitOptions,
): void {
  const rules = instances ? INSTANCES : 0;
  let name = '';
  try {
    for (name of names) {
      count(stringBound(name.length));
      const member = name === except ? undefined : copy((from as Record<string, unknown>)[name], name, 1, rules);
      if (member !== undefined) {
        put(into, name, member);
      }
    }
  } catch (fault) {
    throw report(located(fault, name, from), path);
  }
  if (!instances) {
    admitSymbols(from, path);
  }
}

/** Copies a delta and freezes its values. `path` names it in errors. */
export function admitDelta(input: unknown, path: string, { instances = false }: AdmitOptions = {}): AdmittedDelta {
  const delta: Record<string, Json> = {};
  if (input === undefined || input === null) {
    return { delta, deleted: NOTHING, bound: WORD_BOUND };
  }
  const before = boundSoFar();
  if (!isPlain(input)) {
    throw new StatepadError(
      'INVALID_ARGUMENT',
      `${path} must be a plain object of keys and values, not ${describe(input)}`,
      { path },
    );
  }
  const rules = stateRules(instances);
  let deleted: string[] | undefined;
  let operators: Record<string, Operator> | undefined;
  let key = '';
  try {
    for (key of Object.keys(input)) {
      const value = input[key];
      if (!isWellFormed(key)) {
        throw new Fault('is a key with a lone surrogate');
      }
      count(2 * stringBound(key.length));
      if (typeof value === 'object' && isDeleted(value)) {
        (deleted ??= []).push(key);
        count(WORD_BOUND);
        put(delta, key, null);
        continue;
      }
      const marked = typeof value === 'object' ? contentOfMark(value) : undefined;
      if (marked === undefined) {
        put(delta, key, required(copy(value, key, 1, rules)));
      } else {
        put((operators ??= {}), key, admitOperator(marked, key));
        count(WORD_BOUND);
      }
    }
  } catch (fault) {
    throw report(located(fault, key, input), path, true);
  }
  admitSymbols(input, path);
  const bound = boundSoFar() - before;
  if (operators === undefined) {
    return { delta, deleted: deleted ?? NOTHING, bound };
  }
  Object.keys(operators).forEach((name) => put(delta, name, null));
  return { delta, deleted: deleted ?? NOTHING, operators, bound };
}

/**
 * A copy of an operator. It is checked because other copies of the package may know others, and anyone can make one by
 * hand.
 */
function admitOperator(input: unknown, key: string): Operator {
  const operator = copy(input, key, 1, SYMBOLS);
  if (!isOperator(operator)) {
    throw new StatepadError('INVALID_ARGUMENT', `the operator of "${key}" is unknown`, { key });
  }
  return operator;
}

function admitSymbols(input: object, path: string): void {
  try {
    refuseSymbols(input);
  } catch (fault) {
    throw report(fault, path);
  }
}

const NOTHING: readonly never[] = [];

/** Copies instances of classes: see {@link AdmitOptions}. */
const INSTANCES = 1;
/** Refuses members under symbols, but for those of ADK's instances. */
const SYMBOLS = 2;

/** The rules for values of the state. */
function stateRules(instances: boolean): number {
  return instances ? SYMBOLS | INSTANCES : SYMBOLS;
}

/**
 * The frozen copy of a value, or `undefined` for a value that an object may omit. `name` is the member's name, for
 * `toJSON`; `rules` are those above, added up. Throws a {@link Fault}.
 */
function copy(value: unknown, name: string, depth: number, rules: number): Json | undefined {
  switch (typeof value) {
    case 'string':
      if (!isWellFormed(value)) {
        throw new Fault('has a lone surrogate');
      }
      count(stringBound(value.length));
      return value;
    case 'number':
      if (!Number.isFinite(value)) {
        throw new Fault(`is ${value}`);
      }
      count(NUMBER_BOUND);
      // JSON has no minus zero.
      return value + 0;
    case 'boolean':
    case 'undefined':
      count(WORD_BOUND);
      return value;
    case 'object':
      count(WORD_BOUND);
      return value === null ? null : copyObject(value, name, depth, rules);
    default:
      throw new Fault(`is a ${typeof value}`);
  }
}

function copyObject(value: object, name: string, depth: number, rules: number): Json | undefined {
  if (depth > MAX_DEPTH) {
    throw new Fault(`is nested deeper than ${MAX_DEPTH} levels`);
  }
  return isPlain(value) && value['toJSON'] === undefined
    ? copyRecord(value, Object.keys(value), depth, rules)
    : copyOther(value, name, depth, rules);
}

/** Copies lists, instances of classes, and objects that have a `toJSON`. */
function copyOther(value: object, name: string, depth: number, rules: number): Json | undefined {
  if (isRevoked(value)) {
    throw new Fault('is a revoked proxy');
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (contentOfMark(value) !== undefined) {
    throw new Fault('is an operator: it can only be the whole value of a key in a delta');
  }
  if (typeof toJSON === 'function') {
    return copyJson(value, toJSON as (name: string) => unknown, name, depth, rules);
  }
  if (Array.isArray(value)) {
    return copyArray(value, depth, rules);
  }
  if (isPlain(value) || ((rules & INSTANCES) !== 0 && isRecordLike(value))) {
    return copyRecord(value as Record<string, unknown>, Object.keys(value), depth, rules);
  }
  throw new Fault(`is ${describe(value)}`);
}

function copyArray(items: readonly unknown[], depth: number, rules: number): Json {
  if ((rules & SYMBOLS) !== 0) {
    refuseSymbols(items);
  }
  const list = new Array<Json>(items.length);
  let index = 0;
  try {
    for (; index < items.length; index++) {
      list[index] = required(copy(items[index], String(index), depth + 1, rules));
    }
  } catch (fault) {
    throw located(fault, index, items);
  }
  const names = Object.keys(items);
  if (names.length > items.length) {
    throw new Fault(`is a list with an extra member, ${JSON.stringify(names[items.length])}`);
  }
  return Object.freeze(list);
}

function copyRecord(record: Record<string, unknown>, names: readonly string[], depth: number, rules: number): Json {
  if (rules === SYMBOLS) {
    refuseSymbols(record);
  }
  if (names.length === 0) {
    return EMPTY;
  }
  if (names.length === 1 && names[0] === UNMARKED && (rules & SYMBOLS) !== 0) {
    throw new Fault('is an operator that lost its mark (structuredClone and JSON drop it)');
  }
  const members: Record<string, Json> = {};
  let name = '';
  try {
    for (name of names) {
      if (!isWellFormed(name)) {
        throw new Fault('is a member with a lone surrogate in its name');
      }
      count(stringBound(name.length));
      const member = copy(record[name], name, depth + 1, rules);
      if (member !== undefined) {
        put(members, name, member);
      }
    }
  } catch (fault) {
    throw located(fault, name, record);
  }
  return Object.freeze(members);
}

/** The value that `JSON.stringify` would take for one with a `toJSON`. */
function copyJson(
  value: object,
  toJSON: (name: string) => unknown,
  name: string,
  depth: number,
  rules: number,
): Json | undefined {
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    throw new Fault('is an invalid date');
  }
  const json = toJSON.call(value, name);
  if (!isAnswerer(json)) {
    return copy(json, name, depth + 1, rules);
  }
  // It is called once: JSON.stringify does not call the answer's toJSON either, and drops functions.
  if (Array.isArray(json)) {
    return copyArray(json, depth + 1, rules);
  }
  if (!isRecordLike(json)) {
    throw new Fault(`is ${describe(json)}`);
  }
  const names = Object.keys(json).filter((member) => member !== 'toJSON');
  return copyRecord(json as Record<string, unknown>, names, depth + 1, rules);
}

function isAnswerer(json: unknown): json is object {
  return typeof json === 'object' && json !== null && typeof (json as { toJSON?: unknown }).toJSON === 'function';
}

/** True for a plain object, and for an instance of a class that consists of its members alone. */
export function isRecordLike(value: object): boolean {
  return isPlain(value) || Object.prototype.toString.call(value) === '[object Object]';
}

/** Refuses members under symbols, which JSON would drop silently. ADK's mark of its events is accepted. */
function refuseSymbols(value: object): void {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (symbol !== ADK_EVENT && Object.prototype.propertyIsEnumerable.call(value, symbol)) {
      throw new Fault(`has a member under ${String(symbol)}`);
    }
  }
}

function required(value: Json | undefined): Json {
  if (value === undefined) {
    throw new Fault('is undefined');
  }
  return value;
}

/** A fault in a value. While it is thrown outwards it collects its path. */
class Fault extends Error {
  /** From the inside to the outside: the objects, and the step from each to the next. */
  readonly way: { readonly object: object; readonly step: string | number }[] = [];
}

function located(fault: unknown, step: string | number, object: object): Error {
  if (fault instanceof Fault) {
    fault.way.push({ object, step });
  }
  return fault as Error;
}

/** The error for a fault. State keys are written in brackets and quotes; members as in JavaScript. */
function report(fault: unknown, root: string, isDelta = false): Error {
  if (!(fault instanceof Fault)) {
    // Thrown by a getter or a toJSON.
    return fault as Error;
  }
  const way = fault.way.reverse();
  const again = way.findIndex(({ object }, index) => way.slice(0, index).some((earlier) => earlier.object === object));
  const steps = again < 0 ? way : way.slice(0, again);
  const path = steps.reduce((path, { step }, index) => path + spell(step, isDelta && index === 0, path === ''), root);
  const what = again < 0 ? fault.message : 'is part of a cycle';
  return new StatepadError('VALUE_NOT_JSON', `${path} ${what}: it is not JSON`, { path });
}

function spell(step: string | number, isKey: boolean, isFirst: boolean): string {
  if (typeof step === 'number') {
    return `[${step}]`;
  }
  if (isKey || !/^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(step)) {
    return `[${JSON.stringify(step)}]`;
  }
  return isFirst ? step : `.${step}`;
}
