// The deletion of a key, in a delta and in a stored event.

import { StatepadError } from './errors.js';
import { describe, isObject } from './value-types.js';

const brand = Symbol.for('statepad.deleted');

/** The type of {@link DELETED}. */
export class Deleted {
  /** In JSON it is `null`, which ADK's readers understand. */
  toJSON(): null {
    return null;
  }

  static {
    Object.defineProperty(this.prototype, brand, { value: true });
  }
}

/**
 * In a delta, deletes the key: `{ 'user:theme': DELETED }`. In the stored event it is `null` plus the key in
 * `customMetadata.statepad.deleted`, so that other readers of the log understand it.
 */
export const DELETED: Deleted = Object.freeze(new Deleted());

/** True when a value is {@link DELETED}, of this copy of the package or of another one. */
export function isDeleted(value: unknown): boolean {
  try {
    return typeof value === 'object' && value !== null && brand in value;
  } catch {
    // A revoked proxy.
    return false;
  }
}

/** The deletions that an event in its stored form names. */
export function storedDeletions(customMetadata: unknown): readonly string[] {
  const own = (customMetadata as { statepad?: { deleted?: unknown } | null } | null | undefined)?.statepad;
  const deleted = own?.deleted ?? [];
  if (!Array.isArray(deleted) || !deleted.every((key) => typeof key === 'string')) {
    const path = 'customMetadata.statepad.deleted';
    throw new StatepadError('INVALID_ARGUMENT', `${path} must be a list of keys`, { path });
  }
  return deleted;
}

/** Checks that `customMetadata` can take `data`, which messages name, without losing anything of its own. */
export function checkMetadata(customMetadata: unknown, data = 'the keys that the event deletes'): void {
  const own = (customMetadata as { readonly statepad?: unknown } | null)?.statepad;
  for (const [path, value] of [
    ['customMetadata', customMetadata],
    ['customMetadata.statepad', own],
  ] as const) {
    if (value !== undefined && value !== null && !isObject(value)) {
      const message = `${path} must be an object, not ${describe(value)}: ${data} are kept in it`;
      throw new StatepadError('INVALID_ARGUMENT', message, { path });
    }
  }
}

/** The stored form: `customMetadata` with these deletions in it. */
export function withDeletions(customMetadata: unknown, deleted: readonly string[]): Readonly<Record<string, unknown>> {
  const metadata = (customMetadata ?? {}) as { statepad?: object };
  return Object.freeze({
    ...metadata,
    statepad: Object.freeze({ ...metadata.statepad, deleted: Object.freeze([...deleted]) }),
  });
}
