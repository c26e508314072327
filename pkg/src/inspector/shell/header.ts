// The row at the top: the source, the session, the way to everything else.

import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { base } from '../ui/style.js';
import { printedKeys } from './keys.js';
import { THEME_LOOKS, THEMES, type Theme } from './theme.js';

/** The places that the header leads to. */
export type HeaderTarget = 'sessions' | 'palette' | 'shortcuts';

/** The header. Fires `lead`, a `CustomEvent` with a {@link HeaderTarget} as `detail`; and `theme`, with a theme. */
export class StatepadHeader extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    theme: { attribute: false },
    narrow: { type: Boolean, reflect: true },
  };
  static override styles = [
    base,
    css`
      header {
        display: flex;
        align-items: center;
        gap: var(--sp-space-2);
        height: 44px;
        border-block-end: 1px solid var(--line);
        padding-inline: var(--sp-space-3);
        background: var(--paper);
      }

      .source {
        display: flex;
        align-items: center;
        gap: var(--sp-space-2);
        min-width: 0;
        max-width: 256px;
        font-weight: 600;
      }

      .logo {
        flex: none;
        width: 18px;
        height: 18px;
        fill: var(--accent);
      }

      .logo path {
        stroke: var(--on-accent);
        stroke-width: 1.6;
        stroke-linecap: round;
      }

      .slash {
        color: var(--edge);
        font-size: var(--sp-text-lg);
      }

      .session {
        flex: 0 1 auto;
        min-width: 80px;
        height: var(--sp-control);
        border-color: transparent;
        padding-inline: 8px;
        background: none;
      }

      .session:hover:not(:disabled) {
        border-color: transparent;
      }

      .names {
        display: flex;
        align-items: baseline;
        min-width: 0;
        gap: 0.4em;
        color: var(--quiet);
      }

      .names > :not(.slash) {
        flex: 0 1 auto;
        min-width: 24px;
      }

      .names .own {
        flex-shrink: 0.2;
        color: var(--text);
        font-weight: 550;
      }

      .badge {
        display: flex;
        flex: none;
        align-items: center;
        gap: 0.35em;
        border: 1px solid var(--line);
        border-radius: 99px;
        padding: 0 0.6em;
        color: var(--quiet);
        font-size: var(--sp-text-xs);
        line-height: 1.7;
      }

      .search {
        flex: 0 1 304px;
        justify-content: start;
        min-width: 128px;
        height: var(--sp-control);
        margin-inline-start: auto;
        color: var(--quiet);
        background: var(--sunken);
      }

      .search kbd {
        margin-inline-start: auto;
      }

      .themes {
        display: flex;
        flex: none;
        border: 1px solid var(--line);
        border-radius: 99px;
        padding: 1px;
      }

      .themes button {
        width: 24px;
        height: 24px;
        border-radius: 99px;
        font-size: var(--sp-text-md);
      }

      .themes [aria-checked='true'] {
        color: var(--text);
        background: var(--chosen);
      }

      :host([narrow]) :is(.label, .of-app, .themes, .help, .badge-text, .search kbd) {
        display: none;
      }

      :host([narrow]) .search span {
        position: absolute;
        width: 1px;
        clip-path: inset(50%);
      }

      :host([narrow]) .search {
        flex: none;
        justify-content: center;
        min-width: 0;
        width: var(--sp-control);
        border-color: transparent;
        padding: 0;
        font-size: var(--sp-text-lg);
      }

      :host([narrow]) header {
        gap: var(--sp-space-1);
        padding-inline: var(--sp-space-2);
      }

      @media (forced-colors: active) {
        [aria-checked='true'] {
          outline: 2px solid Highlight;
          outline-offset: -2px;
        }
      }
    `,
  ];
  declare theme: Theme;
  /** True where there is room for little more than the session. */
  declare narrow: boolean;

  constructor() {
    super();
    this.theme = 'system';
    this.narrow = false;
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    const label = inspection?.label ?? '';
    return html`<header>
      <div class="source">
        <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
          <rect width="16" height="16" rx="4" /><path d="M4 5h8M4 8h5M4 11h7" />
        </svg>
        <span class="label cut" title=${label}>${label === '' ? 'statepad' : label}</span>
      </div>
      <span class="slash" aria-hidden="true">/</span>
      ${this.#session()}
      ${
        inspection?.readOnly === true
          ? html`<span class="badge" title="This view cannot write"
              >${icon('lock')}<span class="badge-text">read only</span></span
            >`
          : nothing
      }
      <button class="search" @click=${() => this.#lead('palette')}>
        ${icon('search')}<span class="cut">Search or run a command</span><kbd>${printedKeys('mod+k').join(' ')}</kbd>
      </button>
      <button class="plain square help" aria-label="Shortcuts" title="Shortcuts (?)" @click=${() => this.#lead('shortcuts')}>
        ${icon('keyboard')}
      </button>
      ${this.#themes()}
    </header>`;
  }

  #session(): TemplateResult {
    const session = this.inspection?.session;
    const names =
      session === undefined
        ? html`<span>Choose a session</span>`
        : html`<span class="cut of-app">${session.appName}</span><span class="slash of-app" aria-hidden="true">/</span
            ><span class="cut">${session.userId}</span><span class="slash" aria-hidden="true">/</span
            ><span class="cut own">${session.id}</span>`;
    const title = session === undefined ? 'Sessions' : `${session.appName} / ${session.userId} / ${session.id}`;
    return html`<button class="session" aria-haspopup="dialog" title=${title} @click=${() => this.#lead('sessions')}>
      <span class="hidden">Session </span><span class="names">${names}</span>${icon('expand')}
    </button>`;
  }

  #themes(): TemplateResult {
    return html`<div class="themes" role="radiogroup" aria-label="Theme" @keydown=${this.#turn}>
      ${THEMES.map(
        (theme) =>
          html`<button
            class="plain"
            role="radio"
            aria-checked=${String(theme === this.theme)}
            tabindex=${theme === this.theme ? 0 : -1}
            aria-label=${THEME_LOOKS[theme].title}
            title=${THEME_LOOKS[theme].title}
            @click=${() => this.#choose(theme)}
          >
            ${icon(THEME_LOOKS[theme].icon)}
          </button>`,
      )}
    </div>`;
  }

  readonly #turn = async (event: KeyboardEvent): Promise<void> => {
    const way = ['ArrowRight', 'ArrowDown'].includes(event.key) ? 1 : 0;
    const back = ['ArrowLeft', 'ArrowUp'].includes(event.key) ? 1 : 0;
    if (way + back > 0) {
      event.preventDefault();
      const place = (THEMES.indexOf(this.theme) + way - back + THEMES.length) % THEMES.length;
      this.#choose(THEMES[place] ?? 'system');
      await this.updateComplete;
      this.renderRoot.querySelector<HTMLElement>('[aria-checked="true"]')?.focus();
    }
  };

  #choose(theme: Theme): void {
    this.theme = theme;
    this.dispatchEvent(new CustomEvent('theme', { detail: theme }));
  }

  #lead(target: HeaderTarget): void {
    this.dispatchEvent(new CustomEvent('lead', { detail: target }));
  }
}

customElements.define('statepad-header', StatepadHeader);
