// Waiting for the layout of the browser's next frame.

/** Runs a task after the layout of the next frame: measuring costs nothing then, and is final. */
export class AfterLayout {
  #isWaiting = false;

  /** Runs `task` then. A waiting task runs for both. */
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
