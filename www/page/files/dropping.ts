// Files that are dropped on the window.

/** Listens for files that are dragged over the window, and dropped. */
export class Dropping {
  readonly #dropped: (file: File) => void;
  readonly #over: (isOver: boolean) => void;
  #listeners: AbortController | undefined;

  /** `dropped` gets the first file; `over` is told whether files are over the window. */
  constructor(dropped: (file: File) => void, over: (isOver: boolean) => void) {
    this.#dropped = dropped;
    this.#over = over;
  }

  /** Begins to listen. */
  begin(): void {
    this.#listeners = new AbortController();
    const { signal } = this.#listeners;
    window.addEventListener('dragover', (event) => this.#dragOver(event), { signal });
    // Leaving the window, not one of its elements.
    window.addEventListener('dragleave', ({ relatedTarget }) => relatedTarget === null && this.#over(false), {
      signal,
    });
    window.addEventListener('drop', (event) => this.#drop(event), { signal });
  }

  /** Ends listening. */
  end(): void {
    this.#listeners?.abort();
  }

  #dragOver(event: DragEvent): void {
    if (event.dataTransfer?.types.includes('Files') === true) {
      event.preventDefault();
      this.#over(true);
    }
  }

  #drop(event: DragEvent): void {
    const [file] = event.dataTransfer?.files ?? [];
    this.#over(false);
    if (file !== undefined) {
      event.preventDefault();
      this.#dropped(file);
    }
  }
}
