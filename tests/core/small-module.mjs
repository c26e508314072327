// Loaded before the package: the module gets a small memory, and can be made to fail in the middle of a call.

const PAGE = 65536;
const MEMORY_SECTION = 5;

/** Reads an unsigned LEB128 number. Answers with it and where it ends. */
function leb(bytes, at) {
  let value = 0;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++];
    value |= (byte & 127) << shift;
    if (byte < 128) return [value, at];
  }
}

function written(value) {
  const bytes = [];
  do bytes.push((value & 127) | (value > 127 ? 128 : 0));
  while ((value >>>= 7));
  return bytes;
}

/** The module with a maximum for its memory, in bytes. */
function capped(bytes, maximum) {
  for (let at = 8; at < bytes.length;) {
    const start = at;
    const id = bytes[at++];
    let size;
    [size, at] = leb(bytes, at);
    if (id === MEMORY_SECTION) {
      const [least] = leb(bytes, at + 2);
      const memory = [1, 1, ...written(least), ...written(maximum / PAGE)];
      return Uint8Array.from([
        ...bytes.subarray(0, start),
        MEMORY_SECTION,
        ...written(memory.length),
        ...memory,
        ...bytes.subarray(at + size),
      ]);
    }
    at += size;
  }
  throw new Error('the module has no memory of its own');
}

const { Module, Instance, RuntimeError } = WebAssembly;
let exported;
let isEnding = false;

WebAssembly.Module = class extends Module {
  constructor(bytes) {
    super(capped(bytes, Number(process.env.STATEPAD_TEST_MEMORY)));
  }
};
WebAssembly.Instance = class {
  constructor(module, imports) {
    const { exports } = new Instance(module, imports);
    exported = {
      ...exports,
      core_prepare_append(...args) {
        if (isEnding) throw new RuntimeError('unreachable');
        return exports.core_prepare_append(...args);
      },
    };
    this.exports = exported;
  }
};

/** The current size of the module's memory, in bytes. */
export function size() {
  return exported.memory.buffer.byteLength;
}

/** From now on the module ends in each append, as it does where an allocation fails. */
export function end() {
  isEnding = true;
}
