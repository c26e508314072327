// The values used last, up to a size: the rest is forgotten.

/** Values by name. The least recently used goes first. */
export class Recent<Value> {
  readonly #values = new Map<string, Value>();
  readonly #sizes = new Map<string, number>();
  readonly #limit: number;
  readonly #sizeOf: (value: Value) => number;
  #size = 0;
  /** True when anything was evicted. */
  hasForgotten = false;

  constructor(limit: number, sizeOf: (value: Value) => number) {
    this.#limit = limit;
    this.#sizeOf = sizeOf;
  }

  get(name: string): Value | undefined {
    const value = this.#values.get(name);
    if (value !== undefined) {
      this.#values.delete(name);
      this.#values.set(name, value);
    }
    return value;
  }

  /** Keeps a value, or measures one anew that has changed. */
  set(name: string, value: Value): void {
    this.delete(name);
    const size = this.#sizeOf(value);
    this.#values.set(name, value);
    this.#sizes.set(name, size);
    this.#size += size;
    for (const oldest of this.#values.keys()) {
      if (this.#size <= this.#limit || oldest === name) {
        return;
      }
      this.delete(oldest);
      this.hasForgotten = true;
    }
  }

  delete(name: string): void {
    this.#size -= this.#sizes.get(name) ?? 0;
    this.#sizes.delete(name);
    this.#values.delete(name);
  }
}
