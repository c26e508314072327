// Writes of an invocation that wait for the event that carries them. The rules are those of the core (src/pending.rs).

import { type AdmittedDelta } from '../input/admit.js';
import { over, visibleValue } from './composed.js';
import { DELETED, isDeleted } from '../model/deletion.js';
import { put } from '../model/json.js';
import { deltaBound } from '../model/json-size.js';
import { OperatorWrite, operatorOf } from '../model/operator-write.js';
import { operatorName, type Operator } from '../model/operators.js';
import type { Json } from '../model/types.js';

/** A write that is not stored yet. */
interface Write {
  readonly key: string;
  /** The frozen value, {@link DELETED}, or an operator. */
  readonly value: unknown;
  /** The context that made it. */
  readonly owner: object;
  /** Its place in the order of writing. */
  readonly place: number;
  /** True while an event that carries it is being appended. */
  isSent: boolean;
  /** True when an event that carried it has failed: appended again, it carries the same. */
  isKept: boolean;
}

/** The writes that a failed event carried. */
interface Failed {
  readonly owner: object;
  readonly carried: readonly Write[];
  readonly delta: Readonly<Record<string, unknown>>;
}

/** The writes that one event carries, until its outcome is known. */
export interface SentWrites {
  /** The delta of the event, in the order of writing. */
  readonly delta: Readonly<Record<string, unknown>>;
  /**
   * The delta of the event's failed attempt, if parts of it were overtaken since. Only the stored event says which of
   * the two holds.
   */
  readonly before: Readonly<Record<string, unknown>> | undefined;
  /** @internal */
  readonly id: string | undefined;
  /** @internal */
  readonly owner: object;
  /** @internal The pending writes that it carries. */
  readonly carried: readonly Write[];
  /** @internal The writes of the event itself. */
  readonly own: readonly Write[];
}

/**
 * The delta of an event with these values, which are frozen. {@link DELETED} and operators are recognized; the keys
 * of operators go to the end.
 */
export function admittedWrites(values: SentWrites['delta']): AdmittedDelta {
  const delta: Record<string, Json> = {};
  const deleted: string[] = [];
  let operators: Record<string, Operator> | undefined;
  for (const [key, value] of Object.entries(values)) {
    const operator = operatorOf(value);
    if (operator !== undefined) {
      put((operators ??= {}), key, operator);
    } else {
      put(delta, key, isDeleted(value) ? null : (value as Json));
    }
    if (isDeleted(value)) {
      deleted.push(key);
    }
  }
  Object.keys(operators ?? {}).forEach((key) => put(delta, key, null));
  return { delta, deleted, operators, bound: deltaBound(delta, operators) };
}

/** The pending writes of one invocation: under each key a stack, the latest on top. */
export class PendingWrites {
  readonly #stacks = new Map<string, readonly Write[]>();
  /** By the event's id. */
  readonly #failed = new Map<string, Failed>();
  #count = 0;

  /**
   * The value under a key over the `stored` one: that of the latest write, with operators resolved. `undefined` for a
   * missing key, or where operators do not fit.
   */
  get(key: string, stored: () => Json | undefined): unknown {
    const stack = this.#stacks.get(key) ?? [];
    const value = stack.at(-1)?.value;
    // Under an operator there are only operators.
    return operatorOf(value) === undefined
      ? value
      : visibleValue(
          stack.map((write) => operatorOf(write.value) as Operator),
          stored(),
        );
  }

  /** The keys in the order of writing. */
  keys(): readonly string[] {
    return this.#latest().map(({ key }) => key);
  }

  /** True when the next event of a context would carry writes. */
  has(owner: object): boolean {
    return this.#next(owner).length > 0;
  }

  /**
   * The result of a write under a key: an operator over a pending value is resolved at once. Throws as {@link over};
   * a write that is being appended is ignored.
   */
  over(key: string, value: unknown): unknown {
    const operator = operatorOf(value);
    const top = this.#stacks.get(key)?.at(-1);
    if (operator === undefined || top === undefined || (top.isSent && operatorOf(top.value) !== undefined)) {
      return value;
    }
    const made = over(key, top.value, operator);
    return operatorOf(made) === undefined ? made : value;
  }

  /**
   * Writes. Replaces the earlier writes of the same context under the key, unless they are being appended; an
   * operator is composed with them. Throws as {@link PendingWrites.over}.
   */
  write(owner: object, key: string, input: unknown): void {
    const value = this.over(key, input);
    const operator = operatorOf(value);
    const top = this.#stacks.get(key)?.at(-1);
    const isFree = top?.owner === owner && !top.isSent && !top.isKept;
    if (operator === undefined) {
      this.#keep(key, (write) => write.owner !== owner || write.isSent || write.isKept);
    } else if (isFree) {
      this.#keep(key, (write) => write !== top);
    }
    this.#push(owner, key, operator !== undefined && isFree ? over(key, top.value, operator) : value);
  }

