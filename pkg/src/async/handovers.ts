// Values that one update leaves for the next one of the same name, which saves that one a read.

/** Orders requests and writes of one process: one more each time. */
let moments = 0;

/** The last value under a name, for the updates that use it now. */
interface Slot {
  users: number;
  latest: { readonly moment: number; readonly value: unknown } | undefined;
}

/** Values by name, each retained while an update of its name is in progress. */
export class Handovers {
  readonly #slots = new Map<string, Slot>();

  /** The handover of one update, from the moment of its request on. It has to be closed. */
  open(name: string): Handover {
    const slot = this.#slots.get(name) ?? { users: 0, latest: undefined };
    this.#slots.set(name, slot);
    slot.users += 1;
    return new Handover(slot, () => {
      slot.users -= 1;
      if (slot.users === 0) {
        this.#slots.delete(name);
      }
    });
  }
}

/** One update's access to the value under its name. */
export class Handover {
  readonly #slot: Slot;
  /** Ends the access. */
  readonly close: () => void;
  #validFrom = (moments += 1);

  constructor(slot: Slot, close: () => void) {
    this.#slot = slot;
    this.close = close;
  }

  /** The value of the update before, if it was written after this one was requested: as current as a read. */
  read(): unknown {
    const { latest } = this.#slot;
    return latest !== undefined && latest.moment > this.#validFrom ? latest.value : undefined;
  }

  /** Rejects the value that is there now: the update has waited while others may have written. */
  expire(): void {
    this.#validFrom = moments += 1;
  }

  /** Begins a write, which invalidates the value. Returns a function that leaves a new one once the write is done. */
  beginWrite(): (value: unknown) => void {
    const moment = (moments += 1);
    const slot = this.#slot;
    slot.latest = undefined;
    return (value) => {
      slot.latest = { moment, value };
    };
  }
}
