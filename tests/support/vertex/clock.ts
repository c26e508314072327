// The time of the service, and the numbers that it gives as ids.

/** The parts of the host that the service uses. */
export interface Host {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** A number from 0 up to, but not including, 1. */
  readonly random: () => number;
}

/** The clock and the dice of one service. */
export class Clock {
  readonly #host: Host;
  readonly #given = new Set<bigint>();
  #last = 0n;

  constructor(host: Host) {
    this.#host = host;
  }

  /** The time in nanoseconds since the epoch. */
  now(): bigint {
    return BigInt(Math.floor(this.#host.now())) * 1_000_000n;
  }

  /** The time to the microsecond, later than at any call before. */
  tick(): bigint {
    const micros = this.now() / 1000n + BigInt(Math.floor(this.#host.random() * 1000));
    this.#last = micros > this.#last ? micros : this.#last + 1n;
    return this.#last * 1000n;
  }

  /** A number of 63 bits that was not given before, in digits. */
  newId(): string {
    const bits = (count: number): bigint => BigInt(Math.floor(this.#host.random() * 2 ** count));
    let id = (bits(31) << 32n) | bits(32);
    while (id === 0n || this.#given.has(id)) {
      id += 1n;
    }
    this.#given.add(id);
    return String(id);
  }
}
