// Queues by name: the tasks of one name run one after the other. A task whose function waits for a later task of the
// same name would wait for itself: that later one breaks out after a while.

import { orAborted } from './abort.js';
import type { Signal } from './abort.js';

/**
 * How long a function runs until a call that may be its own goes by itself, in milliseconds. Longer at further runs.
 */
const BREAK_OUT_MS = 200;
/** How many times as long at most. */
const MAX_FACTOR = 8;

/** What moments of one service are told apart by: one more each time. */
let moments = 0;

/** One task whose turn it is, or that has broken out. */
export class QueueTurn {
  /** When it was asked for, or has waited for something else than its queues. */
  #asked = (moments += 1);
  readonly #queues = new Set<ExclusiveQueue>();
  #runs = 0;
  #isCalling = false;
  /** Since when its function is waited for, in milliseconds. */
  #since: number | undefined;

  /** Whether its function is on the stack: whatever is asked for now, the function asks for. */
  get isCalling(): boolean {
    return this.#isCalling;
  }

  /** Which run of its function is waited for now, and since when. */
  get pending(): { readonly run: number; readonly since: number } | undefined {
    return this.#since === undefined ? undefined : { run: this.#runs, since: this.#since };
  }

  /**
   * Whether it runs in turn in all of its queues: one that has broken out of a queue runs besides the one whose turn
   * it is.
   */
  get isHead(): boolean {
    return [...this.#queues].every((queue) => queue.head === this);
  }

  /** Calls the function of the task. */
  call<T>(fn: () => T): T {
    this.#runs += 1;
    this.#isCalling = true;
    try {
      return fn();
    } finally {
      this.#isCalling = false;
    }
  }

  /** Waits for what the function has answered. */
  async wait<T>(answer: PromiseLike<T>): Promise<T> {
    this.#since = performance.now();
    this.#queues.forEach((queue) => queue.look());
    try {
      return await answer;
    } finally {
      this.#since = undefined;
    }
  }

  /**
   * What the turn before has left, if that was written after this one was asked for: as good as read now, and one
   * round trip less.
   */
  left(): unknown {
    const [queue] = this.#queues;
    return queue?.left !== undefined && queue.left.moment > this.#asked ? queue.left.value : undefined;
  }

  /** It has waited while others may have written: what the turn before has left is as good as read now no longer. */
  forget(): void {
    this.#asked = moments += 1;
  }

  /** Begins to write. What is left for the next turn, once that is done, is given to the function that it answers. */
  writes(): (value: unknown) => void {
    const moment = (moments += 1);
    const [queue] = this.#queues;
    if (queue !== undefined) {
      queue.left = undefined;
    }
    return (value) => {
      if (queue !== undefined) {
        queue.left = { moment, value };
      }
    };
  }

  /** @internal */
  enter(queue: ExclusiveQueue): void {
    this.#queues.add(queue);
  }

  /** @internal */
  leave(queue: ExclusiveQueue): void {
    this.#queues.delete(queue);
  }
}

/** A task that waits. */
interface Waiting {
  readonly start: () => void;
  readonly since: number;
  /** The runs that were waited for when it came: it may be theirs. `'any'`: it may always break out. */
  readonly within: ReadonlyMap<QueueTurn, number> | 'any';
}

/** The tasks of one name. */
class ExclusiveQueue {
  /** What the last turn has left, and when it was written. */
  left: { readonly moment: number; readonly value: unknown } | undefined;
  /** The one whose turn it is, and those that have broken out, the last one last. */
  readonly #running: QueueTurn[] = [];
  readonly #waiting: Waiting[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  get isEmpty(): boolean {
    return this.#running.length === 0 && this.#waiting.length === 0;
  }

  /** The one whose turn it is. */
  get head(): QueueTurn | undefined {
    return this.#running[0];
  }

  /** Whether a task that comes now is one that a running function has just asked for. */
  get isWithin(): boolean {
    return this.#running.some((turn) => turn.isCalling);
  }

  /** Runs a task at once. */
  async start<T>(turn: QueueTurn, task: () => Promise<T>): Promise<T> {
    this.#running.push(turn);
    turn.enter(this);
    try {
      return await task();
    } finally {
      turn.leave(this);
      this.#running.splice(this.#running.indexOf(turn), 1);
      if (this.#running.length === 0) {
        this.#waiting.shift()?.start();
      }
      this.look();
    }
  }

  /** Runs a task in turn. */
  async enqueue<T>(
    turn: QueueTurn,
    task: () => Promise<T>,
    mayBreakOut: boolean,
    signal: Signal | undefined,
  ): Promise<T> {
    const pending = this.#running.filter((each) => each.pending !== undefined);
    const within = mayBreakOut ? 'any' : new Map(pending.map((each) => [each, each.pending?.run ?? 0]));
    let result: Promise<T> | undefined;
    let waiting: Waiting | undefined;
    const started = new Promise<void>((resolve) => {
      const start = (): void => {
        result = this.start(turn, task);
        // A caller that was aborted no longer listens.
        result.catch(() => undefined);
        resolve();
      };
      waiting = { start, since: performance.now(), within };
      this.#waiting.push(waiting);
      this.look();
    });
    try {
      await orAborted(started, signal);
    } finally {
      if (result === undefined) {
        this.#waiting.splice(this.#waiting.indexOf(waiting as Waiting), 1);
        this.look();
      }
    }
    return await (result as unknown as Promise<T>);
  }

  /**
   * Looks whether a task that waits has to break out: a function that updates what it is updating would wait for
   * itself. That is so for none that came before the function was called, or after it has answered.
   */
  look(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#running.at(-1)?.pending;
    const isWithin = (within: Waiting['within']): boolean =>
      within === 'any' ||
      this.#running.some((turn) => turn.pending !== undefined && within.get(turn) === turn.pending.run);
    const next = pending && this.#waiting.find(({ within }) => isWithin(within));
    if (pending === undefined || next === undefined) {
      return;
    }
    const patience = BREAK_OUT_MS * Math.min(MAX_FACTOR, 2 ** (pending.run - 1));
    const left = Math.max(pending.since, next.since) + patience - performance.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.look(), left);
    } else {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.start();
    }
  }
}

/** Tasks under names. */
export class ExclusiveQueues {
  readonly #queues = new Map<string, ExclusiveQueue>();

  /**
   * Runs a task when all earlier ones of its name are done; at once when there are none, and when a running one asks
   * for it. A `turn` that another name has given goes on with this one; it waits for speed alone, and may always break
   * out.
   */
  async runExclusive<T>(
    name: string,
    signal: Signal | undefined,
    task: (turn: QueueTurn) => Promise<T>,
    given?: QueueTurn,
  ): Promise<T> {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new ExclusiveQueue();
      this.#queues.set(name, queue);
    }
    const turn = given ?? new QueueTurn();
    const run = async (): Promise<T> => await task(turn);
    try {
      return await (queue.isEmpty || queue.isWithin
        ? queue.start(turn, run)
        : queue.enqueue(turn, run, given !== undefined, signal));
    } finally {
      if (queue.isEmpty && this.#queues.get(name) === queue) {
        this.#queues.delete(name);
      }
    }
  }
}
