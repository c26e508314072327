// Ids that are remembered for a while: a change that is sent again is sent soon.

/** How long an id is remembered at least, in milliseconds. */
const LEAST_REMEMBERED_MS = 60 * 60 * 1000;

/** A set of ids, each of which is forgotten some time after an hour. */
export class Remembered {
  /** When each was added, in milliseconds since the epoch. The oldest first. */
  readonly #times = new Map<string, number>();

  has(id: string): boolean {
    return this.#times.has(id);
  }

  add(id: string): void {
    const now = Date.now();
    this.#times.delete(id);
    this.#times.set(id, now);
    for (const [oldest, time] of this.#times) {
      if (time > now - LEAST_REMEMBERED_MS) {
        break;
      }
      this.#times.delete(oldest);
    }
  }
}
