// The sheet of shortcuts, with the signs of the timeline.

import { css, html, LitElement, type TemplateResult } from 'lit';
import { closeOutside, dialogStyle } from '../ui/dialog.js';
import { icon } from '../ui/icons.js';
import { base } from '../ui/style.js';
import { legend, legendStyle } from '../timeline/legend.js';
import { COMMANDS, type CommandGroup } from './commands.js';
import { printedKeys } from './keys.js';

const GROUPS: readonly CommandGroup[] = ['Time', 'Session', 'View'];

/** Keys of the timeline, which count while it has the focus. */
const OF_TIMELINE: readonly { readonly keys: string; readonly title: string }[] = [
  { keys: 'Home', title: 'Creation' },
  { keys: 'End', title: 'Now' },
  { keys: 'PageUp', title: 'Previous turn' },
  { keys: 'PageDown', title: 'Next turn' },
];

/** The sheet: {@link StatepadShortcuts.open} shows it. */
export class StatepadShortcuts extends LitElement {
  static override styles = [
    base,
    dialogStyle,
    legendStyle,
    css`
      dialog {
        width: min(768px, calc(100vw - 24px));
        max-height: calc(100dvh - 32px);
        margin-block-start: min(8vh, 64px);
      }

      .head {
        display: flex;
        align-items: center;
        justify-content: space-between;
        border-block-end: 1px solid var(--line);
        padding: var(--sp-space-2) var(--sp-space-2) var(--sp-space-2) var(--sp-space-4);
      }

      .body {
        overflow: auto;
        padding: var(--sp-space-4);
        columns: 272px;
        column-gap: var(--sp-space-5);
      }

      section {
        margin-block-end: var(--sp-space-4);
        break-inside: avoid;
      }

      h3 {
        margin-block-end: var(--sp-space-1);
        color: var(--quiet);
        font-size: var(--sp-text-xs);
        font-weight: 600;
        letter-spacing: 0.04em;
        text-transform: uppercase;
      }

      dl > div {
        display: flex;
        justify-content: space-between;
        padding-block: 3px;
      }
    `,
  ];

  /** Shows the sheet. */
  open(): void {
    this.renderRoot.querySelector('dialog')?.showModal();
  }

  protected override render(): TemplateResult {
    return html`<dialog aria-labelledby="title" @pointerdown=${closeOutside}>
      <div class="head">
        <h2 id="title">Shortcuts</h2>
        <button class="plain square" aria-label="Close" @click=${() => this.renderRoot.querySelector('dialog')?.close()}>
          ${icon('close')}
        </button>
      </div>
      <div class="body" tabindex="0" role="group" aria-label="All shortcuts">
        ${GROUPS.map((group) =>
          section(
            group,
            COMMANDS.flatMap((one) =>
              one.group === group && one.keys !== undefined ? [{ ...one, keys: one.keys }] : [],
            ),
          ),
        )}
        ${section('On the timeline', OF_TIMELINE)}
        <section>
          <h3>Signs of the timeline</h3>
          ${legend}
        </section>
      </div>
    </dialog>`;
  }
}

function section(title: string, lines: readonly { readonly keys: string; readonly title: string }[]): TemplateResult {
  return html`<section>
    <h3>${title}</h3>
    <dl>
      ${lines.map(
        ({ keys, title: name }) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${printedKeys(keys).map((key) => html`<kbd>${key}</kbd> `)}</dd>
          </div>`,
      )}
    </dl>
  </section>`;
}

customElements.define('statepad-shortcuts', StatepadShortcuts);
