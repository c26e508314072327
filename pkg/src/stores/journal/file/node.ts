// The functions of Node that a journal in a file needs.

import { StoreError } from '../../../store/store-error.js';
import { builtinModule, type Builtin, type BuiltinName } from '../../shared/builtin.js';

/** A module of Node's own. Throws `rejected` where there is none. */
export function builtin<Name extends BuiltinName>(name: Name): Builtin<Name> {
  const module = builtinModule(name);
  if (module === undefined) {
    throw new StoreError('rejected', `a journal in a file needs ${name}, which is missing`);
  }
  return module as Builtin<Name>;
}

/** The code of an error of the operating system: `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** Returns the answer of `task`, or `undefined` when it fails with one of the codes. */
export async function unless<T>(codes: readonly string[], task: () => Promise<T>): Promise<T | undefined> {
  try {
    return await task();
  } catch (error) {
    if (codes.includes(codeOf(error) ?? '')) {
      return undefined;
    }
    throw error;
  }
}
