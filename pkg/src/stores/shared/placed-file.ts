// A file that is open, and the path where others look for it. Once the file is renamed, deleted or replaced, the one
// that is open can still be written, but what is written to it reaches nobody.

import { builtinModule } from './builtin.js';

/** The identity of a file among all others, as long as it is open. Node's numbers would round large ones. */
interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

/** A file at the path where it was found. */
export class PlacedFile {
  readonly #path: string;
  readonly #identity: Identity;

  private constructor(path: string, identity: Identity) {
    this.#path = path;
    this.#identity = identity;
  }

  /** The file at an absolute path; `undefined` when there is none, or this process cannot look at it. */
  static at(path: string): PlacedFile | undefined {
    const identity = identityAt(path);
    return identity === undefined || identity === 'none' ? undefined : new PlacedFile(path, identity);
  }

  /** The file that is open as `fd`, which was found at an absolute path. */
  static opened(path: string, fd: number): PlacedFile | undefined {
    const identity = builtinModule('node:fs')?.fstatSync?.(fd, { bigint: true });
    return identity && new PlacedFile(path, identity);
  }

  /**
   * Says what has become of the file, `"/data/sessions.db" was replaced by another file`; `undefined` while it is at
   * its path, and while this process cannot look there, as after it has given up its rights.
   */
  moved(): string | undefined {
    const current = identityAt(this.#path);
    if (current === 'none') {
      return `"${this.#path}" was renamed or deleted`;
    }
    const isOther =
      current !== undefined && (current.ino !== this.#identity.ino || current.dev !== this.#identity.dev);
    return isOther ? `"${this.#path}" was replaced by another file` : undefined;
  }
}

/** The file at a path; `undefined` where there are no files, or this process cannot look at them. */
function identityAt(path: string): Identity | 'none' | undefined {
  try {
    const { statSync } = builtinModule('node:fs') ?? {};
    return statSync && (statSync(path, { bigint: true, throwIfNoEntry: false }) ?? 'none');
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    return code === 'ENOENT' || code === 'ENOTDIR' ? 'none' : undefined;
  }
}
