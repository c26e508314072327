// One thing after the other.

/** Runs tasks one after the other, whether the earlier ones succeed or not. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();
  #length = 0;

  /** Resolves when all tasks that there are now are done. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** How many tasks are not done yet. */
  get length(): number {
    return this.#length;
  }

  /** Runs a task when all earlier ones are done. */
  run<T>(task: () => Promise<T>): Promise<T> {
    this.#length += 1;
    const done = (): void => {
      this.#length -= 1;
    };
    const result = this.#last.then(task);
    this.#last = result.then(done, done);
    return result;
  }
}

/** Queues under names, each as long as it is needed. */
export class Queues {
  readonly #queues = new Map<string, Queue>();

  /** Runs a task when all earlier ones of the same name are done. */
  async run<T>(name: string, task: () => Promise<T>): Promise<T> {
    let queue = this.#queues.get(name);
    if (queue === undefined) {
      queue = new Queue();
      this.#queues.set(name, queue);
    }
    try {
      return await queue.run(task);
    } finally {
      if (queue.length === 0) {
        this.#queues.delete(name);
      }
    }
  }

  /** Resolves when all that has been asked for is done. */
  async idle(): Promise<void> {
    while (this.#queues.size > 0) {
      await Promise.all([...this.#queues.values()].map(async (queue) => await queue.idle()));
    }
  }
}
