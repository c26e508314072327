// The packages of clients, which belong to the user: they are looked for from the user's folder, and beside this
// package, where a global installation and npx put them.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CommandError } from '../errors.js';

/** A package, loaded. */
export interface Driver {
  readonly name: string;
  /** An export, under its name or as a member of the default export. */
  member(name: string): unknown;
}

/** A package that can do the work. */
export interface Wanted {
  readonly name: string;
  /** The version to install, unless any will do. */
  readonly version?: string;
}

/**
 * Loads the first of some packages that is installed. Throws `CommandError` with the line that installs one when there
 * is none. `purpose` begins that sentence: `Postgres`.
 */
export async function installedDriver(
  folder: string,
  purpose: string,
  wanted: readonly [Wanted, ...Wanted[]],
): Promise<Driver> {
  for (const { name } of wanted) {
    const path = pathOf(name, folder);
    if (path !== undefined) {
      return await loaded(name, path);
    }
  }
  const names = wanted.map(({ name }) => name).join(' or ');
  const [{ name, version }] = wanted;
  const line = `npm install ${name}${version === undefined ? '' : `@${version}`}`;
  throw new CommandError(`${purpose} needs the package ${names}, which is not installed in ${folder}: ${line}`);
}

function pathOf(name: string, folder: string): string | undefined {
  for (const from of [pathToFileURL(join(folder, 'package.json')), import.meta.url]) {
    try {
      return createRequire(from).resolve(name);
    } catch {
      // It may be in the other place.
    }
  }
  return undefined;
}

async function loaded(name: string, path: string): Promise<Driver> {
  let module: Readonly<Record<string, unknown>>;
  try {
    module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, unknown>>;
  } catch (error) {
    throw new CommandError(`the package ${name} cannot be loaded`, { cause: error });
  }
  const standard = module['default'] as Readonly<Record<string, unknown>> | undefined;
  return { name, member: (member) => module[member] ?? standard?.[member] };
}
