// Choices of the user that this browser keeps: the theme, the widths of columns. A page may have no storage.

/** The beginning of the names, which the page's own data must not have. */
const PREFIX = 'statepad-inspector-';

/** A choice that was kept; `undefined` when there is none, or no storage. */
export function keptChoice(name: string): string | undefined {
  try {
    return localStorage.getItem(`${PREFIX}${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a choice; `undefined` forgets it. Without a storage nothing is kept. */
export function keepChoice(name: string, choice: string | undefined): void {
  try {
    if (choice === undefined) {
      localStorage.removeItem(`${PREFIX}${name}`);
    } else {
      localStorage.setItem(`${PREFIX}${name}`, choice);
    }
  } catch {
    // The choice holds until the page is closed.
  }
}
