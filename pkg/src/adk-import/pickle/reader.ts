// Reads a pickle without running anything: what Python would build is described by plain data.

import { isAllowed } from './classes.js';
import { refuse } from '../../jsonl/problems.js';

/** A class or a function of Python, by its name alone. */
export class Global {
  readonly module: string;
  readonly name: string;

  constructor(module: string, name: string) {
    this.module = module;
    this.name = name;
  }

  get path(): string {
    return `${this.module}.${this.name}`;
  }
}

/** What Python would make by calling `type` with `args`; then `state`, `entries` and `items` are put into it. */
export class Instance {
  readonly type: Global;
  readonly args: readonly unknown[];
  state: unknown;
  readonly entries: [unknown, unknown][] = [];
  readonly items: unknown[] = [];

  constructor(type: Global, args: readonly unknown[]) {
    this.type = type;
    this.args = args;
  }
}

/** A `dict`: its keys may be of any kind. */
export class Dict {
  readonly entries: [unknown, unknown][] = [];
}

/** A `set` or `frozenset`. */
export class PythonSet {
  readonly items: unknown[] = [];
}

/** The last protocol that is known here. */
const PROTOCOL = 5;
/** How many values a pickle may have: one of an event has thousands at most. */
const MAX_VALUES = 5_000_000;

/**
 * Reads the one value of a pickle of protocol 2 to 5: `null`, booleans, numbers, bigints, texts, `Uint8Array`, lists
 * (also for tuples), {@link Dict}, {@link PythonSet}, {@link Global}, {@link Instance}. Refuses every class that is
 * not allowed, by name, and whatever is no such pickle.
 */
export function readPickle(bytes: Uint8Array): unknown {
  return new Reader(bytes).read();
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #count = 0;
  #stack: unknown[] = [];
  readonly #marked: unknown[][] = [];
  readonly #memo = new Map<number, unknown>();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  read(): unknown {
    for (;;) {
      const code = this.#byte();
      if (code === STOP) {
        return this.#pop();
      }
      const step = STEPS[code];
      if (step === undefined) {
        return refuse(`the pickle has the opcode 0x${code.toString(16)}, which is unknown here`);
      }
      this.#count += 1;
      if (this.#count > MAX_VALUES) {
        return refuse('the pickle is too long');
      }
      step(this.#machine);
    }
  }

  /** What the steps work with. */
  readonly #machine: Machine = {
    byte: () => this.#byte(),
    uint16: () => this.#view.getUint16(this.#take(2), true),
    int32: () => this.#view.getInt32(this.#take(4), true),
    uint32: () => this.#view.getUint32(this.#take(4), true),
    length64: () => {
      const at = this.#take(8);
      return this.#view.getUint32(at, true) + this.#view.getUint32(at + 4, true) * 2 ** 32;
    },
    double: () => this.#view.getFloat64(this.#take(8), false),
    bytes: (length) => {
      const at = this.#take(length);
      return this.#bytes.slice(at, at + length);
    },
    line: () => {
      const end = this.#bytes.indexOf(0x0a, this.#at);
      const at = this.#take(end < 0 ? Infinity : end - this.#at + 1);
      return textOf(this.#bytes.subarray(at, end));
    },
    push: (value) => void this.#stack.push(value),
    pop: () => this.#pop(),
    top: () => this.#stack.at(-1),
    mark: () => {
      this.#marked.push(this.#stack);
      this.#stack = [];
    },
    sinceMark: () => {
      const values = this.#stack;
      this.#stack = this.#marked.pop() ?? refuse('the pickle is broken: there is no mark');
      return values;
    },
    memoize: (index) => void this.#memo.set(index ?? this.#memo.size, this.#stack.at(-1)),
    recall: (index) =>
      this.#memo.has(index) ? this.#memo.get(index) : refuse('the pickle is broken: it recalls what is not there'),
  };

  #byte(): number {
    return this.#bytes[this.#take(1)] ?? 0;
  }

  #take(length: number): number {
    const at = this.#at;
    if (at + length > this.#bytes.length) {
      refuse('the pickle ends too early');
    }
    this.#at += length;
    return at;
  }

  #pop(): unknown {
    return this.#stack.length === 0 ? refuse('the pickle is broken: its stack is empty') : this.#stack.pop();
  }
}

