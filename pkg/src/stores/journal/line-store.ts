// A whole store over lines: its records are lines, which a medium keeps.

import { defined } from '../../model/defined.js';
import { logStore } from './callback-store.js';
import { lineOf, versionLine } from './lines.js';
import { JournalReader } from './reader.js';
import { FORMAT } from './version.js';
import type { LogSource } from './log.js';
import type { LogOptions, Records } from './log-record.js';
import type { Durability, Migrate, SessionStore } from '../../store/contract.js';

/** The medium that stores the lines. */
export interface JournalMedium {
  /**
   * Appends lines, in order, behind all others; they are durable when it resolves. No line has a line feed in it; an
   * empty one comes first when a line before it may be torn. Called with all that wait, and not again before it is
   * done.
   *
   * A `StoreError` of code `unavailable` or `rejected` says that none of them is written. After any other error the
   * outcome is unknown, and everything is read again before the next call: those that are written must be there by
   * then, and nothing may be added later. A batch that is `rejected` is appended again, line by line.
   */
  append(lines: readonly string[]): Promise<void>;
  /** Reads all lines, in order. Those that are there twice, because a retry wrote them again, do no harm. */
  read(): Records<string> | Promise<Records<string>>;
  /** Called once before all others. Throws a `StoreError` of code `rejected` when what it finds does not suit. */
  open?(options: { readonly migrate: Migrate }): Promise<void>;
  /** Called once after all others, and when opening fails. */
  close?(): Promise<void>;
  readonly durability?: Durability;
  /** Its name in messages. Default: `the journal`. */
  readonly name?: string;
}

/** Makes a store over lines that the medium keeps. */
export function lineStore(medium: JournalMedium, options: LogOptions, format = FORMAT): SessionStore {
  let reader = new JournalReader(format);
  let isContinued = false;
  const source: LogSource = {
    name: medium.name ?? 'the journal',
    restore: async (found) => {
      reader = new JournalReader(format);
      isContinued = false;
      return reader.read(await medium.read(), found);
    },
    persist: async (records) => {
      let { last } = reader;
      const lines = records.map((record) =>
        record.kind === 'version' ? versionLine(format, last) : lineOf(++last, record, format),
      );
      // The stored lines may have ended in a torn one: nothing may be written behind it on the same line.
      await medium.append(isContinued || reader.isEmpty ? lines : ['', ...lines]);
      reader.last = last;
      isContinued = true;
    },
  };
  const store = logStore(source, options, format);
  return {
    ...store,
    ...defined({ durability: medium.durability }),
    open: async (how, context) => {
      try {
        await medium.open?.(how);
        await store.open?.(how, context);
      } catch (error) {
        await medium.close?.();
        throw error;
      }
    },
    close: async () => {
      await store.close?.();
      await medium.close?.();
    },
  };
}
