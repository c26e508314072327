// Navigation between rows of buttons with the arrow keys, so that they need few stops of the Tab key.

/** Moves the focus from a button in a list to the one at the same index in another row. A listener for key presses. */
export function goToRow(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  const list = event.currentTarget as HTMLElement;
  const rows = Array.from(list.querySelectorAll<HTMLElement>(':scope > li'));
  const place = rows.findIndex((row) => row.contains(target));
  const wanted = { ArrowUp: place - 1, ArrowDown: place + 1, Home: 0, End: rows.length - 1 }[event.key];
  if (place < 0 || wanted === undefined || !target.matches('button[tabindex]')) {
    return;
  }
  event.preventDefault();
  const column = buttonsOf(rows[place]).indexOf(target);
  const buttons = buttonsOf(rows[Math.min(Math.max(wanted, 0), rows.length - 1)]);
  (buttons[column] ?? buttons[0])?.focus();
}

function buttonsOf(row: HTMLElement | undefined): HTMLElement[] {
  return Array.from(row?.querySelectorAll<HTMLElement>('button[tabindex]') ?? []);
}
