// The lines of a journal in a file, for Node. Acknowledged lines stay; the rest of an unfinished write is cut off.

import { isStoreError, StoreError } from '../../../store/store-error.js';
import { compactedLines } from './compact.js';
import { lockFile, type FileLock } from './lock.js';
import { builtin, codeOf, unless } from './node.js';
import { countBy } from '../crc32.js';
import { isTorn } from '../lines.js';
import { FORMAT } from '../version.js';
import { PlacedFile } from '../../shared/placed-file.js';
import type { Durability, Migrate } from '../../../store/contract.js';
import type { FileHandle } from 'node:fs/promises';

/** The size of one read, in bytes. */
const CHUNK_BYTES = 1 << 20;
/**
 * The most bytes that are written at once while the process waits. The system only copies them, which takes less time
 * than to hand them to another thread and to come back: that is a third of a small commit.
 */
const SHORT_BYTES = 1 << 16;
/** Error codes of the operating system after which no such file can be opened. */
const UNSUITABLE = ['EACCES', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'EPERM', 'EROFS'];
/** Error codes after which opening may succeed later. */
const BUSY = ['EDQUOT', 'EMFILE', 'ENFILE', 'ENOSPC'];
const LINE_FEED = 10;

/** A file of lines, open for one writer. */
export class JournalFile {
  readonly durability: Durability;
  readonly name: string;
  readonly #path: string;
  readonly #isSynced: boolean;
  readonly #isCompacted: boolean;
  #handle: FileHandle | undefined;
  /** The file that is open as `#handle`. */
  #file: PlacedFile | undefined;
  #lock: FileLock | undefined;
  /** The end of the last line: anything behind it is torn. */
  #end = 0;
  #size = 0;
  /** The last line has no line feed. */
  #isOpenEnded = false;
  /** The reason that it has closed itself. */
  #failure: unknown;

  constructor(path: string, isSynced: boolean, isCompacted: boolean) {
    this.name = `the journal "${path}"`;
    this.#path = path;
    this.#isSynced = isSynced;
    this.#isCompacted = isCompacted;
    this.durability = isSynced ? 'disk' : 'os';
  }

