// The sessions of a page: those that can be read, and those that cannot.

import { defined } from '../../model/defined.js';
import { isStoreError } from '../../store/store-error.js';
import { outcomeOf } from './outcome.js';
import type { Page, Place, Row, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/**
 * Reads the sessions of a page one after the other. One that is corrupt, or whose user is, does not spoil the others.
 */
export class PageRows {
  readonly #rows: Row[] = [];
  readonly #users = new Map<string, Values>();
  readonly #corrupt: SessionKey[] = [];

  /** Adds a session. The functions read it and the values of its user; each may throw `corrupt`. */
  add(key: SessionKey, readSession: () => Omit<Row, 'key'>, readUser: () => Values): void {
    const found = outcomeOf(() => ({ session: readSession(), user: this.#users.get(key.userId) ?? readUser() }));
    if (isStoreError(found)) {
      this.#corrupt.push(key);
    } else {
      this.#rows.push({ key, ...found.session });
      this.#users.set(key.userId, found.user);
    }
  }

  /** The page. `end` is the place of its last session, whether that can be read or not. */
  page(app: Values, total: number, end: Place | undefined): Page {
    const page = { rows: this.#rows, app, users: this.#users, total };
    return this.#corrupt.length === 0 ? page : { ...page, corrupt: this.#corrupt, ...defined({ next: end }) };
  }
}
