// The members of a parsed line, checked.

import { isBlank } from '../model/ids.js';
import { refuse } from './problems.js';
import type { EventInit } from '../model/types.js';
import type { Members } from '../transfer/planned.js';

export type { Members };

/** An object, with the path of its members in messages. */
export class Checked {
  readonly members: Members;
  readonly #path: string;

  /**
   * `path` is the prefix of a member's name in messages. Refuses values that are no object, which messages call
   * `what`.
   */
  constructor(value: unknown, what: string, path = '') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      refuse(`${what} must be an object`);
    }
    this.members = value as Members;
    this.#path = path;
  }

  /** A member that is a text; with `isNamed`, one that is not blank. */
  text(name: string, isNamed = false): string {
    const value = this.members[name];
    if (typeof value !== 'string') {
      return refuse(`${this.#path}${name} must be a string`);
    }
    return isNamed && isBlank(value) ? refuse(`${this.#path}${name} is blank`) : value;
  }

  /** A member that is a time, in milliseconds since the epoch. */
  time(name: string): number {
    const value = this.members[name];
    return typeof value === 'number' && Number.isFinite(value)
      ? value
      : refuse(`${this.#path}${name} must be a number of milliseconds`);
  }

  /** A member that is an object. */
  object(name: string): Members {
    return new Checked(this.members[name], this.#path + name).members;
  }

  /** A member that is a list. */
  list(name: string): readonly unknown[] {
    const value = this.members[name];
    return Array.isArray(value) ? (value as unknown[]) : refuse(`${this.#path}${name} must be a list`);
  }
}

/** A stored event: no member may be left to the service to fill in. */
export function storedEvent(value: unknown, path: string): EventInit {
  const event = new Checked(value, path, `${path}.`);
  if (event.text('id') === '') {
    refuse(`${path}.id is empty`);
  }
  event.time('timestamp');
  if (event.members['partial']) {
    refuse(`${path} is partial: such events are not stored`);
  }
  return event.members;
}
