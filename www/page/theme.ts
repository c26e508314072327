// Light, dark, or what the system says.

/** What can be chosen. */
export const THEMES = ['system', 'light', 'dark'] as const;

/** One of {@link THEMES}. */
export type Theme = (typeof THEMES)[number];

const KEY = 'statepad-theme';

/** What was chosen before. */
export function theme(): Theme {
  const chosen = THEMES.find((name) => name === kept()) ?? 'system';
  show(chosen);
  return chosen;
}

/** Shows a theme, and keeps it where the browser allows. */
export function chooseTheme(chosen: Theme): void {
  show(chosen);
  try {
    localStorage.setItem(KEY, chosen);
  } catch {
    // It is chosen again next time.
  }
}

function kept(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function show(chosen: Theme): void {
  document.documentElement.dataset['theme'] = chosen;
}
