// What comes in is checked, copied and frozen in one pass. After it no caller's later mutation reaches the service, and
// what JSON would lose or change without a word is an error that names its place.

import { isDeleted } from './deleted.js';
import { StatepadError } from './errors.js';
import type { Json } from './types.js';

/** How deep lists and objects may be nested in a value; the core has the same limit. */
export const MAX_DEPTH = 100;

/** The mark of ADK's events: the one symbol that a copy keeps. */
export const ADK_EVENT = Symbol.for('google.adk.event');

/** Options of the pass. */
export interface AdmitOptions {
  /**
   * Copies instances of classes as their own enumerable members, as ADK's stores do, instead of refusing them. ADK puts
   * a few into its events. Members under symbols are left out then.
   */
  readonly instances?: boolean;
}

/** A copy of a delta, not frozen yet, and the keys that it deletes. */
export interface AdmittedDelta {
  readonly delta: Record<string, Json>;
  readonly deleted: readonly string[];
}

/** Where the pass stands, for the message of an error. */
interface Pass {
  readonly root: unknown;
  readonly path: string;
  readonly trail: (string | number)[];
  readonly instances: boolean;
}

const wellFormed: (text: string) => boolean =
  'isWellFormed' in String.prototype ? (text) => text.isWellFormed() : (text) => !/\p{Surrogate}/u.test(text);

/** Copies and freezes one value. `path` names it in errors. */
export function admitValue(value: unknown, path: string, options: AdmitOptions = {}): Json {
  const pass: Pass = { root: value, path, trail: [], instances: options.instances ?? false };
  const copied = copy(value, pass);
  return copied === undefined ? refuse(pass, 'is undefined') : copied;
}

/** Copies a delta and freezes its values. `path` names it in errors. */
export function admitDelta(delta: unknown, path: string): AdmittedDelta {
  if (delta === undefined || delta === null) {
    return { delta: {}, deleted: [] };
  }
  if (typeof delta !== 'object' || Array.isArray(delta) || !isPlain(delta)) {
    throw new StatepadError('INVALID_ARGUMENT', `${path} must be an object of keys and values`, { path });
  }
  const pass: Pass = { root: delta, path, trail: [], instances: false };
  const admitted: Record<string, Json> = {};
  const deleted: string[] = [];
  for (const key of Object.keys(delta)) {
    const value = (delta as Record<string, unknown>)[key];
    pass.trail.push(key);
    if (!wellFormed(key)) {
      refuse(pass, 'is a key with a lone surrogate');
    }
    if (isDeleted(value)) {
      deleted.push(key);
      put(admitted, key, null);
    } else {
      const copied = copy(value, pass);
      put(admitted, key, copied === undefined ? refuse(pass, 'is undefined') : copied);
    }
    pass.trail.pop();
  }
  refuseSymbols(delta, pass);
  return { delta: admitted, deleted };
}

/** Checks a name or an id: a string that every host can hold. */
export function admitString(value: unknown, path: string): string {
  if (typeof value !== 'string' || !wellFormed(value)) {
    throw new StatepadError('INVALID_ARGUMENT', `${path} must be a string without lone surrogates`, { path });
  }
  return value;
}

/** Sets an own member, whatever its name. */
export function put<T>(record: Record<string, T>, key: string, value: T): void {
  if (key === '__proto__') {
    Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    record[key] = value;
  }
}

/** The frozen copy of a value, or `undefined` for what an object may leave out. */
function copy(value: unknown, pass: Pass): Json | undefined {
  switch (typeof value) {
    case 'string':
      return wellFormed(value) ? value : refuse(pass, 'has a lone surrogate');
    case 'number':
      // JSON has no minus zero.
      return Number.isFinite(value) ? value + 0 : refuse(pass, `is ${value}`);
    case 'boolean':
    case 'undefined':
      return value;
    case 'object':
      return value === null ? null : copyObject(value, pass);
    default:
      return refuse(pass, `is a ${typeof value}`);
  }
}

