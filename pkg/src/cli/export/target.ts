// The place that the lines go to: standard output, or a file that is there when it is complete.

import { randomBytes } from 'node:crypto';
import { access, open, rename, rm } from 'node:fs/promises';
import { CommandError } from '../errors.js';
import { Output } from '../output/output.js';

/** The size from which lines are written, in UTF-16 units. */
const BLOCK = 1 << 18;
/** Production data is for the owner of the file. */
const OWNER_ONLY = 0o600;

/** Takes lines. */
export interface LineTarget {
  line(text: string): Promise<void>;
  /** Makes all of it durable. */
  end(): Promise<void>;
  /** Leaves nothing behind. Does nothing after `end`. */
  drop(): Promise<void>;
}

/** Standard output. */
export function standardOutput(): LineTarget {
  const output = new Output();
  return {
    line: async (text) => await output.line(text),
    end: async () => await output.end(),
    drop: async () => undefined,
  };
}

/**
 * A file. The lines go to another name beside it, which takes its place in the end. Throws `CommandError` for one that
 * is there already, unless it may be replaced.
 */
export async function fileTarget(path: string, { force }: { readonly force: boolean }): Promise<LineTarget> {
  const isThere = async (): Promise<boolean> =>
    await access(path).then(
      () => true,
      () => false,
    );
  const refuseExisting = async (): Promise<void> => {
    if (!force && (await isThere())) {
      throw new CommandError(`${path} is there already: choose another file, or replace it by --force`);
    }
  };
  await refuseExisting();
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const file = await open(temporary, 'wx', OWNER_ONLY).catch((error: unknown) => {
    throw new CommandError(`${path} cannot be written`, { cause: error });
  });
  let waiting = '';
  let isOver = false;
  const flush = async (): Promise<void> => {
    const text = waiting;
    waiting = '';
    await file.appendFile(text);
  };
  return {
    line: async (text) => {
      waiting += `${text}\n`;
      if (waiting.length >= BLOCK) {
        await flush();
      }
    },
    end: async () => {
      await flush();
      await file.sync();
      await file.close();
      await refuseExisting();
      await rename(temporary, path);
      isOver = true;
    },
    drop: async () => {
      if (!isOver) {
        isOver = true;
        await file.close().catch(() => undefined);
        await rm(temporary, { force: true });
      }
    },
  };
}