/** What an opcode works with. Numbers are read from the bytes behind it. */
interface Machine {
  byte(): number;
  uint16(): number;
  int32(): number;
  uint32(): number;
  length64(): number;
  double(): number;
  bytes(length: number): Uint8Array;
  line(): string;
  push(value: unknown): void;
  pop(): unknown;
  top(): unknown;
  mark(): void;
  sinceMark(): unknown[];
  memoize(index?: number): void;
  recall(index: number): unknown;
}

type Step = (machine: Machine) => void;

const STOP = 0x2e;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return refuse('the pickle has a text that is not UTF-8');
  }
}

/** A number of Python in as many bytes as it needs, in two's complement; exact. */
function long(bytes: Uint8Array): number | bigint {
  let value = 0n;
  for (let index = bytes.length - 1; index >= 0; index--) {
    value = (value << 8n) | BigInt(bytes[index] ?? 0);
  }
  const signed = BigInt.asIntN(bytes.length * 8, value);
  return Number.isSafeInteger(Number(signed)) ? Number(signed) : signed;
}

function globalOf(module: unknown, name: unknown): Global {
  if (typeof module !== 'string' || typeof name !== 'string') {
    return refuse('the pickle is broken: a class has no name');
  }
  if (!isAllowed(module, name)) {
    return refuse(`the pickle has ${module}.${name}, which events do not have: it is not read`);
  }
  return new Global(module, name);
}

function make(type: unknown, args: unknown): Instance {
  return type instanceof Global && Array.isArray(args)
    ? new Instance(type, args as unknown[])
    : refuse('the pickle is broken: it calls what is no class');
}

function setEntries(target: unknown, values: readonly unknown[]): void {
  if (!(target instanceof Dict || target instanceof Instance) || values.length % 2 !== 0) {
    refuse('the pickle is broken: entries of what is no dict');
  }
  for (let index = 0; index < values.length; index += 2) {
    target.entries.push([values[index], values[index + 1]]);
  }
}

function addItems(target: unknown, values: readonly unknown[]): void {
  if (Array.isArray(target)) {
    (target as unknown[]).push(...values);
  } else if (target instanceof PythonSet || target instanceof Instance) {
    target.items.push(...values);
  } else {
    refuse('the pickle is broken: items of what is no list');
  }
}

function tuple(length: number): Step {
  return (machine) => {
    const items: unknown[] = [];
    for (let index = 0; index < length; index++) {
      items.unshift(machine.pop());
    }
    machine.push(items);
  };
}

const constant =
  (value: unknown): Step =>
  (machine) =>
    machine.push(value);

