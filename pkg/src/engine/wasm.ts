// The one instance of the core, and what its callers are told when it fails.

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

/** What calls are told once the module cannot be used: the host could not load it, or it has failed in a call. */
let refusal = loading.failure && refusalOf(loading.failure.cause);

function refusalOf(cause: unknown): () => StatepadError {
  return () => hostError(cause);
}

/**
 * Throws `CORE_FAILED` where the host could not load the module, and once the module has ended in the middle of a
 * call: what it was about is half done.
 */
export function refuseAfterFailure(): void {
  if (refusal !== undefined) {
    throw refusal();
  }
}

/** What a call into the core threw: the end of the module. */
function failure(error: unknown): unknown {
  if (error instanceof StatepadError) {
    return error;
  }
  // A stack that was full already when the call came has done nothing to the module; if it has, the next call tells.
  if (!(error instanceof RangeError)) {
    refusal = () =>
      new StatepadError(
        'CORE_FAILED',
        'the WebAssembly module has failed: start the program, or load the page, anew',
        { reason: 'trap', cause: error },
      );
  }
  return new StatepadError('CORE_FAILED', 'the WebAssembly module has failed in the middle of a call', {
    reason: 'trap',
    cause: error,
  });
}

type Call = (this: unknown, ...args: never[]) => unknown;

/**
 * A call into the core that says at once when the module has failed, and notices when it does. No call has more than
 * six arguments: a list of them would be made for each call.
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
/** The numbers and the bits by which the core and this side understand each other: frozen objects. */
export {
  Absent,
  Answer,
  ErrorText,
  Floats,
  KeyWord,
  Outcome,
  PageWords,
  Part,
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

/** Whether the core can be called. */
export function isReady(): boolean {
  return loaded;
}

/**
 * Throws `NOT_READY` when the core cannot be called yet, and `CORE_FAILED` when it cannot any more. `what` is what the
 * caller called.
 */
export function requireReady(what: string): void {
  refuseAfterFailure();
  if (!loaded) {
    throw new StatepadError('NOT_READY', `${what} was called before the module was loaded: await ready() first`);
  }
}

/** The instance: its memory, where long texts are written. */
export const instance = initSync as () => InitOutput;
