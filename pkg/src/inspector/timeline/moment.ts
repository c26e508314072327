// The controls of the moment: steps and the way back to now. The slider is on the timeline's own axis.

import { css, html, nothing, type PropertyDeclarations, type TemplateResult } from 'lit';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import type { Inspection } from '../model/inspection.js';
import { base } from '../ui/style.js';

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** The moment in words, with steps and the way back to now. Fires `play` when it is to be played, or to stop. */
export class StatepadMoment extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    playing: { type: Boolean },
  };
  static override styles = [
    base,
    css`
      .bar {
        display: flex;
        align-items: center;
        gap: 2px;
      }

      button {
        height: 24px;
        min-height: 0;
      }

      .square {
        width: 24px;
      }

      .now {
        border: 1px solid var(--edge);
        border-radius: 99px;
        padding-inline: 0.6em;
        font-size: var(--sp-text-sm);
      }

      .now:disabled {
        border-color: transparent;
        color: var(--good);
        opacity: 1;
      }

      .now:disabled::before {
        width: 6px;
        height: 6px;
        border-radius: 50%;
        background: currentcolor;
        content: '';
      }

      /* The same width for short and long texts keeps its neighbours in place. */
      output {
        overflow: hidden;
        width: 248px;
        margin-inline-start: var(--sp-space-2);
        color: var(--quiet);
        font-size: var(--sp-text-sm);
        font-variant-numeric: tabular-nums;
        text-overflow: ellipsis;
        white-space: nowrap;
      }

      :host([narrow]) output {
        flex: 1;
        width: auto;
      }
    `,
  ];

  /** True while the session is played. */
  declare playing: boolean;

  constructor() {
    super();
    this.playing = false;
  }

  readonly #play = (): void => {
    this.dispatchEvent(new Event('play'));
  };

  protected override render(): TemplateResult | typeof nothing {
    const { inspection } = this;
    const session = inspection?.session;
    if (inspection === undefined || session === undefined) {
      return nothing;
    }
    const { target } = inspection;
    const go = (revision: number): void => inspection.travel(revision);
    return html`<div class="bar">
      <button class="plain square" aria-label="Step back" title="Step back (←)" ?disabled=${target === 0} @click=${() => go(target - 1)}>
        ${icon('back')}
      </button>
      <button class="plain square" aria-label=${this.playing ? 'Stop' : 'Play'} title="Play (P)" ?disabled=${session.revision === 0} @click=${this.#play}>
        ${icon(this.playing ? 'pause' : 'play')}
      </button>
      <button class="plain square" aria-label="Step forward" title="Step forward (→)" ?disabled=${target >= session.revision} @click=${() => go(target + 1)}>
        ${icon('forward')}
      </button>
      <button class="plain now" ?disabled=${inspection.isNow} title="Follow the session again (N)" @click=${() => void goTo(inspection, session.revision)}>
        Now
      </button>
      <output aria-live="off">${momentText(inspection)}</output>
    </div>`;
  }
}

/** The moment in words: the event's number, its author, and its time. */
export function momentText({ target, session, log }: Inspection): string {
  const place = `#${target} of ${session?.revision ?? 0}`;
  const event = log.at(target);
  if (event === undefined) {
    return target === 0 ? `${place} · creation` : place;
  }
  return `${place} · ${log.author(target)} · ${clock(event.timestamp)}`;
}

/**
 * Shows a revision; at the last one the inspection follows the session again. Failures are reported as a `problem`.
 */
export async function goTo(inspection: Inspection, revision: number): Promise<void> {
  try {
    await inspection.moveTo(revision >= (inspection.session?.revision ?? 0) ? undefined : revision);
  } catch (error) {
    inspection.dispatchEvent(new CustomEvent('problem', { detail: error }));
  }
}

/** The time of day of a timestamp; an invalid one is shown as it is. */
export function clock(timestamp: number): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : CLOCK.format(date);
}

customElements.define('statepad-moment', StatepadMoment);
