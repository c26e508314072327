// Queues by name: the tasks of one name run one after the other.

/** Runs tasks one after the other, whether the earlier ones succeed or not. */
class Queue {
  readonly #emptied: () => void;
  /** The functions that start the waiting tasks. */
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  /** Calls `emptied` whenever a task is done and no other one waits. */
  constructor(emptied: () => void) {
    this.#emptied = emptied;
  }

  /** Runs a task when all earlier ones are done; at once when there are none. */
  run<T>(task: () => Promise<T>): Promise<T> {
    let result: Promise<T>;
    if (this.#isRunning) {
      result = new Promise<void>((resolve) => this.#waiting.push(resolve)).then(task);
    } else {
      this.#isRunning = true;
      result = task();
    }
    result.then(this.#next, this.#next);
    return result;
  }

  readonly #next = (): void => {
    const start = this.#waiting.shift();
    if (start === undefined) {
      this.#isRunning = false;
      this.#emptied();
    } else {
      start();
    }
  };
}

/** Queues by name, each for as long as it has tasks. */
export class Queues {
  readonly #queues = new Map<string, Queue>();

  /** Runs a task when all earlier ones of the same name are done; at once when there are none. */
  run<T>(name: string, task: () => Promise<T>): Promise<T> {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new Queue(() => this.#queues.delete(name));
      this.#queues.set(name, queue);
    }
    return queue.run(task);
  }

  /** True when no task is running. */
  get isEmpty(): boolean {
    return this.#queues.size === 0;
  }

  /** True when a task of this name is running or waiting. */
  has(name: string): boolean {
    return this.#queues.has(name);
  }

  /** Resolves when all tasks that were requested are done. */
  async idle(): Promise<void> {
    while (this.#queues.size > 0) {
      await Promise.all([...this.#queues.values()].map(async (queue) => await queue.run(async () => undefined)));
    }
  }
}
