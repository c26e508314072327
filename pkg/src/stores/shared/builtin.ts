// Modules that only Node and hosts like it have. They are looked up at run time, so that bundlers for browsers
// need not resolve them.

/** The class of a database that is opened by its path. */
export type DatabaseClass = new (
  path: string,
  options?: object,
) => {
  prepare(sql: string): { run(...values: unknown[]): unknown; all(...values: unknown[]): unknown };
  exec(sql: string): unknown;
  close(): unknown;
};

interface Builtins {
  readonly 'bun:sqlite': { readonly Database: DatabaseClass };
  readonly 'node:buffer': typeof import('node:buffer');
  readonly 'node:crypto': typeof import('node:crypto');
  readonly 'node:fs': typeof import('node:fs');
  readonly 'node:fs/promises': typeof import('node:fs/promises');
  readonly 'node:os': typeof import('node:os');
  readonly 'node:path': typeof import('node:path');
  readonly 'node:process': typeof import('node:process');
  readonly 'node:sqlite': { readonly DatabaseSync: DatabaseClass };
  readonly 'node:url': typeof import('node:url');
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