/** What each opcode does; Python's `pickletools` describes them under these names. */
const STEPS: Readonly<Record<number, Step>> = {
  // PROTO
  0x80: ({ byte }) => {
    const version = byte();
    if (version > PROTOCOL) {
      refuse(`the pickle has protocol ${version}, and ${PROTOCOL} is the last one that is known here`);
    }
  },
  // FRAME
  0x95: ({ length64 }) => void length64(),
  // NONE, NEWTRUE, NEWFALSE
  0x4e: constant(null),
  0x88: constant(true),
  0x89: constant(false),
  // BININT, BININT1, BININT2, LONG1, LONG4
  0x4a: ({ push, int32 }) => push(int32()),
  0x4b: ({ push, byte }) => push(byte()),
  0x4d: ({ push, uint16 }) => push(uint16()),
  0x8a: ({ push, bytes, byte }) => push(long(bytes(byte()))),
  0x8b: ({ push, bytes, uint32 }) => push(long(bytes(uint32()))),
  // BINFLOAT
  0x47: ({ push, double }) => push(double()),
  // SHORT_BINUNICODE, BINUNICODE, BINUNICODE8
  0x8c: ({ push, bytes, byte }) => push(textOf(bytes(byte()))),
  0x58: ({ push, bytes, uint32 }) => push(textOf(bytes(uint32()))),
  0x8d: ({ push, bytes, length64 }) => push(textOf(bytes(length64()))),
  // SHORT_BINBYTES, BINBYTES, BINBYTES8, BYTEARRAY8
  0x43: ({ push, bytes, byte }) => push(bytes(byte())),
  0x42: ({ push, bytes, uint32 }) => push(bytes(uint32())),
  0x8e: ({ push, bytes, length64 }) => push(bytes(length64())),
  0x96: ({ push, bytes, length64 }) => push(bytes(length64())),
  // EMPTY_LIST, APPEND, APPENDS
  0x5d: ({ push }) => push([]),
  0x61: ({ pop, top }) => {
    const item = pop();
    addItems(top(), [item]);
  },
  0x65: ({ sinceMark, top }) => {
    const items = sinceMark();
    addItems(top(), items);
  },
  // EMPTY_TUPLE, TUPLE1, TUPLE2, TUPLE3, TUPLE
  0x29: ({ push }) => push([]),
  0x85: tuple(1),
  0x86: tuple(2),
  0x87: tuple(3),
  0x74: ({ push, sinceMark }) => push(sinceMark()),
  // EMPTY_DICT, SETITEM, SETITEMS
  0x7d: ({ push }) => push(new Dict()),
  0x73: ({ pop, top }) => {
    const [value, key] = [pop(), pop()];
    setEntries(top(), [key, value]);
  },
  0x75: ({ sinceMark, top }) => {
    const values = sinceMark();
    setEntries(top(), values);
  },
  // EMPTY_SET, ADDITEMS, FROZENSET
  0x8f: ({ push }) => push(new PythonSet()),
  0x90: ({ sinceMark, top }) => {
    const items = sinceMark();
    addItems(top(), items);
  },
  0x91: ({ push, sinceMark }) => {
    const set = new PythonSet();
    set.items.push(...sinceMark());
    push(set);
  },
  // MARK, POP, POP_MARK, DUP
  0x28: ({ mark }) => mark(),
  0x30: ({ pop }) => void pop(),
  0x31: ({ sinceMark }) => void sinceMark(),
  0x32: ({ push, top }) => push(top()),
  // MEMOIZE, BINPUT, LONG_BINPUT, BINGET, LONG_BINGET
  0x94: ({ memoize }) => memoize(),
  0x71: ({ memoize, byte }) => memoize(byte()),
  0x72: ({ memoize, uint32 }) => memoize(uint32()),
  0x68: ({ push, recall, byte }) => push(recall(byte())),
  0x6a: ({ push, recall, uint32 }) => push(recall(uint32())),
  // GLOBAL, STACK_GLOBAL
  0x63: ({ push, line }) => {
    const module = line();
    push(globalOf(module, line()));
  },
  0x93: ({ push, pop }) => {
    const [name, module] = [pop(), pop()];
    push(globalOf(module, name));
  },
  // REDUCE, NEWOBJ, NEWOBJ_EX: what they call is allowed, and is not called but described
  0x52: ({ push, pop }) => {
    const [args, type] = [pop(), pop()];
    push(make(type, args));
  },
  0x81: ({ push, pop }) => {
    const [args, type] = [pop(), pop()];
    push(make(type, args));
  },
  0x92: ({ push, pop }) => {
    const [, args, type] = [pop(), pop(), pop()];
    push(make(type, args));
  },
  // BUILD
  0x62: ({ pop, top }) => {
    const state = pop();
    const target = top();
    if (!(target instanceof Instance)) {
      refuse('the pickle is broken: a state of what is no object');
    }
    target.state = state;
  },
};