function copyObject(value: object, pass: Pass): Json | undefined {
  if (pass.trail.length > MAX_DEPTH) {
    refuse(pass, isCycle(pass) ? 'is part of a cycle' : `is nested deeper than ${MAX_DEPTH} levels`);
  }
  if (Array.isArray(value)) {
    return copyArray(value, pass);
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === 'function') {
    return copyJson(value, toJSON as () => unknown, pass);
  }
  if (!isPlain(value) && !(pass.instances && isRecord(value))) {
    refuse(pass, `is ${describe(value)}`);
  }
  return copyRecord(value as Record<string, unknown>, pass);
}

function copyArray(items: readonly unknown[], pass: Pass): Json {
  const copied = new Array<Json>(items.length);
  for (let index = 0; index < items.length; index++) {
    pass.trail.push(index);
    const item = copy(items[index], pass);
    copied[index] = item === undefined ? refuse(pass, 'is undefined') : item;
    pass.trail.pop();
  }
  return Object.freeze(copied);
}

function copyRecord(record: Record<string, unknown>, pass: Pass): Json {
  const copied: Record<string, Json> = {};
  for (const key of Object.keys(record)) {
    pass.trail.push(key);
    if (!wellFormed(key)) {
      refuse(pass, 'is a member with a lone surrogate in its name');
    }
    const member = copy(record[key], pass);
    if (member !== undefined) {
      put(copied, key, member);
    }
    pass.trail.pop();
  }
  refuseSymbols(record, pass);
  return Object.freeze(copied);
}

/** What `JSON.stringify` would take in the place of a value that has a `toJSON`. */
function copyJson(value: object, toJSON: (key: string) => unknown, pass: Pass): Json | undefined {
  if (value instanceof Date && Number.isNaN(value.getTime())) {
    refuse(pass, 'is an invalid date');
  }
  const json = toJSON.call(value, String(pass.trail.at(-1) ?? ''));
  const again = typeof json === 'object' && json !== null && typeof (json as { toJSON?: unknown }).toJSON === 'function';
  if (again) {
    refuse(pass, 'has a toJSON that answers with another one');
  }
  return copy(json, pass);
}

function refuseSymbols(value: object, pass: Pass): void {
  for (const symbol of Object.getOwnPropertySymbols(value)) {
    if (!pass.instances && symbol !== ADK_EVENT && Object.prototype.propertyIsEnumerable.call(value, symbol)) {
      refuse(pass, `has a member under ${String(symbol)}`);
    }
  }
}

/** Made by `{}`, by `Object.create(null)`, or by the `{}` of another realm. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype || prototype === null || Object.hasOwn(prototype, 'isPrototypeOf');
}

/** An instance of a class whose data are its own members, unlike a `Map` or a typed array. */
function isRecord(value: object): boolean {
  return Object.prototype.toString.call(value) === '[object Object]';
}

function describe(value: object): string {
  const name = (value.constructor as { name?: unknown } | undefined)?.name;
  return typeof name === 'string' && name !== '' ? `an instance of ${name}` : 'an object of an unknown kind';
}

/** Whether the way from the root to here comes through one object twice. */
function isCycle(pass: Pass): boolean {
  const seen = new Set<unknown>();
  let value = pass.root;
  for (const step of pass.trail) {
    if (seen.has(value)) {
      return true;
    }
    seen.add(value);
    value = (value as Record<string | number, unknown> | undefined)?.[step];
  }
  return seen.has(value);
}

function refuse(pass: Pass, what: string): never {
  const path = pass.trail.reduce<string>(appendStep, pass.path);
  throw new StatepadError('VALUE_NOT_JSON', `${path} ${what}: it is not JSON`, { path });
}

/** State keys stand in brackets and quotes; members as JavaScript writes them. */
function appendStep(path: string, step: string | number, index: number): string {
  if (typeof step === 'number') {
    return `${path}[${step}]`;
  }
  const isKey = index === 0 && (path === 'state' || path.endsWith('stateDelta'));
  const isName = !isKey && /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(step);
  return isName ? `${path}.${step}` : `${path}[${JSON.stringify(step)}]`;
}
