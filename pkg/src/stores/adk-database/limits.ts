// The limits of adk-python's tables. A change beyond them is refused by name before anything is sent.

import { isColumnTime, microsecondsOf } from './times.js';
import { isKeepable } from './sql.js';
import { isWellFormed } from '../../model/json.js';
import { STORED_SCOPES } from '../../model/scope.js';
import { StoreError } from '../../store/store-error.js';
import type { Change } from '../../store/contract.js';
import type { Json } from '../../model/types.js';

/** The most characters in the names of apps and users and in ids, and in the id of an invocation. */
const ID_LIMIT = 128;
const INVOCATION_LIMIT = 256;

/** True if anything can lie under a key. */
export function canBe(...ids: readonly (string | undefined)[]): boolean {
  return ids.every((id) => id === undefined || faultOf(id, ID_LIMIT) === undefined);
}

/** Throws `rejected` for a change that cannot be written. `event` is what its text says. */
export function checkChange({ key, time, event: envelope, delta }: Change, event: Json | undefined): void {
  checkText('the name of the app', key.appName, ID_LIMIT);
  checkText('the id of the user', key.userId, ID_LIMIT);
  checkText('the id of the session', key.sessionId, ID_LIMIT);
  checkTime(time);
  for (const part of STORED_SCOPES) {
    const set = delta[part]?.set ?? {};
    if (!isKeepableJson(JSON.stringify(set))) {
      checkJson(`the state of the ${part}`, set);
    }
  }
  if (envelope !== undefined && event !== undefined) {
    checkText('the id of the event', envelope.id, ID_LIMIT);
    checkTime(envelope.time);
    checkText(`the invocationId of event "${envelope.id}"`, invocationOf(event), INVOCATION_LIMIT);
    if (!isKeepableJson(envelope.data)) {
      checkJson(`event "${envelope.id}"`, event);
    }
  }
}

/** The id of the invocation that an event belongs to. */
export function invocationOf(event: Json): string {
  const id = (event as { readonly invocationId?: Json } | null)?.invocationId;
  return typeof id === 'string' ? id : '';
}

/** True if a JSON text has nothing that JSONB refuses. A false answer may be wrong. */
function isKeepableJson(text: string): boolean {
  return isWellFormed(text) && !/\\u(?:0000|d[89a-f])/i.test(text);
}

function checkText(what: string, text: string | undefined, limit: number): void {
  const fault = text === undefined ? undefined : faultOf(text, limit);
  if (fault !== undefined) {
    throw new StoreError('rejected', `${what} ${fault}`);
  }
}

function faultOf(text: string, limit: number): string | undefined {
  if (!isKeepable(text)) {
    return unkeepable(text);
  }
  // No character has more than two units.
  const length = text.length <= limit ? text.length : Array.from(text).length;
  return length > limit ? `has ${length} characters, but the tables of adk-python keep at most ${limit}` : undefined;
}

function unkeepable(text: string): string {
  return text.includes('\0')
    ? 'has the character NUL, which Postgres cannot keep'
    : 'has a lone surrogate, which Postgres cannot keep';
}

function checkTime(time: number): void {
  if (!isColumnTime(microsecondsOf(time))) {
    throw new StoreError('rejected', `the time ${time} is not a date of the years 1 to 9999, the range of Python`);
  }
}

/** Throws `rejected` for the first text in a value that cannot be kept. `where` names the value. */
function checkJson(where: string, value: Json): void {
  if (typeof value === 'string' && !isKeepable(value)) {
    throw new StoreError('rejected', `${where} ${unkeepable(value)}`);
  }
  if (Array.isArray(value)) {
    value.forEach((item: Json, index) => checkJson(`${where}[${index}]`, item));
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) {
      if (!isKeepable(name)) {
        throw new StoreError('rejected', `a name in ${where} ${unkeepable(name)}`);
      }
      checkJson(`${where}[${JSON.stringify(name)}]`, item);
    }
  }
}
