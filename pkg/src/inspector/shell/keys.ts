// Shortcuts: their notation, and the rules of when they count.

/** True on a Mac, whose shortcuts have Command in the place of Control. */
const IS_MAC = /mac|iphone|ipad/iu.test(navigator.platform);

/** Names of keys as they are printed on keyboards. */
const PRINTED: Readonly<Record<string, string>> = {
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  Escape: 'Esc',
  Home: 'Home',
  End: 'End',
  PageUp: 'Page ↑',
  PageDown: 'Page ↓',
};

/** Modifiers, as they are printed. */
const MODIFIERS: Readonly<Record<string, string>> = { mod: IS_MAC ? '⌘' : 'Ctrl', shift: IS_MAC ? '⇧' : 'Shift' };

/** The keys of a shortcut such as `mod+k`, as they are printed. */
export function printedKeys(keys: string): readonly string[] {
  const parts = keys.split('+');
  return parts.map((part, place) =>
    place < parts.length - 1 ? (MODIFIERS[part] ?? part) : (PRINTED[part] ?? part.toUpperCase()),
  );
}

/** True when a key press is a shortcut. A character counts as it is typed: `?` needs Shift on many keyboards. */
export function isPressed(event: KeyboardEvent, keys: string): boolean {
  const parts = keys.split('+');
  const key = parts.at(-1) ?? '';
  const isCharacter = key.length === 1 && key.toLowerCase() === key.toUpperCase();
  const isMod = event.ctrlKey || event.metaKey;
  return (
    event.key.toLowerCase() === key.toLowerCase() &&
    isMod === parts.includes('mod') &&
    !event.altKey &&
    (isCharacter || event.shiftKey === parts.includes('shift'))
  );
}

/** Elements in which text is typed. */
const FIELDS = 'textarea, select, [contenteditable]:not([contenteditable="false"]), input';
/** Kinds of inputs in which no text is typed. */
const BUTTONS = ['button', 'checkbox', 'radio', 'range', 'submit', 'reset', 'color', 'file', 'image'];
/** Widgets that need arrow keys for themselves. */
const WIDGETS =
  'input, select, textarea, dialog, ' +
  ['tablist', 'listbox', 'tree', 'treegrid', 'grid', 'menu', 'slider', 'separator', 'radiogroup', 'spinbutton']
    .map((role) => `[role="${role}"]`)
    .join(', ');

/** True when a key press goes to a field: it may be text. */
export function isTyped(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement) || !target.matches(FIELDS)) {
    return event.isComposing;
  }
  return !(target instanceof HTMLInputElement && BUTTONS.includes(target.type));
}

/** True when a key press goes to a widget that may need arrow keys. */
export function isForWidget(event: KeyboardEvent): boolean {
  return event.composedPath().some((target) => target instanceof Element && target.matches(WIDGETS));
}

/**
 * True when an element may take a key press that goes to no element at all: nothing in the page is focused, and the
 * element fills the window, so that the press can be meant for nothing else.
 */
export function ownsWindow(element: Element): boolean {
  const { activeElement, body } = document;
  const { width, height } = element.getBoundingClientRect();
  const isUnfocused = activeElement === null || activeElement === body;
  return isUnfocused && width > 0.9 * window.innerWidth && height > 0.9 * window.innerHeight;
}
