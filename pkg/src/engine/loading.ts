// How the loaders tell what came of loading the module. Importing the package never throws: what the host refuses is
// told by the first call that needs the core.

import { StatepadError } from '../model/errors.js';

/** What came of loading. Neither member: the core can be called. */
export interface Loading {
  /** What to wait for, where the module is not loaded at once. */
  readonly pending?: Promise<void>;
  /** Why the host could not load the module. */
  readonly failure?: { readonly cause: unknown };
}

/** What every host has to have. */
const NEEDED = ['WebAssembly', 'TextDecoder', 'TextEncoder'] as const;

/** What of that this host lacks. */
function missingGlobal(): string | undefined {
  return NEEDED.find((name) => typeof globalThis[name] === 'undefined');
}

/** Loads the module at once. */
export function loadNow(load: () => unknown): Loading {
  try {
    const lacks = missingGlobal();
    if (lacks !== undefined) {
      throw new ReferenceError(`${lacks} is not defined`);
    }
    load();
    return {};
  } catch (cause) {
    return { failure: { cause } };
  }
}

/** Loads the module beside the program's own work. */
export function loadBeside(load: () => Promise<void>): Loading {
  let pending: Promise<void> | undefined;
  const { failure } = loadNow(() => {
    pending = load();
  });
  return pending === undefined ? { ...(failure && { failure }) } : { pending };
}

/** What callers are told when the host could not load the module. */
export function hostError(cause: unknown): StatepadError {
  return new StatepadError('CORE_FAILED', messageFor(cause), { reason: 'host', cause });
}

function messageFor(cause: unknown): string {
  const lacks = missingGlobal();
  if (lacks !== undefined) {
    return `statepad needs ${lacks}, and this host has none: run it where there is a global ${lacks}`;
  }
  const text = cause instanceof Error ? cause.message : String(cause);
  // The module itself is valid: a host that does not compile it has been told not to.
  if (cause instanceof WebAssembly.CompileError) {
    return (
      `statepad needs WebAssembly, and this host refuses to compile it: a content security policy has to allow ` +
      `'wasm-unsafe-eval' in its script-src (the host says: ${text})`
    );
  }
  return `statepad needs WebAssembly, and this host could not load the module: ${text}`;
}
