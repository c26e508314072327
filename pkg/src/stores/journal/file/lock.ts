// The lock of a file: a second file that says which process made it. It holds as long as that process lives.

import { newId } from '../../../model/ids.js';
import { StoreError } from '../../../store/store-error.js';
import { builtin, codeOf, unless } from './node.js';

/** The content of a lock. */
interface Owner {
  /** Unique for each lock. */
  readonly id: string;
  readonly pid: number;
  /**
   * The start of the process, as far as the system tells: another process may have the number of one that has died.
   */
  readonly start?: string | undefined;
  /** The range in which process numbers are unique: a machine since it was started, or one container of it. */
  readonly place: string;
}

/** A lock that is held. */
export interface FileLock {
  /** Renews the time of the lock file. Throws when the lock is lost. */
  confirm(): Promise<void>;
  /** Confirms it when that has not happened for some time. */
  refresh(): Promise<void>;
  release(): Promise<void>;
}

/** The interval at which a lock is confirmed, and the time after which an unconfirmed one is lost, in milliseconds. */
const CONFIRM_MS = 3_000;
const LOCK_TIMEOUT_MS = 15_000;
/** The error codes of a file system that has no hard links. */
const NO_LINKS = ['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EINVAL'];

/** Takes the lock `path`. Throws `rejected` when a living process has it. */
export async function lockFile(path: string): Promise<FileLock> {
  const { open, readFile, rm } = builtin('node:fs/promises');
  const me: Owner = { id: newId(), ...(await thisProcess()) };
  await acquire(path, me);
  let confirmed = Date.now();
  const isOurs = async (): Promise<boolean> => {
    const text = await unless(['ENOENT'], async () => await readFile(path, 'utf8'));
    return text !== undefined && ownerOf(text).id === me.id;
  };
  const confirm = async (): Promise<void> => {
    const now = Date.now();
    const file = await unless(['ENOENT'], async () => await open(path, 'r+'));
    try {
      const text = await file?.readFile('utf8');
      if (file === undefined || text === undefined || ownerOf(text).id !== me.id) {
        throw new Error(`the lock "${path}" was removed`);
      }
      // The same text once more: the file system stamps it by its own clock, with which others compare.
      await file.write(text, 0);
    } finally {
      await file?.close();
    }
    confirmed = now;
  };
  const timer = setInterval(() => void confirm().catch(() => undefined), CONFIRM_MS);
  // A process that has nothing else to do may end.
  (timer as { unref?(): void }).unref?.();
  return {
    confirm,
    refresh: async () => {
      if (Math.abs(Date.now() - confirmed) > 2 * CONFIRM_MS) {
        await confirm();
      }
    },
    release: async () => {
      clearInterval(timer);
      if (await isOurs()) {
        await rm(path, { force: true });
      }
    },
  };
}

/** Makes the file `path` with an owner in it, or takes the place of a dead one. */
async function acquire(path: string, me: Owner): Promise<void> {
  const { rename, rm, stat, writeFile } = builtin('node:fs/promises');
  // A lock is written under another name first, so that it is never seen before it is complete.
  const own = `${path}.${newId()}`;
  await writeFile(own, JSON.stringify(me), { flag: 'wx' });
  try {
    while (!(await place(own, path, me))) {
      const lock = await unless(['ENOENT'], async () => await look(path));
      if (lock === undefined) {
        continue;
      }
      if (await isAlive(lock.owner, (await stat(own)).mtimeMs - lock.time)) {
        throw new StoreError(
          'rejected',
          `${nameOf(lock.owner, me)} has the journal open: it holds the lock "${path}"`,
        );
      }
      // Of all processes that see the same dead owner, one replaces its lock: the one that holds a second lock, named
      // after it.
      const remains = `${path}.${lock.owner.id}`;
      await acquire(remains, me);
      try {
        const again = await unless(['ENOENT'], async () => await look(path));
        if (again?.owner.id === lock.owner.id) {
          await rename(own, path);
          return;
        }
      } finally {
        await rm(remains, { force: true });
      }
    }
  } finally {
    await rm(own, { force: true });
  }
}

function nameOf(owner: Owner, me: Owner): string {
  const isThis = owner.pid === me.pid && owner.place === me.place && owner.start === me.start;
  return isThis ? 'another store of this process' : `process ${owner.pid}`;
}

/** Puts a lock into its place, if that is free. */
async function place(own: string, path: string, me: Owner): Promise<boolean> {
  const { link, writeFile } = builtin('node:fs/promises');
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') {
      return false;
    }
    if (!NO_LINKS.includes(codeOf(error) ?? '')) {
      throw error;
    }
  }
  return (
    (await unless(['EEXIST'], async () => {
      await writeFile(path, JSON.stringify(me), { flag: 'wx' });
      return true;
    })) ?? false
  );
}

async function look(path: string): Promise<{ readonly owner: Owner; readonly time: number }> {
  const { readFile, stat } = builtin('node:fs/promises');
  const owner = ownerOf(await readFile(path, 'utf8'));
  return { owner, time: (await stat(path)).mtimeMs };
}

/** The owner that a lock names; one that no process has when it cannot be read. */
function ownerOf(text: string): Owner {
  try {
    const { id, pid, place, start } = JSON.parse(text) as Partial<Owner>;
    if (typeof id === 'string' && /^[\w-]+$/.test(id) && typeof pid === 'number' && typeof place === 'string') {
      return { id, pid, place, start };
    }
  } catch {
    // It is just being written, in place, as there are no hard links here.
  }
  return { id: 'unreadable', pid: 0, place: '' };
}

/** True when an owner may still be there. `age`: the time since it has confirmed its lock, in milliseconds. */
async function isAlive({ pid, start, place }: Owner, age: number): Promise<boolean> {
  if (place !== (await thisProcess()).place) {
    return age < LOCK_TIMEOUT_MS;
  }
  try {
    builtin('node:process').kill(pid, 0);
  } catch (error) {
    if (codeOf(error) === 'ESRCH') {
      return false;
    }
  }
  const now = await startOf(pid);
  return now === undefined || start === undefined ? age < LOCK_TIMEOUT_MS : now === start;
}

async function thisProcess(): Promise<Omit<Owner, 'id'>> {
  const { readFile, readlink } = builtin('node:fs/promises');
  const { pid } = builtin('node:process');
  try {
    const boot = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    return { pid, start: await startOf(pid), place: `${boot} ${await readlink('/proc/self/ns/pid')}` };
  } catch {
    return { pid, place: builtin('node:os').hostname() };
  }
}

/** The start of a process, in ticks since the machine was started; `undefined` where Linux does not say. */
async function startOf(pid: number): Promise<string | undefined> {
  const { readFile } = builtin('node:fs/promises');
  try {
    // The name of the program, in brackets, may contain anything.
    const [state, ...fields] = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '').split(' ');
    // A dead process stays in the list until its parent has taken its exit code.
    return state === 'Z' || state === 'X' ? 'dead' : fields[18];
  } catch {
    return undefined;
  }
}
