// Ids that are remembered for a while: a change that is sent again is sent soon.

/** The least time that an id is remembered, in milliseconds. */
const LEAST_REMEMBERED_MS = 60 * 60 * 1000;

/** Ids, each with the retained data of its change, if there is any; each is forgotten some time after an hour. */
export class Remembered<Data = undefined> {
  /** The time at which each was added, in milliseconds since the epoch. The oldest first. */
  readonly #ids = new Map<string, { readonly time: number; readonly data: Data | undefined }>();

  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** The retained data of an id. */
  get(id: string): Data | undefined {
    return this.#ids.get(id)?.data;
  }

  add(id: string, data?: Data): void {
    const now = Date.now();
    this.#ids.delete(id);
    this.#ids.set(id, { time: now, data });
    for (const [oldest, { time }] of this.#ids) {
      if (time > now - LEAST_REMEMBERED_MS) {
        break;
      }
      this.#ids.delete(oldest);
    }
  }
}
