// The path of a database's file, and the reason why there is none.

import { StatepadError } from '../../model/errors.js';
import { invalid } from '../../checks/arguments.js';
import { checkText } from '../shared/options.js';
import { builtinModule } from '../shared/builtin.js';

/** SQLite's name for a database that lies in no file. */
export const MEMORY = ':memory:';

/** The URL of a file: the part of a `URL` that is needed. */
export interface FileUrl {
  readonly href: string;
  readonly protocol: string;
}

/** True for the name of a file. A `URL` may be that of another realm. */
export function isPath(database: unknown): database is string | FileUrl {
  const { href, protocol } = (database ?? {}) as Partial<FileUrl>;
  return typeof database === 'string' || (typeof href === 'string' && typeof protocol === 'string');
}

/** Throws `INVALID_ARGUMENT` for the name of a file that cannot be one. */
export function checkPath(path: string | FileUrl): void {
  if (typeof path !== 'string') {
    if (path.protocol !== 'file:') {
      invalid('path', `must be a file: "${path.href}" is not`);
    }
    return;
  }
  checkText('path', path, "'sessions.db'");
  if (path.includes('\0')) {
    invalid('path', 'must not contain the character NUL');
  }
}

/** A path from the root: the process may change its folder. A text that begins with `file:` is a URL. */
export function absolute(location: string): string {
  if (location === MEMORY) {
    return location;
  }
  try {
    const isUrl = location.startsWith('file:');
    const path = isUrl ? builtinModule('node:url')?.fileURLToPath?.(plainUrl(location)) : location;
    return builtinModule('node:path')?.resolve?.(path ?? location) ?? location;
  } catch (error) {
    const message = `the database "${location}" cannot be opened: ${String(error)}`;
    throw new StatepadError('INVALID_ARGUMENT', message, { cause: error });
  }
}

/** SQLite's own names, `file:sessions.db?mode=ro`, are no URLs of files: the first part would be lost in one. */
function plainUrl(text: string): URL {
  const url = new URL(text);
  if (!text.startsWith('file://') || url.search !== '' || url.hash !== '') {
    throw new TypeError('the URL of a file is file:///folder/name, without a query');
  }
  return url;
}

/** The reason that a database could not be opened, as far as a look at its path tells. */
export function diagnosis(path: string, error: unknown): [code: 'rejected' | 'unavailable', message: string] {
  const { accessSync, statSync } = builtinModule('node:fs') ?? {};
  const folder = builtinModule('node:path')?.dirname?.(path) ?? '';
  try {
    if (statSync?.(folder).isDirectory() === false) {
      return ['rejected', `"${folder}" is not a folder`];
    }
    const stats = statSync?.(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() === true) {
      return ['rejected', 'it is a folder'];
    }
    const [mayRead, mayWrite] = [4, 2];
    accessSync?.(stats === undefined ? folder : path, mayRead | mayWrite);
  } catch (reason) {
    const isMissing = (reason as { readonly code?: unknown }).code === 'ENOENT';
    return ['rejected', isMissing ? `there is no folder "${folder}"` : `it cannot be opened: ${String(reason)}`];
  }
  return ['unavailable', `it cannot be opened: ${String(error)}`];
}
