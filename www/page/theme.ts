// The colour theme: light, dark, or the system's.

/** The available themes. */
export const THEMES = ['system', 'light', 'dark'] as const;

/** One of {@link THEMES}. */
export type Theme = (typeof THEMES)[number];

const KEY = 'statepad-theme';

/** The stored choice, or the system's theme. */
export function theme(): Theme {
  const chosen = THEMES.find((name) => name === storedTheme()) ?? 'system';
  show(chosen);
  return chosen;
}

/** Shows a theme, and stores it if the browser allows. */
export function chooseTheme(chosen: Theme): void {
  show(chosen);
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // The user chooses again next time.
  }
}

function storedTheme(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function show(chosen: Theme): void {
  document.documentElement.dataset['theme'] = chosen;
}
