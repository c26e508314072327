// The tokens of the inspector's looks: colour, type, space, corners, shadows, motion. Dark and light are two designs:
// each colour names both. They are set once, on the outermost element, and all others inherit them.

import { css } from 'lit';

/**
 * For the outermost element alone: thousands of values inherit the properties, and none has to set them again. A page
 * may set the `--sp-*` colours and fonts on any element around it. Light and dark follow its `color-scheme`.
 */
export const tokens = css`
  :host {
    /* Type: 11, 12, 13, 15 and 19 px at the usual size of a browser. A page with a root of another size sets --sp-rem. */
    --rem: var(--sp-rem, 1rem);
    --sp-text-xs: calc(0.6875 * var(--rem));
    --sp-text-sm: calc(0.75 * var(--rem));
    --sp-text-md: calc(0.8125 * var(--rem));
    --sp-text-lg: calc(0.9375 * var(--rem));
    --sp-text-xl: calc(1.1875 * var(--rem));
    --sans: var(--sp-sans, 'Inter', ui-sans-serif, system-ui, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif);
    --mono: var(
      --sp-mono,
      'JetBrains Mono',
      ui-monospace,
      'SF Mono',
      'Cascadia Mono',
      'Noto Sans Mono',
      'DejaVu Sans Mono',
      monospace
    );

    /* Space. */
    --sp-space-1: 4px;
    --sp-space-2: 8px;
    --sp-space-3: 12px;
    --sp-space-4: 16px;
    --sp-space-5: 24px;
    --sp-space-6: 32px;

    /* The height of controls, and of the headers of panes. */
    --sp-control: calc(1.75 * var(--rem));
    --sp-bar: calc(2.25 * var(--rem));

    --sp-radius-sm: 4px;
    --sp-radius-md: 7px;
    --sp-radius-lg: 11px;

    /* Motion: a control, a pane, and its curve. */
    --sp-fast: 90ms;
    --sp-slow: 180ms;
    --sp-ease: cubic-bezier(0.2, 0.7, 0.2, 1);

    /* Surfaces, from the furthest to the nearest. */
    --ground: var(--sp-ground, light-dark(#f3f4f6, #08090b));
    --sunken: light-dark(#f7f8f9, #0b0d10);
    --paper: var(--sp-paper, light-dark(#ffffff, #0f1114));
    --raised: light-dark(#ffffff, #171a1f);
    --hover: light-dark(#f1f2f5, #191d23);
    --chosen: light-dark(#ecedfd, #1d1f3a);

    /* Lines: between panes, around controls, and around fields that must be found without other signs. */
    --line: var(--sp-line, light-dark(#e4e6ea, #22262c));
    --edge: light-dark(#d2d6dc, #333941);
    --strong: light-dark(#868e9a, #6c7582);

    --text: var(--sp-text, light-dark(#171a1f, #e7e9ec));
    --quiet: var(--sp-quiet, light-dark(#59616d, #99a2ae));

    --accent: var(--sp-accent, light-dark(#4548d4, #a2a5ff));
    --on-accent: light-dark(#ffffff, #0e0f1c);

    /* States: an error, an addition, a change, a deletion; each as a text, and as the ground below one. */
    --bad: var(--sp-bad, light-dark(#b8261d, #ff8f85));
    --bad-ground: light-dark(#fdecea, #2c1514);
    --good: light-dark(#0d6e3d, #56c98a);
    --warn: light-dark(#855400, #e2b04a);
    --added: light-dark(#e2f5e8, #10281b);
    --changed: light-dark(#fff2d1, #2b230e);
    --deleted: light-dark(#fde7e5, #2d1615);

    /* Scopes of keys. */
    --session: var(--sp-session, light-dark(#0a58a3, #6fb6ff));
    --app: var(--sp-app, light-dark(#954100, #f0a355));
    --user: var(--sp-user, light-dark(#06664b, #45d0a4));
    --temp: var(--sp-temp, light-dark(#8c2a6c, #ea9bcf));
    --none: light-dark(#626a76, #8b94a1);

    --sp-shadow-sm: 0 1px 2px light-dark(rgb(16 24 40 / 8%), rgb(0 0 0 / 50%));
    --sp-shadow-lg:
      0 0 0 1px light-dark(rgb(16 24 40 / 8%), rgb(255 255 255 / 9%)),
      0 4px 12px light-dark(rgb(16 24 40 / 8%), rgb(0 0 0 / 40%)),
      0 16px 48px light-dark(rgb(16 24 40 / 16%), rgb(0 0 0 / 60%));
    --scrim: light-dark(rgb(23 26 31 / 24%), rgb(0 0 0 / 56%));
  }
`;
