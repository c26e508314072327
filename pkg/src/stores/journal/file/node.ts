// Modules that only Node has. They are looked up at run time, so that bundlers for browsers need not resolve them.

import { StoreError } from '../../../store/store-error.js';

interface Builtins {
  readonly 'node:fs/promises': typeof import('node:fs/promises');
  readonly 'node:os': typeof import('node:os');
  readonly 'node:path': typeof import('node:path');
  readonly 'node:process': typeof import('node:process');
}

/** A module of Node's own. Throws `rejected` where there is none. */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] {
  const host = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } };
  const found = host.process?.getBuiltinModule?.(name);
  if (found === undefined) {
    throw new StoreError('rejected', `a journal in a file needs ${name}, which is not there`);
  }
  return found as Builtins[Name];
}

/** The code of an error of the operating system: `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** What `task` answers, or `undefined` when it fails with one of the codes. */
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
