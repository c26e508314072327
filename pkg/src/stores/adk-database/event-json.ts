// Events as adk-python stores them, and back: other names of members, seconds, base64 for URLs.
//
// adk-python refuses to read a session when one member of one event is not what it expects. So an event is written as
// far as adk-python knows it; where that leaves something out, all of the event lies beside it, under a name that
// adk-python passes over.

import { isObject } from '../../model/value-types.js';
import { put, sameJson } from '../../model/json.js';
import { RULES } from './event-rules.js';
import { modelOf, type Plain, type Shape } from './shapes.js';
import { millisecondsOf, secondsOf } from './times.js';
import type { Json } from '../../model/types.js';

/** The member of a stored event that has what adk-python does not know. */
const OURS = 'statepad';

const EVENT: Shape = { kind: 'model', name: 'Event' };

type JsonObject = Readonly<Record<string, Json>>;

/** An event as it is stored: what adk-python reads, and all of it where that is less. */
export function storedEvent(event: Json): JsonObject {
  const known = (toStored(EVENT, event) ?? {}) as Record<string, Json>;
  return sameJson(toJson(EVENT, known), event) ? known : { ...known, [OURS]: { event } };
}

/** The event that {@link storedEvent} or adk-python has stored, as ADK writes it in JSON. */
export function eventOf(stored: Json): Json {
  const ours = isRecord(stored) ? stored[OURS] : undefined;
  const whole = isRecord(ours) ? ours['event'] : undefined;
  return whole === undefined ? toJson(EVENT, stored) : whole;
}

/** A value as it is stored, without what does not fit; `undefined` when it does not fit itself. */
function toStored(shape: Shape, value: Json): Json | undefined {
  switch (shape.kind) {
    case 'any':
      return value;
    case 'plain':
      return toStoredPlain(shape.plain, value);
    case 'literal':
      return value === shape.value ? value : undefined;
    case 'list':
      return Array.isArray(value) ? mapList(value, (item) => toStored(shape.of, item)) : undefined;
    case 'map':
      return isRecord(value) ? mapRecord(value, (item) => toStored(shape.of, item)) : undefined;
    case 'either':
      return firstOf(shape.of, (each) => toStored(each, value));
    case 'model':
      return isRecord(value) ? toStoredModel(shape.name, value) : undefined;
  }
}

function toStoredModel(name: string, value: JsonObject): Json | undefined {
  const { byName, keepsOthers, required } = modelOf(name);
  const stored: Record<string, Json> = {};
  for (const [key, item] of Object.entries(value)) {
    const member = byName.get(key);
    // Members that are `null` are left out, as adk-python does.
    const written = member === undefined ? item : item === null ? undefined : toStored(member.shape, item);
    if (written !== undefined && (member !== undefined || keepsOthers)) {
      put(stored, member?.stored ?? key, written);
    }
  }
  return required.every((key) => Object.hasOwn(stored, key)) && (RULES[name]?.(stored) ?? true) ? stored : undefined;
}

function toStoredPlain(plain: Plain, value: Json): Json | undefined {
  switch (plain) {
    case 'str':
      return typeof value === 'string' ? value : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'int':
      return Number.isInteger(value) ? value : undefined;
    case 'float':
      return typeof value === 'number' ? value : undefined;
    case 'time':
      return typeof value === 'number' ? secondsOf(value) : undefined;
    case 'bytes':
      return typeof value === 'string' ? toUrlBase64(value) : undefined;
  }
}

/** Returns a stored value as ADK writes it in JSON. Unknown values stay as they are. */
function toJson(shape: Shape, stored: Json): Json {
  switch (shape.kind) {
    case 'list':
      return Array.isArray(stored) ? stored.map((item: Json) => toJson(shape.of, item)) : stored;
    case 'map':
      return isRecord(stored) ? mapRecord(stored, (item) => toJson(shape.of, item)) : stored;
    case 'model':
      return isRecord(stored) ? toJsonModel(shape.name, stored) : stored;
    case 'plain':
      if (shape.plain === 'time' && typeof stored === 'number') {
        return millisecondsOf(stored);
      }
      return shape.plain === 'bytes' && typeof stored === 'string' ? fromUrlBase64(stored) : stored;
    default:
      return stored;
  }
}

function toJsonModel(name: string, stored: JsonObject): Json {
  const { byStored } = modelOf(name);
  const json: Record<string, Json> = {};
  for (const [key, item] of Object.entries(stored)) {
    const member = byStored.get(key);
    put(json, member?.name ?? key, member === undefined ? item : toJson(member.shape, item));
  }
  return json;
}

/** Base64 for URLs, of base64 in either alphabet; `undefined` for everything that adk-python does not take. */
function toUrlBase64(text: string): string | undefined {
  const isEither = /^[A-Za-z0-9+/]*={0,2}$/.test(text) || /^[A-Za-z0-9_-]*={0,2}$/.test(text);
  // The last letter before the padding has bits that belong to no byte.
  const isWhole = text.length % 4 === 0 && (!text.endsWith('=') || /(?:[AQgw]=|[AEIMQUYcgkosw048])=$/.test(text));
  return isEither && isWhole ? text.replaceAll('+', '-').replaceAll('/', '_') : undefined;
}

function fromUrlBase64(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/');
}

function mapList(list: readonly Json[], write: (item: Json) => Json | undefined): Json {
  return list.map(write).filter((item) => item !== undefined);
}

function mapRecord(record: JsonObject, write: (item: Json) => Json | undefined): Json {
  const written: Record<string, Json> = {};
  for (const [key, item] of Object.entries(record)) {
    const value = write(item);
    if (value !== undefined) {
      put(written, key, value);
    }
  }
  return written;
}

function firstOf<T>(items: readonly T[], find: (item: T) => Json | undefined): Json | undefined {
  for (const item of items) {
    const result = find(item);
    if (result !== undefined) {
      return result;
    }
  }
  return undefined;
}

function isRecord(value: Json | undefined): value is JsonObject {
  return isObject(value);
}
