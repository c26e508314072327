// The controls of the moment: steps and the way back to now. The slider is on the timeline's own axis.

import { css, html, nothing, type TemplateResult } from 'lit';
import { InspectorElement } from '../ui/inspector-element.js';
import type { Inspection } from '../model/inspection.js';
import { base } from '../ui/style.js';

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** The moment in words, with steps and the way back to now. */
export class StatepadMoment extends InspectorElement {
  static override styles = [
    base,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.35rem 0.5rem;
      }

      /* The same width for short and long texts keeps its neighbours in place. */
      output {
        min-width: 13rem;
        font-variant-numeric: tabular-nums;
        overflow-wrap: anywhere;
      }

      .step {
        min-width: 1.9rem;
        padding-inline: 0.4em;
      }
    `,
  ];

  protected override render(): TemplateResult | typeof nothing {
    const { inspection } = this;
    const session = inspection?.session;
    if (inspection === undefined || session === undefined) {
      return nothing;
    }
    const { target } = inspection;
    const go = (revision: number): void => inspection.travel(revision);
    return html`<div class="bar">
      <button class="step" aria-label="Step back" ?disabled=${target === 0} @click=${() => go(target - 1)}>‹</button>
      <button class="step" aria-label="Step forward" ?disabled=${target >= session.revision} @click=${() => go(target + 1)}>›</button>
      <button ?disabled=${inspection.isNow} title="Follow the session again" @click=${() => void goTo(inspection, session.revision)}>
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
