/** The values of one scope, and its versions: what a handle shows stays as it was, and nothing is copied for it. */

import { admission } from './admission.mjs';

const { put } = admission;

/** A version of a scope. One that has moved on leads to the next, and knows what that has overwritten. */
class Version {
  next = undefined;
  undo = undefined;
}

/** Values by their full keys, and the version that they are. */
export class Scope {
  values = new Map();
  head = new Version();

  /** Writes to the scope, with the keys among `deleted` taken away. */
  write(entries, deleted) {
    const undo = [];
    for (const [key, value] of entries) {
      undo.push(key, this.values.get(key));
      if (deleted.length > 0 && deleted.includes(key)) this.values.delete(key);
      else this.values.set(key, value);
    }
    const before = this.head;
    before.undo = undo;
    this.head = before.next = new Version();
  }

  /** The values at a version: the Map itself when that is the last one. */
  at(version) {
    if (version.next === undefined) return this.values;
    const chain = [];
    for (let each = version; each.next !== undefined; each = each.next) chain.push(each.undo);
    const values = new Map(this.values);
    for (const undo of chain.reverse()) {
      for (let index = undo.length - 2; index >= 0; index -= 2) {
        if (undo[index + 1] === undefined) values.delete(undo[index]);
        else values.set(undo[index], undo[index + 1]);
      }
    }
    return values;
  }
}

/** One frozen record of the values of all scopes. */
export function merged(scopes, versions) {
  const state = {};
  for (let index = 0; index < 3; index += 1) {
    for (const [key, value] of scopes[index].at(versions[index])) put(state, key, value);
  }
  return Object.freeze(state);
}
