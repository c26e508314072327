// The row that answers a change which the batch did not write.

import { numberIn, recordIn, textIn } from '../../sqlite-core/rows.js';
import { toColumn } from '../../shared/column-text.js';
import { STORED_SCOPES, type SharedScope, type StoredScope } from '../../../model/scope.js';
import type { ScopeSizes, Size } from '../../shared/growth.js';
import type { CallRecord, CommitFacts, CommitContent } from '../../shared/decide.js';
import type { Change, Rev } from '../../../store/contract.js';
import type { SqlRow } from '../../sqlite-core/driver.js';

/** What is read for refusals alone. */
export interface Misses {
  /** True if the values are not what the guard expects. */
  readonly isMissed: boolean;
  /** The sizes of the scopes and the growth by the change, as far as they were compared. */
  readonly sizes: readonly SqlRow[];
}

/** The target of a change that is not written. Its values were compared in the batch: they are not in the answer. */
export class Target implements CommitFacts {
  readonly session: { readonly created: string; readonly rev: Rev } | undefined;
  readonly sizes: ScopeSizes;
  readonly #row: SqlRow;
  readonly #isMissed: boolean;

  constructor(row: SqlRow, { isMissed, sizes }: Misses, { kind, id }: Pick<Change, 'kind' | 'id'>) {
    this.#row = row;
    this.#isMissed = isMissed;
    // Another session was in the way of a creation when the batch began, and may only have expired since.
    const isInTheWay = kind === 'create' && row['created'] !== null && row['created'] !== toColumn(id);
    this.session =
      isThere(row) || isInTheWay ? { created: textIn(row, 'created'), rev: numberIn(row, 'rev') } : undefined;
    const sizeOf = (scope: StoredScope, prefix: '' | 'more_'): Size => {
      const found = sizes.find(({ part }) => part === STORED_SCOPES.indexOf(scope));
      return found === undefined
        ? { keys: 0, bytes: 0 }
        : { keys: numberIn(found, `${prefix}keys`), bytes: numberIn(found, `${prefix}bytes`) };
    };
    this.sizes = {
      size: (scope) => sizeOf(scope, ''),
      growth: (scope) => sizeOf(scope, 'more_'),
      bytesOf: () => undefined,
    };
  }

  contentOf({ kind }: Change): CommitContent | undefined {
    if (!this.#is('duplicate')) {
      return undefined;
    }
    return kind === 'append' ? { data: textIn(this.#row, 'data') } : recordIn(this.#row);
  }

  creationOf(): CallRecord {
    return recordIn(this.#row);
  }

  tombstoneOf(): CallRecord | undefined {
    return this.#is('duplicate') ? recordIn(this.#row) : undefined;
  }

  refusalOf(): CallRecord | undefined {
    return this.#is('refused') ? recordIn({ digest: this.#row['refused_digest'] ?? null }) : undefined;
  }

  fence(): number {
    return this.session === undefined ? 0 : numberIn(this.#row, 'fence');
  }

  pos(scope: SharedScope): number {
    return numberIn(this.#row, scope);
  }

  holds(): boolean {
    return !this.#isMissed;
  }

  value(): undefined {
    return undefined;
  }

  #is(column: 'duplicate' | 'refused'): boolean {
    return numberIn(this.#row, column) === 1;
  }
}

/** True if the session of a row is there, and has not expired. */
export function isThere(row: SqlRow): boolean {
  return row['created'] !== null && row['expired'] !== 1;
}
