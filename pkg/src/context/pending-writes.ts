// Writes of an invocation that wait for the event that carries them. The same rules as in the core
// (src/pending.rs).

import { type AdmittedDelta } from '../input/admit.js';
import { DELETED, isDeleted } from '../model/deletion.js';
import { put } from '../model/json.js';
import type { Json } from '../model/types.js';

/** A write that is not stored yet. */
interface Write {
  readonly key: string;
  /** The frozen value, or {@link DELETED}. */
  readonly value: unknown;
  /** The context that has made it. */
  readonly owner: object;
  /** Its place in the order of writing. */
  readonly place: number;
  /** An event that carries it is on its way. */
  isSent: boolean;
  /** An event that carried it has failed: given again, it carries the same. */
  isKept: boolean;
}

/** What an event that has failed had carried. */
interface Failed {
  readonly owner: object;
  readonly carried: readonly Write[];
  readonly delta: Readonly<Record<string, unknown>>;
}

/** The writes that one event carries, until it is known what has become of it. */
export interface SentWrites {
  /** What goes into the event, in the order of writing. */
  readonly delta: Readonly<Record<string, unknown>>;
  /**
   * The event has failed before, and carried this then; some of it has been overtaken since. Only what is stored tells
   * which of the two it says.
   */
  readonly before: Readonly<Record<string, unknown>> | undefined;
  /** @internal */
  readonly id: string | undefined;
  /** @internal */
  readonly owner: object;
  /** @internal The pending writes in it. */
  readonly carried: readonly Write[];
  /** @internal What the event has brought with it. */
  readonly own: readonly Write[];
}

/** The delta of an event that carries these values, which are frozen: what is {@link DELETED} is told apart. */
export function admittedWrites(values: SentWrites['delta']): AdmittedDelta {
  const delta: Record<string, Json> = {};
  const deleted: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    put(delta, key, isDeleted(value) ? null : (value as Json));
    if (isDeleted(value)) {
      deleted.push(key);
    }
  }
  return { delta, deleted };
}

/** The pending writes of one invocation: under each key a stack, the latest on top. */
export class PendingWrites {
  readonly #stacks = new Map<string, readonly Write[]>();
  /** By the event's id. */
  readonly #failed = new Map<string, Failed>();
  #count = 0;

  /** The value that is written under a key: that of the latest write. */
  get(key: string): unknown {
    return this.#stacks.get(key)?.at(-1)?.value;
  }

  /** Keys and values in the order of writing: of each key the latest write. */
  entries(): readonly (readonly [string, unknown])[] {
    return this.#latest().map(({ key, value }) => [key, value]);
  }

  /** Whether a context has written what its next event would carry. */
  has(owner: object): boolean {
    return this.#next(owner).length > 0;
  }

  /** Writes. What the same context has written under the key before is done with, unless it is on its way. */
  write(owner: object, key: string, value: unknown): void {
    this.#keep(key, (write) => write.owner !== owner || write.isSent || write.isKept);
    this.#push(owner, key, value);
  }

  /** Drops what a context has written and no event is carrying: what lies under it is pending again. */
  discard(owner: object): void {
    for (const key of [...this.#stacks.keys()]) {
      this.#keep(key, (write) => write.owner !== owner || write.isSent);
    }
    for (const [id, failed] of this.#failed) {
      if (failed.owner === owner) {
        this.#failed.delete(id);
      }
    }
  }

  /** Drops everything that no event is carrying. Answers with the keys. */
  discardAll(): readonly string[] {
    const dropped = this.#latest().filter(({ key }) => this.#stacks.get(key)?.some(({ isSent }) => !isSent));
    this.#stacks.clear();
    this.#failed.clear();
    return dropped.map(({ key }) => key);
  }

  /**
   * Sends an event of a context: with those of its writes that are the latest of their key, and with the event's `own`
   * delta on top. An event that has failed carries what it carried then, unless a later write has been stored since.
   */
  send(owner: object, id: string | undefined, { delta: own, deleted }: AdmittedDelta): SentWrites {
    const failed = id === undefined ? undefined : this.#failed.get(id);
    const again = failed?.owner === owner ? failed : undefined;
    const left = again?.carried.filter((write) => this.#isPending(write));
    const carried = (left ?? this.#next(owner)).filter(({ key }) => !Object.hasOwn(own, key));
    const brought = Object.keys(own).map((key) => this.#push(owner, key, deleted.includes(key) ? DELETED : own[key]));
    const delta: Record<string, unknown> = {};
    for (const write of [...carried, ...brought]) {
      write.isSent = true;
      put(delta, write.key, write.value);
    }
    const before = left !== undefined && left.length < (again?.carried.length ?? 0) ? again?.delta : undefined;
    return { delta, before, id, owner, carried, own: brought };
  }

  /**
   * The event is stored: what it carried is pending no more, and neither is what was written before under the same
   * keys.
   */
  stored({ id, carried, own }: SentWrites): void {
    for (const { key, place } of [...carried, ...own]) {
      this.#keep(key, (write) => write.place > place);
    }
    if (id !== undefined) {
      this.#failed.delete(id);
    }
  }

  /**
   * The event has failed: what it carried is pending again, at its old place. What it brought with it is taken back.
   */
  failed({ id, owner, delta, carried, own, before }: SentWrites): void {
    for (const write of own) {
      this.#keep(write.key, (other) => other !== write);
    }
    for (const write of carried) {
      write.isSent = false;
      write.isKept ||= id !== undefined;
    }
    if (id !== undefined && before === undefined) {
      this.#failed.set(id, { owner, carried, delta });
    }
  }

  /** What the next event of a context carries. */
  #next(owner: object): readonly Write[] {
    return this.#stacks.size === 0 ? [] : this.#latest().filter((write) => write.owner === owner && !write.isSent);
  }

  #latest(): readonly Write[] {
    const latest: Write[] = [];
    this.#stacks.forEach((stack) => latest.push(stack.at(-1) as Write));
    return latest.sort((one, other) => one.place - other.place);
  }

  #isPending(write: Write): boolean {
    return !write.isSent && (this.#stacks.get(write.key)?.includes(write) ?? false);
  }

  #push(owner: object, key: string, value: unknown): Write {
    this.#count += 1;
    const write = { key, value, owner, place: this.#count, isSent: false, isKept: false };
    this.#stacks.set(key, [...(this.#stacks.get(key) ?? []), write]);
    return write;
  }

  /** Leaves of a stack what stays. */
  #keep(key: string, stays: (write: Write) => boolean): void {
    const stack = this.#stacks.get(key)?.filter(stays) ?? [];
    if (stack.length === 0) {
      this.#stacks.delete(key);
    } else {
      this.#stacks.set(key, stack);
    }
  }
}
