// The result of loading the module. Importing the package never throws: the first call that needs the core reports a
// failure.

import { defined } from '../model/defined.js';
import { StatepadError } from '../model/errors.js';

/** The state of loading. Without either member the core can be called. */
export interface Loading {
  /** Resolves when the module is loaded, where that is not done at once. */
  readonly pending?: Promise<void>;
  /** The reason that the host could not load the module. */
  readonly failure?: { readonly cause: unknown };
  /** Loads the secondary module, where the module is in two parts: for calls that the primary one lacks. */
  readonly loadSecondary?: () => Promise<void>;
}

/** The globals that every host must have. */
const NEEDED = ['WebAssembly', 'TextDecoder', 'TextEncoder'] as const;

/** The first of these that this host lacks. */
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
  return pending === undefined ? defined({ failure }) : { pending };
}

/** The error for calls after the host could not load the module. */
export function hostError(cause: unknown): StatepadError {
  return new StatepadError('CORE_FAILED', messageFor(cause), { reason: 'host', cause });
}

function messageFor(cause: unknown): string {
  const lacks = missingGlobal();
  if (lacks !== undefined) {
    return `statepad needs ${lacks}, and this host has none: run it on a host with a global ${lacks}`;
  }
  const text = cause instanceof Error ? cause.message : String(cause);
  // The module itself is valid: a host that does not compile it was configured not to.
  if (cause instanceof WebAssembly.CompileError) {
    return (
      `statepad needs WebAssembly, and this host refuses to compile it: a content security policy has to allow ` +
      `'wasm-unsafe-eval' in its script-src (the host says: ${text})`
    );
  }
  return `statepad needs WebAssembly, and this host could not load the module: ${text}`;
}
