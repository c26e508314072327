// Reads the messages of a body, as strictly as Google's own reader of JSON: all faults are reported at once.

import { unreadable, type Violation } from './errors.js';
import { isDefault, readEnum, readScalar, readTime, textOf } from './scalars.js';
import { fieldsOf, isMessage, type Field, type FurtherFields, type Version } from './schema.js';
import { isList, isObject } from '../../../model/value-types.js';

/** A message that was read, ready to be written: without what is left out of answers; maps are instances of Map. */
export type Message = Record<string, unknown>;

const UNREAD = 'Invalid JSON payload received.';

/**
 * Reads a body as a message; none at all is an empty one. `path` is what errors call it; `further` are fields that the
 * API does not have. Throws all that is wrong with it as one error.
 */
export function readMessage(
  type: string,
  value: unknown,
  path: string,
  version: Version,
  further?: FurtherFields,
): Message {
  const reader = new Reader(version, further);
  const message = value === undefined ? {} : reader.root(type, value, path);
  if (reader.violations.length > 0) {
    throw unreadable(reader.violations);
  }
  return message;
}

/** A value as a message, without what the API has no name or another type for. */
export function messagePart(type: string, value: object, version: Version, further?: FurtherFields): Message {
  return new Reader(version, further).root(type, value, '');
}

class Reader {
  readonly violations: Violation[] = [];
  readonly #version: Version;
  readonly #further: FurtherFields | undefined;

  constructor(version: Version, further: FurtherFields | undefined) {
    this.#version = version;
    this.#further = further;
  }

  root(type: string, value: unknown, path: string): Message {
    if (isObject(value)) {
      return this.#message(type, value, path);
    }
    this.#unknown('', '', 'Root element must be a message.');
    return {};
  }

  #message(type: string, value: object, path: string): Message {
    const fields = fieldsOf(type, this.#version, this.#further);
    const found = new Map<Field, unknown>();
    const unions = new Set<string>();
    for (const [name, member] of Object.entries(value)) {
      const field = fields.find((one) => one.name === name || one.protoName === name);
      if (field === undefined) {
        this.#unknown(path, name, 'Cannot find field.');
      } else if (member !== null || field.name === 'nullValue') {
        this.#checkUnion(unions, field, path);
        found.set(field, this.#field(type, field, member, path));
      }
    }
    const kept = fields.filter((field) => isKept(field, found.get(field)));
    return Object.fromEntries(kept.map((field) => [field.name, found.get(field)]));
  }

  #checkUnion(unions: Set<string>, { union, name }: Field, path: string): void {
    if (union !== undefined && unions.has(union)) {
      this.#invalid(path, 'oneof', `oneof field '${union}' is already set. Cannot set '${name}'`);
    }
    unions.add(union ?? '');
  }

  #field(owner: string, field: Field, value: unknown, path: string): unknown {
    const at = path === '' ? field.protoName : `${path}.${field.protoName}`;
    if (field.type.startsWith('map ')) {
      return this.#map(field, value, at);
    }
    if (field.isList) {
      // One value counts as a list of it.
      const items: readonly unknown[] = isList(value) ? value : [value];
      return items.map((item, index) => this.#value(owner, field, item, `${at}[${index}]`));
    }
    if (isList(value)) {
      this.#unknown(path, field.name, 'Proto field is not repeating, cannot start list.');
      return undefined;
    }
    return this.#value(owner, field, value, at);
  }