  async open({ migrate }: { readonly migrate: Migrate }): Promise<void> {
    const { realpath } = builtin('node:fs/promises');
    // Node has it from 20.15 and 22.2 on.
    const { crc32 } = builtin('node:zlib') as { readonly crc32?: (text: string) => number };
    if (crc32 !== undefined) {
      countBy(crc32);
    }
    try {
      this.#handle = await this.#openFile(migrate);
      if (!(await this.#handle.stat()).isFile()) {
        throw new StoreError('rejected', `"${this.#path}" is not a file`);
      }
      // One file may have several names.
      const path = await realpath(this.#path);
      this.#lock = await lockFile(`${path}.lock`);
      this.#failure = undefined;
      // Before it was locked, another file may have taken its place.
      await this.#handle.close();
      this.#handle = await this.#openFile(migrate);
      // An earlier process may have died before its last lines were on the disk.
      await this.#sync();
      if (this.#isCompacted && migrate !== 'check') {
        await this.#compact(path);
      }
      this.#file = PlacedFile.opened(builtin('node:path').resolve(this.#path), this.#handle.fd);
    } catch (error) {
      const code = codeOf(error) ?? '';
      if (UNSUITABLE.includes(code) || BUSY.includes(code)) {
        const what = UNSUITABLE.includes(code) ? 'rejected' : 'unavailable';
        throw new StoreError(what, `no journal can be created in "${this.#path}": ${String(error)}`, { cause: error });
      }
      throw error;
    }
  }

  async *read(): AsyncGenerator<string> {
    const handle = this.#opened();
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const chunk = new Uint8Array(CHUNK_BYTES);
    let rest = '';
    this.#end = 0;
    for (this.#size = 0; ;) {
      const { bytesRead } = await handle.read(chunk, 0, CHUNK_BYTES, this.#size);
      const bytes = chunk.subarray(0, bytesRead);
      const lines = (rest + decoder.decode(bytes, { stream: bytesRead > 0 })).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
      if (bytes.includes(LINE_FEED)) {
        this.#end = this.#size + bytes.lastIndexOf(LINE_FEED) + 1;
      }
      this.#size += bytesRead;
      if (bytesRead === 0) {
        break;
      }
    }
    this.#isOpenEnded = !isTorn(rest, FORMAT);
    if (this.#isOpenEnded) {
      this.#end = this.#size;
    }
    // The empty text tells the reader that the last line it received is complete.
    yield this.#isOpenEnded ? rest : '';
  }

  /** Cuts off the torn end. */
  async trim(): Promise<void> {
    if (this.#size !== this.#end) {
      await this.#cut();
    }
  }

  async append(lines: readonly string[]): Promise<void> {
    const handle = this.#opened();
    await this.#check(handle);
    await this.trim();
    const [first, ...others] = lines;
    // There is no torn line that would have to be ended first.
    const whole = first === '' && !this.#isOpenEnded ? others : lines;
    const bytes = new TextEncoder().encode(whole.map((line) => `${line}\n`).join(''));
    try {
      await writeAll(handle, bytes);
    } catch (error) {
      await this.#cut(error);
      throw this.#unavailable(error);
    }
    try {
      await this.#sync();
    } catch (error) {
      // The system may have dropped the pages that it could not write, and reports the error only once.
      throw await this.#fail(error);
    }
    const moved = this.#file?.moved();
    if (moved !== undefined) {
      // It went to a file that nobody will open.
      await this.#cut();
      throw this.#unavailable(moved);
    }
    this.#end += bytes.length;
    this.#size = this.#end;
    this.#isOpenEnded = false;
  }

  async close(): Promise<void> {
    const [handle, lock] = [this.#handle, this.#lock];
    this.#handle = undefined;
    this.#lock = undefined;
    try {
      await handle?.close();
    } finally {
      await lock?.release();
    }
  }

  async #openFile(migrate: Migrate): Promise<FileHandle> {
    const { constants, open } = builtin('node:fs/promises');
    const flags = constants.O_RDWR | constants.O_APPEND;
    const file = await unless(['ENOENT'], async () => await open(this.#path, flags));
    if (file !== undefined) {
      return file;
    }
    if (migrate === 'check') {
      throw new StoreError('rejected', `there is no journal "${this.#path}"`);
    }
    const handle = await open(this.#path, flags | constants.O_CREAT);
    await this.#syncFolder(this.#path);
    return handle;
  }

  /** The name of a new file has to be on the disk, too; Windows has no way to ask for that. */
  async #syncFolder(path: string): Promise<void> {
    if (this.#isSynced) {
      await unless(['EISDIR', 'EPERM', 'EACCES', 'EINVAL', 'ENOTSUP'], async () => {
        const folder = await builtin('node:fs/promises').open(builtin('node:path').dirname(path), 'r');
        await folder.sync().finally(async () => await folder.close());
      });
    }
  }

  /** Replaces the file by one without deleted data. */
  async #compact(path: string): Promise<void> {
    const lines = await compactedLines(() => this.read()).catch((error: unknown) => {
      // The read that follows finds the same, and throws it.
      if (isStoreError(error)) {
        return undefined;
      }
      throw error;
    });
    if (lines === undefined) {
      return;
    }
    const { open, rename, rm } = builtin('node:fs/promises');
    const fresh = `${path}.new`;
    try {
      const handle = await open(fresh, 'w', (await this.#handle?.stat())?.mode);
      try {
        let text = '';
        for await (const line of lines) {
          text += `${line}\n`;
          if (text.length > CHUNK_BYTES) {
            await handle.appendFile(text);
            text = '';
          }
        }
        await handle.appendFile(text);
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(fresh, path);
    } catch (error) {
      await rm(fresh, { force: true });
      throw error;
    }
    await this.#syncFolder(path);
    await this.#handle?.close();
    this.#handle = await this.#openFile('check');
  }

  #opened(): FileHandle {
    if (this.#handle === undefined) {
      throw new Error(
        `the journal "${this.#path}" ${this.#failure === undefined ? 'is not open' : 'has closed itself'}`,
        { cause: this.#failure },
      );
    }
    return this.#handle;
  }

  /** Makes sure that the file is still there, and that nothing else has written to it. */
  async #check(handle: FileHandle): Promise<void> {
    const moved = this.#file?.moved();
    if (moved !== undefined) {
      throw this.#unavailable(moved);
    }
    try {
      await this.#lock?.refresh();
      if (builtin('node:fs').fstatSync(handle.fd).size !== this.#size) {
        throw new Error('another writer has written to it');
      }
    } catch (error) {
      // Too many open files are no reason to give up.
      throw codeOf(error) === undefined ? await this.#fail(error) : this.#unavailable(error);
    }
  }

  async #sync(): Promise<void> {
    if (this.#isSynced) {
      await this.#handle?.datasync();
    }
  }

  /** Cuts the file to its last complete line, after a write that failed. */
  async #cut(reason?: unknown): Promise<void> {
    try {
      await this.#truncate();
      this.#size = this.#end;
      if (this.#isSynced) {
        await this.#handle?.sync();
      }
    } catch (error) {
      throw await this.#fail(reason ?? error);
    }
  }

  async #truncate(): Promise<void> {
    try {
      await this.#handle?.truncate(this.#end);
    } catch (error) {
      // Windows does not allow it through a handle that may only append.
      if (codeOf(error) !== 'EPERM') {
        throw error;
      }
      await builtin('node:fs/promises').truncate(this.#path, this.#end);
    }
  }

  #unavailable(cause: unknown): StoreError {
    return new StoreError('unavailable', `the journal "${this.#path}" cannot be written: ${String(cause)}`, { cause });
  }

  /** Closes the journal, as the content of the file is unknown. */
  async #fail(reason: unknown): Promise<Error> {
    this.#failure = reason;
    await this.close().catch(() => undefined);
    const message = reason instanceof Error ? reason.message : String(reason);
    return new Error(`the journal "${this.#path}" has closed itself: ${message}`, { cause: reason });
  }
}

/** Appends bytes to a file, however few of them the system takes at a time. */
async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  const { writeSync } = builtin('node:fs');
  for (let written = 0; written < bytes.length;) {
    const count =
      bytes.length <= SHORT_BYTES
        ? writeSync(handle.fd, bytes, written)
        : (await handle.write(bytes, written)).bytesWritten;
    if (count === 0) {
      throw new Error('nothing more can be written');
    }
    written += count;
  }
}
