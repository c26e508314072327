// The legend of the timeline.

import { css, html, svg, type TemplateResult } from 'lit';
import { icon } from '../ui/icons.js';
import { KIND_LOOKS, KINDS } from './glyphs.js';
import { MARKED, type Marked } from './layout.js';

const SIGNS: Readonly<Record<Marked, string>> = { session: 'plain', app: 'striped', user: 'dotted', temp: 'lined' };

/** The fills of the scopes: plain, striped, dotted and lined. Colour is never the only sign. */
export const patterns = svg`<defs>
  <pattern id="app-fill" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
    <rect class="app" width="4" height="4" /><rect class="gap-fill" width="1.3" height="4" />
  </pattern>
  <pattern id="user-fill" width="3" height="3" patternUnits="userSpaceOnUse">
    <rect class="user" width="3" height="3" /><circle class="gap-fill" cx="1.5" cy="1.5" r="0.75" />
  </pattern>
  <pattern id="temp-fill" width="3" height="3" patternUnits="userSpaceOnUse">
    <rect class="temp" width="3" height="3" /><rect class="gap-fill" width="3" height="1" />
  </pattern>
</defs>`;

/** The fill of a scope. */
export function fillOf(scope: Marked): string {
  return scope === 'session' ? '' : `fill: url(#${scope}-fill)`;
}

/** The styles of {@link legend}, and of the fills. */
export const legendStyle = css`
  .legend {
    display: grid;
    gap: 3px;
  }

  .legend li {
    display: flex;
    align-items: center;
    gap: var(--sp-space-2);
  }

  .legend .icon {
    color: var(--quiet);
  }

  .legend :is(.of-error, .of-failed) .icon {
    color: var(--bad);
  }

  .legend .swatch {
    flex: none;
    width: 1.1em;
    height: 7px;
    border-radius: 2px;
  }

  .session {
    fill: var(--session);
  }

  .app {
    fill: var(--app);
  }

  .user {
    fill: var(--user);
  }

  .temp {
    fill: var(--temp);
  }

  .gap-fill {
    fill: var(--paper);
  }
`;

/** The signs of events, and those of their writes. */
export const legend: TemplateResult = html`<ul class="legend">
  ${KINDS.map((kind) => html`<li class="of-${kind}">${icon(KIND_LOOKS[kind].icon)}${KIND_LOOKS[kind].title}</li>`)}
  ${MARKED.map(
    (scope) =>
      html`<li>
        <svg class="swatch" aria-hidden="true">
          ${patterns}<rect class=${scope} style=${fillOf(scope)} width="100%" height="7" />
        </svg>
        wrote ${scope} keys (${SIGNS[scope]})
      </li>`,
  )}
</ul>`;
