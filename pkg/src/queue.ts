// One thing after the other.

/** Runs tasks one after the other, whether the earlier ones succeed or not. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs a task when all earlier ones are done. */
  run<T>(task: () => Promise<T>): Promise<T> {
    const result = this.#last.then(task);
    this.#last = result.catch(() => undefined);
    return result;
  }
}