  #map({ type, name }: Field, value: unknown, at: string): Map<string, unknown> {
    if (!isObject(value)) {
      this.#invalid(at, 'Map', `Cannot bind a ${isList(value) ? 'list' : 'scalar'} to map for field '${name}'.`);
      return new Map();
    }
    const read = (item: unknown, index: number): unknown =>
      this.#scalar(type.slice('map '.length), item, `${at}[${index}].value`);
    return new Map(Object.entries(value).map(([key, item], index) => [key, read(item, index)]));
  }

  #value(owner: string, field: Field, value: unknown, at: string): unknown {
    const { type } = field;
    if (type === 'struct') {
      return this.#struct(value, at);
    }
    if (isMessage(type)) {
      return isObject(value) ? this.#message(type, value, at) : this.#invalid(at, this.#url(type), textOf(value));
    }
    if (type === 'timestamp' || type === 'moment' || type === 'duration') {
      return this.#time(field, value, at);
    }
    if (type.startsWith('enum ')) {
      return this.#enum(owner, field, value, at);
    }
    return this.#scalar(type, value, at);
  }

  #struct(value: unknown, at: string): unknown {
    return isObject(value) ? structOf(value) : this.#invalid(at, url('google.protobuf.Struct'), textOf(value));
  }

  #time({ name, type }: Field, value: unknown, at: string): unknown {
    const read = readTime(type, value);
    const title = type === 'duration' ? 'Duration' : 'Timestamp';
    return 'text' in read
      ? read.text
      : this.#invalid(at, url(`google.protobuf.${title}`), `Field '${name}', ${read.reason}`);
  }

  #enum(owner: string, { name, type }: Field, value: unknown, at: string): unknown {
    if (name === 'nullValue') {
      return value === null || value === 'NULL_VALUE' || value === 0
        ? null
        : this.#invalid(at, url('google.protobuf.NullValue'), textOf(value));
    }
    const read = readEnum(type.split(' ').slice(1), value);
    return (
      read ?? this.#invalid(at, this.#url(`${owner}.${name.charAt(0).toUpperCase()}${name.slice(1)}`), textOf(value))
    );
  }

  #scalar(type: string, value: unknown, at: string): unknown {
    const title = `TYPE_${type.toUpperCase()}`;
    if (isObject(value) || isList(value)) {
      return this.#invalid(at, title, `Starting ${isList(value) ? 'a list' : 'an object'} on a scalar field`);
    }
    const read = readScalar(type, value);
    const failure = type === 'bytes' && typeof value === 'string' ? 'Base64 decoding failed for ' : '';
    return read ?? this.#invalid(at, title, `${failure}${textOf(value)}`);
  }

  #unknown(path: string, name: string, reason: string): void {
    const place = path === '' ? '' : ` at '${path}'`;
    this.#refuse(path, `${UNREAD} Unknown name ${JSON.stringify(name)}${place}: ${reason}`);
  }

  /** Notes a value that is none of its type. What it answers takes the place of the value. */
  #invalid(path: string, type: string, value: string): unknown {
    this.#refuse(path, `Invalid value at '${path}' (${type}), ${value}`);
    return undefined;
  }

  #refuse(path: string, description: string): void {
    this.violations.push({ ...(path !== '' && { field: path }), description });
  }

  #url(type: string): string {
    return url(`google.cloud.aiplatform.${this.#version}.${type}`);
  }
}

function url(name: string): string {
  return `type.googleapis.com/${name}`;
}

/** True when an answer has a field: default values are left out unless the field knows that it was set. */
function isKept(field: Field, value: unknown): boolean {
  return value !== undefined && (field.hasPresence || !isEmpty(field, value));
}

function isEmpty({ type }: Field, value: unknown): boolean {
  if (isList(value)) {
    return value.length === 0;
  }
  return value instanceof Map
    ? value.size === 0
    : type.startsWith('enum ')
      ? value === type.split(' ')[1]
      : isDefault(value);
}

/** A Struct: objects become maps, whose order is not kept. */
function structOf(value: object): Map<string, unknown> {
  const members = new Map<string, unknown>();
  for (const name of Object.keys(value)) {
    members.set(name, structValue((value as Readonly<Record<string, unknown>>)[name]));
  }
  return members;
}

function structValue(value: unknown): unknown {
  return isList(value) ? value.map(structValue) : isObject(value) ? structOf(value) : value;
}
