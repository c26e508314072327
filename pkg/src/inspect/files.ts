// The files of the inspector, read once.

import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkOptions, invalid } from '../checks/arguments.js';
import { describe } from '../model/value-types.js';
import { inspectorFolder } from './folder.js';
import { headersOfFile } from './headers.js';
import type { InspectorFile, InspectorFiles } from '../serve/inspector/files.js';

/** The page itself. */
const PAGE = 'index.html';

/** Options of {@link inspectorFiles}. */
export interface InspectorFilesOptions {
  /** The name of the store for people, without secrets; `sessions` by default. Clients with a token see it. */
  readonly label?: string | undefined;
}

/**
 * Reads the files of the inspector, for the option `inspector` of `serve`: the page is then at
 * `<basePath>/inspector/`. It asks for a token, and shows what its principal may see.
 *
 * Throws `INVALID_ARGUMENT`, and an error where the files are not beside the package's own, as in a program that was
 * bundled with the package.
 *
 * @example
 * const inspector = await inspectorFiles({ label: 'sessions.db' });
 * createServer(nodeListener(serve(service, { authorize, inspector }))).listen(8080, '127.0.0.1');
 */
export async function inspectorFiles(options: InspectorFilesOptions = {}): Promise<InspectorFiles> {
  checkOptions(options, ['label']);
  return { label: checkedLabel(options.label), files: await filesIn(fileURLToPath(inspectorFolder())) };
}

/** Checks the name of a store. Throws `INVALID_ARGUMENT`. */
export function checkedLabel(label: unknown = 'sessions'): string {
  if (typeof label !== 'string' || label === '') {
    invalid('label', `must be a text for people, not ${describe(label)}`);
  }
  return label;
}

async function filesIn(folder: string): Promise<ReadonlyMap<string, InspectorFile>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(missing(folder));
  const files = new Map<string, InspectorFile>();
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    const content = entry.isFile() ? await readFile(path) : undefined;
    const name = relative(folder, path).replaceAll('\\', '/');
    const headers = content && headersOfFile(name, content);
    if (headers !== undefined) {
      // A copy: its buffer is that of the file alone.
      files.set(name, { content: new Uint8Array(content as Uint8Array), headers });
    }
  }
  const page = files.get(PAGE) ?? missing(folder)(undefined);
  return files.set('', page);
}

function missing(folder: string): (cause: unknown) => never {
  return (cause) => {
    const message =
      `the files of the inspector are not in ${folder}: a bundled program leaves statepad out of its bundle, ` +
      'a clone is built first';
    throw new Error(message, { cause });
  };
}
