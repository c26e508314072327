// The row that answers a change which the batch did not write.

import { numberIn, recordIn, textIn } from '../../sqlite-core/rows.js';
import type { CallRecord, CommitFacts, CommitContent } from '../../shared/decide.js';
import type { Change, Rev } from '../../../store/contract.js';
import type { SqlRow } from '../../sqlite-core/driver.js';
import type { SharedScope } from '../../../model/scope.js';

/** The target of a change that is not written. Its values were compared in the batch: they are not in the answer. */
export class Target implements CommitFacts {
  readonly session: { readonly created: string; readonly rev: Rev } | undefined;
  readonly #row: SqlRow;

  constructor(row: SqlRow) {
    this.#row = row;
    this.session =
      row['created'] === null ? undefined : { created: textIn(row, 'created'), rev: numberIn(row, 'rev') };
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
    return true;
  }

  value(): undefined {
    return undefined;
  }

  #is(column: 'duplicate' | 'refused'): boolean {
    return numberIn(this.#row, column) === 1;
  }
}
