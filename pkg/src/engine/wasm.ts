// The one instance of the core, the way in for long texts, and what becomes of all who use it when it fails.

import { loading } from '#load';
import {
  Core,
  Past,
  escape_template as escapeTemplate,
  has_room as hasRoom,
  initSync,
  nearest_key as nearestKey,
  parse_template as parseTemplate,
  scratch,
  template_places as templatePlaces,
  type InitOutput,
} from '../../wasm/statepad.js';
import { StatepadError, coreError } from '../model/errors.js';

/** Why the module cannot be used any more. */
let trap: { readonly cause: unknown } | undefined;

/** Throws `CORE_FAILED` once the module has ended in the middle of a call: what it was about is half done. */
export function refuseAfterTrap(): void {
  if (trap !== undefined) {
    throw new StatepadError('CORE_FAILED', 'the WebAssembly module has failed: start the program, or load the page, anew', { reason: 'trap', cause: trap.cause });
  }
}

/** What a call into the core threw: an error that the core tells as text, or the end of the module. */
function failure(error: unknown): unknown {
  if (typeof error === 'string') {
    return coreError(error);
  }
  if (error instanceof StatepadError) {
    return error;
  }
  // A stack that was full already when the call came has done nothing to the module; if it has, the next call tells.
  if (!(error instanceof RangeError)) {
    trap = { cause: error };
  }
  return new StatepadError('CORE_FAILED', 'the WebAssembly module has failed in the middle of a call', { reason: 'trap', cause: error });
}

type Call = (this: unknown, ...args: never[]) => unknown;

/** A call into the core that says at once when the module has failed, and notices when it does. */
function guarded<F extends Call>(call: F): F {
  return function (this: unknown, ...args: never[]) {
    refuseAfterTrap();
    try {
      return call.apply(this, args);
    } catch (error) {
      throw failure(error);
    }
  } as F;
}

/** So many characters of strings always have room: there is a reserve. */
const FEW = 1000;

/** The same for a call that is given strings: those that are long are copied into the module only if they fit. */
function roomy<F extends Call>(call: F): F {
  return function (this: unknown, ...args: never[]) {
    const length = args.reduce((sum: number, arg: unknown) => (typeof arg === 'string' ? sum + arg.length : sum), 0);
    if (length > FEW && !hasRoom(length * 4)) {
      throw full();
    }
    return call.apply(this, args);
  } as F;
}

/** As the core says it. */
function full(): StatepadError {
  const message = 'the memory of the WebAssembly module is full: nothing was changed, and deleting sessions makes room';
  return new StatepadError('CORE_FAILED', message, { reason: 'memory' });
}

const WITH_STRINGS = new Set(['prepare_create', 'prepare_update', 'restore', 'scope', 'list', 'steps']);

for (const prototype of [Core.prototype, Past.prototype] as unknown as Record<string, Call>[]) {
  for (const name of Object.getOwnPropertyNames(prototype)) {
    const call = prototype[name] as Call;
    if (name === 'free') {
      // What is left of a module that has failed is nobody's any more.
      prototype[name] = function (this: unknown) {
        if (trap === undefined) {
          guarded(call).call(this);
        }
      };
    } else if (name !== 'constructor' && !name.startsWith('__')) {
      prototype[name] = guarded(WITH_STRINGS.has(name) ? roomy(call) : call);
    }
  }
}

export { Core, Past };

/** The functions of the core, guarded as its objects are. */
export const parse_template = guarded(parseTemplate);
export const template_places = guarded(templatePlaces);
export const escape_template = guarded(escapeTemplate);
export const nearest_key = guarded(roomy(nearestKey));
const makeScratch = guarded(scratch);

let loaded = loading === undefined;
const whenLoaded = loading?.then(() => {
  loaded = true;
});
// Whoever calls ready() is told of a failure; that nobody has called yet is none.
whenLoaded?.catch(() => undefined);

/** Resolves when the core can be called. Rejects when the host cannot compile the module. */
export async function ready(): Promise<void> {
  await whenLoaded;
}

/** Whether the core can be called. */
export function isReady(): boolean {
  return loaded;
}

/** Throws `NOT_READY` when the core cannot be called yet, and `CORE_FAILED` when it cannot any more. `what` is what the caller called. */
export function requireReady(what: string): void {
  refuseAfterTrap();
  if (!loaded) {
    throw new StatepadError('NOT_READY', `${what} was called before the module was loaded: await ready() first`);
  }
}

/** The glue hands out the instance that it has. */
const instance = initSync as () => InitOutput;
const encoder = new TextEncoder();
let target = new Uint8Array(0);
let capacity = 0;

/** The buffer grows no less than to this, and one that is this many times as large as is needed is given back, in bytes. */
const LEAST = 4096;
const LARGE = 1 << 20;
const MUCH = 16;

/** Writes texts where the core reads them, one behind the other. Returns the length of each in bytes. Throws `CORE_FAILED`. */
export function write(first: string, second = '', third = ''): readonly [number, number, number] {
  const most = (first.length + second.length + third.length) * 3;
  // A view of memory that has grown since is detached: its length is 0.
  if (target.length < most || target.length === 0 || (target.length > LARGE && target.length > most * MUCH)) {
    resize(capacity > LARGE ? most : Math.max(capacity, most));
    if (target.length < most) {
      // There is no room for the longest that the texts could be: for what they are there may be.
      resize([first, second, third].reduce((sum, text) => sum + byteLength(text), 0));
    }
    if (target.length === 0) {
      throw full();
    }
  }
  const a = encoder.encodeInto(first, target).written;
  const b = writeBehind(a, second);
  return [a, b, writeBehind(a + b, third)];
}

/** Makes the buffer so long; of no length when there is no room for it. */
function resize(length: number): void {
  capacity = Math.max(length, LEAST);
  const pointer = makeScratch(capacity) >>> 0;
  capacity = pointer === 0 ? 0 : capacity;
  target = new Uint8Array(instance().memory.buffer, pointer, capacity);
}

/** The most bytes that a text can have in UTF-8: a pair of surrogates has fewer. */
function byteLength(text: string): number {
  let length = text.length;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    length += code < 0x80 ? 0 : code < 0x800 ? 1 : 2;
  }
  return length;
}

/** Short texts, ids mostly, are put there character by character, as long as they are ASCII. */
function writeBehind(at: number, text: string): number {
  const { length } = text;
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index);
    if (code > 127 || index > 64) {
      return encoder.encodeInto(text, target.subarray(at)).written;
    }
    target[at + index] = code;
  }
  return length;
}
