// Waiting for what the browser does between two pictures of the page.

/** Runs a task once the next frame has been laid out: what it measures costs nothing then, and stays as it is. */
export class AfterLayout {
  #isWaiting = false;

  /** Runs `task` then. One that waits already runs for both. */
  async run(task: () => void): Promise<void> {
    if (this.#isWaiting) {
      return;
    }
    this.#isWaiting = true;
    await new Promise(requestAnimationFrame);
    await new Promise((resolve) => setTimeout(resolve));
    this.#isWaiting = false;
    task();
  }
}
