// Modules that only Node and what resembles it have. They are looked up at run time, so that bundlers for browsers
// need not resolve them.

interface Builtins {
  readonly 'node:buffer': typeof import('node:buffer');
  readonly 'node:crypto': typeof import('node:crypto');
  readonly 'node:fs': typeof import('node:fs');
  readonly 'node:fs/promises': typeof import('node:fs/promises');
  readonly 'node:os': typeof import('node:os');
  readonly 'node:path': typeof import('node:path');
  readonly 'node:process': typeof import('node:process');
  readonly 'node:zlib': typeof import('node:zlib');
}

/** The name of such a module. */
export type BuiltinName = keyof Builtins;

/** A module of Node's own; `undefined` where there is none. Of other hosts it may have a part alone. */
export function builtinModule<Name extends BuiltinName>(name: Name): Partial<Builtins[Name]> | undefined {
  const host = globalThis as { readonly process?: { getBuiltinModule?(name: string): unknown } };
  return host.process?.getBuiltinModule?.(name) as Partial<Builtins[Name]> | undefined;
}

/** The same for one that is there as a whole. */
export type Builtin<Name extends BuiltinName> = Builtins[Name];
