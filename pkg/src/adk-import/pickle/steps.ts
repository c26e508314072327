// The opcodes of pickles.

import { isAllowed } from './classes.js';
import { Dict, Global, Instance, PythonSet } from './data.js';
import { MAX_INTEGER_BYTES, tooMuch } from './limits.js';
import { refuse } from '../../jsonl/problems.js';

/** The newest protocol that is supported. */
const PROTOCOL = 5;

/** The machine that opcodes work on. Numbers are read from the bytes after the opcode. */
export interface Machine {
  readonly byte: () => number;
  readonly uint16: () => number;
  readonly int32: () => number;
  readonly uint32: () => number;
  readonly length64: () => number;
  readonly double: () => number;
  readonly bytes: (length: number) => Uint8Array;
  readonly line: () => string;
  readonly push: (value: unknown) => void;
  readonly pop: () => unknown;
  readonly top: () => unknown;
  readonly mark: () => void;
  readonly sinceMark: () => unknown[];
  readonly memoize: (index?: number) => void;
  readonly recall: (index: number) => unknown;
}

type Step = (machine: Machine) => void;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function textOf(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    return refuse('the pickle has a text that is not UTF-8');
  }
}

/** An exact integer of Python in any number of bytes, in two's complement. */
function long(bytes: Uint8Array): number | bigint {
  if (bytes.length > MAX_INTEGER_BYTES) {
    return tooMuch(`has an integer of ${bytes.length} bytes`);
  }
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
    return refuse(`the pickle has ${module}.${name}, which is not a class of events`);
  }
  return new Global(module, name);
}

function make(type: unknown, args: unknown): Instance {
  return type instanceof Global && Array.isArray(args)
    ? new Instance(type, args as unknown[])
    : refuse('the pickle is broken: it calls a value that is not a class');
}

function setEntries(target: unknown, values: readonly unknown[]): void {
  if (!(target instanceof Dict || target instanceof Instance) || values.length % 2 !== 0) {
    refuse('the pickle is broken: it adds entries to a value that is not a dict');
  }
  for (let index = 0; index < values.length; index += 2) {
    target.entries.push([values[index], values[index + 1]]);
  }
}

function addItems(target: unknown, values: readonly unknown[]): void {
  if (Array.isArray(target)) {
    addAll(target as unknown[], values);
  } else if (target instanceof PythonSet || target instanceof Instance) {
    addAll(target.items, values);
  } else {
    refuse('the pickle is broken: it adds items to a value that is not a list');
  }
}

/** One by one: a call takes no more arguments than its stack has room for. */
function addAll(items: unknown[], values: readonly unknown[]): void {
  for (const value of values) {
    items.push(value);
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

/** The action of each opcode; Python's `pickletools` describes them under these names. */
export const STEPS: Readonly<Record<number, Step>> = {
  // PROTO
  0x80: ({ byte }) => {
    const version = byte();
    if (version > PROTOCOL) {
      refuse(`the pickle has protocol ${version}, but ${PROTOCOL} is the last supported one`);
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
    addAll(set.items, sinceMark());
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
  // REDUCE, NEWOBJ, NEWOBJ_EX: the class must be allowed, and is not called but described
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
      refuse('the pickle is broken: it sets the state of a value that is not an object');
    }
    target.state = state;
  },
};