  /** Drops the writes of a context that no event is carrying: those below them are pending again. */
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

  /** Drops all writes that no event is carrying. Answers their keys. */
  discardAll(): readonly string[] {
    const dropped = this.#latest().filter(({ key }) => this.#stacks.get(key)?.some(({ isSent }) => !isSent));
    this.#stacks.clear();
    this.#failed.clear();
    return dropped.map(({ key }) => key);
  }

  /**
   * Puts pending writes into an event of a context: those of its writes that are the latest of their key, with the
   * event's `own` delta on top. Operators go with all of their kind that are pending below them. An event that has
   * failed carries the same as before, unless a later write has been stored since. Throws as {@link
   * PendingWrites.over}.
   */
  send(owner: object, id: string | undefined, { delta: own, deleted, operators = {} }: AdmittedDelta): SentWrites {
    const failed = id === undefined ? undefined : this.#failed.get(id);
    const again = failed?.owner === owner ? failed : undefined;
    const rest = again?.carried.filter((write) => this.#isPending(write));
    const isOwn = (key: string): boolean => Object.hasOwn(own, key);
    const isOperator = (key: string): boolean => Object.hasOwn(operators, key);
    const values = Object.keys(own).map((key) => {
      const value = deleted.includes(key) ? DELETED : own[key];
      return [key, isOperator(key) ? this.#ownOperator(key, operators[key] as Operator, again) : value] as const;
    });
    const under = values.flatMap(([key, value]) => this.#operators(key, operatorOf(value)));
    const next = this.#next(owner).filter(({ key }) => !isOwn(key));
    const carried =
      rest?.filter(({ key }) => !isOwn(key) || isOperator(key)) ??
      next.flatMap((write) => this.#withEarlier(write)).concat(under);
    const brought = values.map(([key, value]) => this.#push(owner, key, value));
    const delta: Record<string, unknown> = {};
    for (const write of [...carried, ...brought]) {
      const { key, value } = write;
      const operator = operatorOf(value);
      write.isSent = true;
      put(delta, key, operator !== undefined && Object.hasOwn(delta, key) ? over(key, delta[key], operator) : value);
    }
    const before = rest !== undefined && rest.length < (again?.carried.length ?? 0) ? again?.delta : undefined;
    return { delta, before, id, owner, carried, own: brought };
  }

  /**
   * The event is stored: its writes are no longer pending, and neither are earlier ones under the same keys, except
   * operators that it did not carry.
   */
  stored({ id, carried, own }: SentWrites): void {
    for (const storedWrite of [...carried, ...own]) {
      const isOperator = operatorOf(storedWrite.value) !== undefined;
      this.#keep(storedWrite.key, (write) => (isOperator ? write !== storedWrite : write.place > storedWrite.place));
    }
    if (id !== undefined) {
      this.#failed.delete(id);
    }
  }

  /**
   * The event has failed: its pending writes are pending again, in their old places. Its own writes are taken back.
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

  /** An operator of the event itself: appended again after a failure, it has the same result as before. */
  #ownOperator(key: string, operator: Operator, again: Failed | undefined): unknown {
    const before = again !== undefined && Object.hasOwn(again.delta, key) ? again.delta[key] : undefined;
    const write = new OperatorWrite(operator);
    return before === undefined ? this.over(key, write) : operatorOf(before) === undefined ? before : write;
  }

  /** The operators of one kind that are pending under a key, and that no event carries. */
  #operators(key: string, operator: Operator | undefined): readonly Write[] {
    return (this.#stacks.get(key) ?? []).filter(({ value, isSent }) => {
      const other = operatorOf(value);
      return other && operator && !isSent && operatorName(other) === operatorName(operator);
    });
  }

  /** A write, and if it is an operator, the earlier ones that are composed with it. */
  #withEarlier(write: Write): readonly Write[] {
    const operator = operatorOf(write.value);
    return operator === undefined ? [write] : this.#operators(write.key, operator);
  }

  /** The writes that the next event of a context carries. */
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

  /** Removes writes from a stack, except those that `stays` accepts. */
  #keep(key: string, stays: (write: Write) => boolean): void {
    const stack = this.#stacks.get(key)?.filter(stays) ?? [];
    if (stack.length === 0) {
      this.#stacks.delete(key);
    } else {
      this.#stacks.set(key, stack);
    }
  }
}
