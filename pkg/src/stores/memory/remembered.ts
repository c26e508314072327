// Ids that are remembered for a while: a change that is sent again is sent soon.

import { REMEMBERED_MS } from '../shared/limits.js';

/** Ids, each with a record of its change; each is forgotten some time after a day. */
export class Remembered<Data extends object> {
  /** The time at which each was added, in milliseconds since the epoch. The oldest first. */
  readonly #ids = new Map<string, { readonly time: number; readonly data: Data }>();

  /** The record of an id; `undefined` for one that is not remembered. */
  get(id: string): Data | undefined {
    return this.#ids.get(id)?.data;
  }

  /** Remembers an id from now on. */
  add(id: string, data: Data): void {
    const now = Date.now();
    this.#ids.delete(id);
    this.#ids.set(id, { time: now, data });
    for (const [oldest, { time }] of this.#ids) {
      if (time > now - REMEMBERED_MS) {
        break;
      }
      this.#ids.delete(oldest);
    }
  }
}
