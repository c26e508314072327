// The choice between light and dark.

import { keepChoice, keptChoice } from '../ui/kept.js';
import type { IconName } from '../ui/icons.js';

/** The themes: that of the page around the inspector, or one of its own. */
export const THEMES = ['system', 'light', 'dark'] as const;

/** A theme. */
export type Theme = (typeof THEMES)[number];

/** The looks of each theme in a menu. */
export const THEME_LOOKS: Readonly<Record<Theme, { readonly icon: IconName; readonly title: string }>> = {
  system: { icon: 'system', title: 'As the page' },
  light: { icon: 'light', title: 'Light' },
  dark: { icon: 'dark', title: 'Dark' },
};

const NAME = 'theme';

/** The theme that was chosen in this browser. */
export function keptTheme(): Theme {
  const kept = keptChoice(NAME);
  return THEMES.find((theme) => theme === kept) ?? 'system';
}

/** Keeps a theme in this browser. */
export function keepTheme(theme: Theme): void {
  keepChoice(NAME, theme === 'system' ? undefined : theme);
}
