// Long lists that are drawn piece by piece: as far as the user has scrolled, and further when the end comes into view.

import { html, nothing, type ReactiveController, type ReactiveControllerHost, type TemplateResult } from 'lit';
import { ref } from 'lit/directives/ref.js';

/** The number of rows that are drawn at first, and added each time. */
const PIECE = 200;

/** The lists of one element that are drawn piece by piece, by name. */
export class LongLists implements ReactiveController {
  readonly #host: ReactiveControllerHost;
  readonly #limits = new Map<string, number>();
  /** The ends that are in the document, with the names of their lists. */
  readonly #ends = new Map<Element, string>();
  readonly #sight = new IntersectionObserver(
    (seen) => seen.filter(({ isIntersecting }) => isIntersecting).forEach(({ target }) => this.#more(target)),
    // Before it is in view, so that nobody waits for it.
    { rootMargin: '600px' },
  );

  constructor(host: ReactiveControllerHost) {
    this.#host = host;
    host.addController(this);
  }

  hostDisconnected(): void {
    this.#sight.disconnect();
    this.#ends.clear();
  }

  /** The drawn part of a list. */
  drawn<T>(name: string, all: readonly T[]): readonly T[] {
    return all.length <= this.#limitOf(name) ? all : all.slice(0, this.#limitOf(name));
  }

  /** The element at the end of a list of so many rows while not all are drawn; `around` makes a row of it. */
  end(name: string, count: number, around = (button: TemplateResult): TemplateResult => button): unknown {
    const left = count - this.#limitOf(name);
    if (left <= 0) {
      return nothing;
    }
    const draw = (): void => this.#grow(name);
    const watch = (end: Element | undefined): void => this.#watch(name, end);
    return around(html`<button class="link" ${ref(watch)} @click=${draw}>${left.toLocaleString('en')} more</button>`);
  }

  /** Draws new lists from their beginning. */
  reset(): void {
    this.#limits.clear();
  }

  #limitOf(name: string): number {
    return this.#limits.get(name) ?? PIECE;
  }

  #watch(name: string, end: Element | undefined): void {
    for (const [element, of] of this.#ends) {
      if (of === name && element !== end) {
        this.#sight.unobserve(element);
        this.#ends.delete(element);
      }
    }
    if (end !== undefined && !this.#ends.has(end)) {
      this.#ends.set(end, name);
      this.#sight.observe(end);
    }
  }

  #more(end: Element): void {
    const name = this.#ends.get(end);
    if (name !== undefined) {
      // Observing it anew reports again if it is in view, once the list has grown.
      this.#sight.unobserve(end);
      this.#ends.delete(end);
      this.#grow(name);
    }
  }

  #grow(name: string): void {
    this.#limits.set(name, this.#limitOf(name) + PIECE);
    this.#host.requestUpdate();
  }
}
