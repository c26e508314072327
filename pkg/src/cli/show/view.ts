// The printing of records.

import type { ShowRecord } from './records.js';

/** Prints records. */
export interface View {
  /** Prints a record, or a part of a table. Throws `ReaderGone`. */
  print(record: ShowRecord): Promise<void>;
  /** Prints what is left. Throws `ReaderGone`. */
  end(): Promise<void>;
}
