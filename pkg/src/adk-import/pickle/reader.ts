// Reads a pickle without running anything: plain data describes the objects that Python would build.

import { MAX_OPCODES, tooMuch } from './limits.js';
import { STEPS, textOf, type Machine } from './steps.js';
import { refuse } from '../../jsonl/problems.js';

/** The last opcode of a pickle. */
const STOP = 0x2e;

/**
 * Reads the one value of a pickle of protocol 2 to 5: `null`, booleans, numbers, bigints, texts, `Uint8Array`, lists
 * (also for tuples), `Dict`, `PythonSet`, `Global`, `Instance`. Refuses every class that is not allowed, by name, and
 * any other input; throws `LIMIT_EXCEEDED` for too many opcodes or too long an integer.
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
        return refuse(`the pickle has the opcode 0x${code.toString(16)}, which is unknown`);
      }
      this.#count += 1;
      if (this.#count > MAX_OPCODES) {
        return tooMuch(`has more than ${MAX_OPCODES} opcodes`);
      }
      step(this.#machine);
    }
  }

  /** The machine of the steps. */
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
      this.#stack = this.#marked.pop() ?? refuse('the pickle is broken: a mark is missing');
      return values;
    },
    memoize: (index) => void this.#memo.set(index ?? this.#memo.size, this.#stack.at(-1)),
    recall: (index) =>
      this.#memo.has(index) ? this.#memo.get(index) : refuse('the pickle is broken: it reads a missing memo entry'),
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
