// The facts that the entries of a conversation are drawn from.

import type { Inspection } from '../model/inspection.js';

/** The parts that a reader has opened or closed. They stay so when they are scrolled away. */
export class Folds {
  readonly #toggled = new Map<string, boolean>();

  isOpen(name: string): boolean {
    return this.#toggled.get(name) ?? false;
  }

  /** Keeps the state of a `details` element, as its listener for `toggle`. */
  keeper(name: string): (event: globalThis.Event) => void {
    return ({ currentTarget }) => {
      this.#toggled.set(name, (currentTarget as HTMLDetailsElement).open);
    };
  }

  clear(): void {
    this.#toggled.clear();
  }
}

/** The inspection, and the choices of the reader within the conversation. */
export interface View {
  readonly inspection: Inspection;
  readonly folds: Folds;
  /** The revisions whose texts are shown as they were written. */
  readonly raw: ReadonlySet<number>;
  /** The revision of the element that the Tab key reaches. */
  readonly stop: number;
}
