// Queues by name: the tasks of one name run one after the other. A function that waits for a later task of its own
// name would wait forever. The caller of a task is unknown, so one that may be such a call starts out of turn after a
// while.

import { orAborted } from './abort.js';
import type { Signal } from './abort.js';

/** The time a function is waited for before a possible call of its own starts, in milliseconds; more at each rerun. */
const BREAK_OUT_MS = 200;
/** The limit of that growth. */
const MAX_FACTOR = 8;

/** A task that runs in its turn, or out of turn. */
export class QueueTask {
  readonly #queues = new Set<ReentrantQueue>();
  #runs = 0;
  #isCalling = false;
  /** The start of the wait for its function, in milliseconds. */
  #awaitedSince: number | undefined;

  /** True while its function is on the stack: any request made now comes from the function. */
  get isCalling(): boolean {
    return this.#isCalling;
  }

  /** The run of its function that is being waited for, with the start of the wait. */
  get awaited(): { readonly run: number; readonly since: number } | undefined {
    return this.#awaitedSince === undefined ? undefined : { run: this.#runs, since: this.#awaitedSince };
  }

  /** True when it runs in its turn in all of its queues. A task out of turn runs beside the one whose turn it is. */
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

  /** Waits for the answer of the function. */
  async wait<T>(answer: PromiseLike<T>): Promise<T> {
    this.#awaitedSince = performance.now();
    this.#queues.forEach((queue) => queue.checkWaiting());
    try {
      return await answer;
    } finally {
      this.#awaitedSince = undefined;
    }
  }

  /** @internal */
  enter(queue: ReentrantQueue): void {
    this.#queues.add(queue);
  }

  /** @internal */
  leave(queue: ReentrantQueue): void {
    this.#queues.delete(queue);
  }
}

/** A task in the queue. */
interface WaitingTask {
  readonly start: () => void;
  readonly since: number;
  /** The runs in progress when it was requested: one of them may be its caller. `'any'`: it may always start. */
  readonly callers: ReadonlyMap<QueueTask, number> | 'any';
}

/** The tasks of one name. */
class ReentrantQueue {
  /** The task whose turn it is, then those that run out of turn, the latest last. */
  readonly #running: QueueTask[] = [];
  readonly #waiting: WaitingTask[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  get isEmpty(): boolean {
    return this.#running.length === 0 && this.#waiting.length === 0;
  }

  /** The task whose turn it is. */
  get head(): QueueTask | undefined {
    return this.#running[0];
  }

  /** True when a running function makes the request that arrives now. */
  get isCalledFromTask(): boolean {
    return this.#running.some((task) => task.isCalling);
  }

  /** Runs a task at once. */
  async start<T>(task: QueueTask, run: () => Promise<T>): Promise<T> {
    this.#running.push(task);
    task.enter(this);
    try {
      return await run();
    } finally {
      task.leave(this);
      this.#running.splice(this.#running.indexOf(task), 1);
      if (this.#running.length === 0) {
        this.#waiting.shift()?.start();
      }
      this.checkWaiting();
    }
  }

  /** Runs a task when its turn comes. */
  async enqueue<T>(
    task: QueueTask,
    run: () => Promise<T>,
    mayBreakOut: boolean,
    signal: Signal | undefined,
  ): Promise<T> {
    const awaited = this.#running.filter((each) => each.awaited !== undefined);
    const callers = mayBreakOut ? 'any' : new Map(awaited.map((each) => [each, each.awaited?.run ?? 0]));
    let result: Promise<T> | undefined;
    let waiting: WaitingTask | undefined;
    const started = new Promise<void>((resolve) => {
      const start = (): void => {
        result = this.start(task, run);
        // A caller that was aborted no longer listens.
        result.catch(() => undefined);
        resolve();
      };
      waiting = { start, since: performance.now(), callers };
      this.#waiting.push(waiting);
      this.checkWaiting();
    });
    try {
      await orAborted(started, signal);
    } finally {
      if (result === undefined) {
        this.#waiting.splice(this.#waiting.indexOf(waiting as WaitingTask), 1);
        this.checkWaiting();
      }
    }
    return await (result as unknown as Promise<T>);
  }

  /**
   * Starts a waiting task whose caller may be a running function, once that function has been waited for long enough.
   * A task that was requested before the function was called, or after it answered, is no call of the function.
   */
  checkWaiting(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const awaited = this.#running.at(-1)?.awaited;
    const mayBeCalled = (callers: WaitingTask['callers']): boolean =>
      callers === 'any' ||
      this.#running.some((task) => task.awaited !== undefined && callers.get(task) === task.awaited.run);
    const next = awaited && this.#waiting.find(({ callers }) => mayBeCalled(callers));
    if (awaited === undefined || next === undefined) {
      return;
    }
    const patience = BREAK_OUT_MS * Math.min(MAX_FACTOR, 2 ** (awaited.run - 1));
    const remaining = Math.max(awaited.since, next.since) + patience - performance.now();
    if (remaining > 0) {
      this.#timer = setTimeout(() => this.checkWaiting(), remaining);
    } else {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.start();
    }
  }
}

/** Queues of tasks by name. */
export class ReentrantQueues {
  readonly #queues = new Map<string, ReentrantQueue>();

  /**
   * Runs a task after all earlier ones of its name; at once when there are none, and when a running task calls it. A
   * `task` that runs in the queue of another name goes on in this one: it waits for speed alone, and may always start.
   */
  async run<T>(
    name: string,
    signal: Signal | undefined,
    run: (task: QueueTask) => Promise<T>,
    task?: QueueTask,
  ): Promise<T> {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new ReentrantQueue();
      this.#queues.set(name, queue);
    }
    const entered = task ?? new QueueTask();
    const start = async (): Promise<T> => await run(entered);
    try {
      return await (queue.isEmpty || queue.isCalledFromTask
        ? queue.start(entered, start)
        : queue.enqueue(entered, start, task !== undefined, signal));
    } finally {
      if (queue.isEmpty && this.#queues.get(name) === queue) {
        this.#queues.delete(name);
      }
    }
  }
}
