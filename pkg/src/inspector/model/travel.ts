// Travelling: a slider requests moments more often than there are frames.

/** Moves to the last requested revision, once a frame. */
export class Travel {
  readonly #move: (revision: number) => void;
  #target: number | undefined;
  #isUnderway = false;

  /** `move` shows a revision. */
  constructor(move: (revision: number) => void) {
    this.#move = move;
  }

  /** The revision to show next; `undefined` at the end of a travel. */
  get target(): number | undefined {
    return this.#target;
  }

  /** Requests a revision. */
  request(revision: number): void {
    this.#target = revision;
    if (!this.#isUnderway) {
      this.#isUnderway = true;
      void this.#arrive();
    }
  }

  /** Forgets the request. */
  cancel(): void {
    this.#target = undefined;
  }

  async #arrive(): Promise<void> {
    await nextFrame();
    this.#isUnderway = false;
    const target = this.#target;
    this.#target = undefined;
    if (target !== undefined) {
      this.#move(target);
    }
  }
}

/** The time after which a frame does not count any more, because the page is hidden, in ms. */
const HIDDEN = 100;

/** Resolves with the next frame. A hidden page, and a program without a page, has none. */
async function nextFrame(): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, typeof requestAnimationFrame === 'function' ? HIDDEN : 0);
    if (typeof requestAnimationFrame === 'function') {
      requestAnimationFrame(() => {
        clearTimeout(timer);
        resolve();
      });
    }
  });
}
