// The one instance of the core, and the errors of its callers after it has failed.

import { loading } from '#load';
import {
  Core,
  HistoryLog,
  escape_template as escapeTemplate,
  floats,
  initSync,
  intern as internKey,
  parse_template as parseTemplate,
  released_keys as releasedKeys,
  rewind_events as rewindEvents,
  scratch,
  words,
  type InitOutput,
} from '../../wasm/statepad.js';
import { StatepadError } from '../model/errors.js';
import { hostError } from './loading.js';

/**
 * Creates the error of all calls once the module cannot be used: the host could not load it, or it failed in a call.
 */
let refusal = loading.failure && refusalOf(loading.failure.cause);

function refusalOf(cause: unknown): () => StatepadError {
  return () => hostError(cause);
}

/**
 * Throws `CORE_FAILED` where the host could not load the module, and once the module has ended in the middle of a
 * call, which left its work half done.
 */
export function refuseAfterFailure(): void {
  if (refusal !== undefined) {
    throw refusal();
  }
}

/** The error for an exception of the core: the module has ended. */
function failure(error: unknown): unknown {
  if (error instanceof StatepadError) {
    return error;
  }
  // A stack that was full before the call has not harmed the module; otherwise the next call fails as well.
  if (!(error instanceof RangeError)) {
    refusal = () =>
      new StatepadError('CORE_FAILED', 'the WebAssembly module has failed: restart the program, or reload the page', {
        reason: 'trap',
        cause: error,
      });
  }
  return new StatepadError('CORE_FAILED', 'the WebAssembly module has failed in the middle of a call', {
    reason: 'trap',
    cause: error,
  });
}

type Call = (this: unknown, ...args: never[]) => unknown;

/**
 * Wraps a call into the core: it throws at once after a failure of the module, and records one. No call has more than
 * six arguments: a rest parameter would create a list for each call.
 */
function guarded<F extends Call>(call: F): F {
  return function (this: unknown, a: never, b: never, c: never, d: never, e: never, f: never) {
    refuseAfterFailure();
    try {
      return call.call(this, a, b, c, d, e, f);
    } catch (error) {
      throw failure(error);
    }
  } as F;
}

for (const prototype of [Core.prototype, HistoryLog.prototype] as unknown as Record<string, Call>[]) {
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const call = prototype[name] as Call;
    if (name === 'free') {
      // The memory of a failed module is not touched again.
      prototype[name] = function (this: unknown) {
        if (refusal === undefined) {
          guarded(call).call(this);
        }
      };
    } else if (name !== 'constructor' && !name.startsWith('__')) {
      prototype[name] = guarded(call);
    }
  }
}

export { Core, HistoryLog };
/** The numbers and bits of the protocol with the core: frozen objects. */
export {
  Absent,
  Answer,
  ErrorText,
  Floats,
  KeyWord,
  Outcome,
  PageWords,
  ScopeBit,
  Shift,
  Words,
} from '../../wasm/statepad.js';

/** The functions of the core, guarded as its objects are. */
export const parse_template = guarded(parseTemplate);
export const escape_template = guarded(escapeTemplate);
export const rewind_events = guarded(rewindEvents);
export const intern = guarded(internKey);
export const released_keys = guarded(releasedKeys);
export const make_scratch = guarded(scratch);
export const make_words = guarded(words);
export const make_floats = guarded(floats);

let loaded = loading.pending === undefined && loading.failure === undefined;
const whenLoaded = loading.pending?.then(
  () => {
    loaded = true;
  },
  (cause: unknown) => {
    refusal = refusalOf(cause);
  },
);

/** Resolves when the core can be called. Throws `CORE_FAILED` where the host cannot load the module. */
export async function ready(): Promise<void> {
  await whenLoaded;
  refuseAfterFailure();
}

let whole: Promise<void> | undefined;
let wholeLoaded = loaded && loading.loadSecondary === undefined;

/** True when every function of the core can be called. */
export function isWhole(): boolean {
  return wholeLoaded;
}

/**
 * Resolves when the calls of the secondary module work as well: `HistoryLog`, `rewind_events`, and of `Core` `list`,
 * `cursor`, `prepare_update`, `restore`, `replace` and `forget`. Throws `CORE_FAILED` when it cannot be loaded; the
 * next call tries again.
 */
export function wholeCore(): Promise<void> {
  return (whole ??= loadWhole());
}

async function loadWhole(): Promise<void> {
  await ready();
  try {
    await loading.loadSecondary?.();
    wholeLoaded = true;
  } catch (cause) {
    whole = undefined;
    throw hostError(cause);
  }
}

/** A module of the package whose functions need the whole core, with the core. */
export async function withWholeCore<T>(module: Promise<T>): Promise<T> {
  const [loadedModule] = await Promise.all([module, wholeCore()]);
  return loadedModule;
}

/** True when the core can be called. */
export function isReady(): boolean {
  return loaded;
}

/**
 * Throws `NOT_READY` before the core can be called, and `CORE_FAILED` after it has failed. `what` is the caller's
 * method.
 */
export function requireReady(what: string): void {
  refuseAfterFailure();
  if (!loaded) {
    throw new StatepadError('NOT_READY', `${what} was called before the module was loaded: await ready() first`);
  }
}

/** The instance, for its memory. */
export const instance = initSync as () => InitOutput;
