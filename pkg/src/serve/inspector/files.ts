// The files of the inspector, as data.

import { checkObject, checkOptions, invalid } from '../../checks/arguments.js';

/** A file of the inspector. */
export interface InspectorFile {
  readonly content: Uint8Array;
  /** The headers of its answer, under lower-case names, with its type and its `etag`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The files of the inspector, for a server that has them beside its routes. */
export interface InspectorFiles {
  /** The name of the store for people, without secrets: `sessions.db`. */
  readonly label: string;
  /** The files by their paths below `inspector/`, as `index.html`, which the empty path names, too. */
  readonly files: ReadonlyMap<string, InspectorFile>;
}

/** Checks the files that a server is given. Throws `INVALID_ARGUMENT`. */
export function checkInspector(input: InspectorFiles): InspectorFiles {
  checkObject(input, 'inspector');
  checkOptions(input, ['label', 'files'], 'inspector');
  if (typeof input.label !== 'string' || !(input.files instanceof Map)) {
    invalid('inspector', 'must be what inspectorFiles of statepad/inspect resolves with');
  }
  return input;
}
