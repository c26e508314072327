// Going back and forth in the time of a session.

import { css, html, nothing, type TemplateResult } from 'lit';
import { InspectorPart } from '../ui/part.js';
import type { Inspection } from '../model/inspection.js';
import { base } from '../ui/style.js';

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** A slider over all revisions of a session, with steps and the way back to now. */
export class StatepadMoment extends InspectorPart {
  static override styles = [
    base,
    css`
      .bar {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 0.35rem 0.5rem;
      }

      label {
        display: flex;
        flex: 1 1 14rem;
        align-items: center;
        gap: 0.6rem;
        min-width: 0;
      }

      input {
        flex: 1;
        height: 1.9rem;
        margin: 0;
        border: 0;
        padding: 0;
        accent-color: var(--accent);
        background: none;
      }

      output {
        font-variant-numeric: tabular-nums;
        overflow-wrap: anywhere;
      }

      .step {
        min-width: 1.9rem;
        padding-inline: 0.4em;
      }
    `,
  ];
  /** The revision that the user has asked for last and that is not shown yet. */
  #wanted: number | undefined;
  #isMoving = false;

  protected override render(): TemplateResult | typeof nothing {
    const { inspection } = this;
    const session = inspection?.session;
    if (inspection === undefined || session === undefined) {
      return nothing;
    }
    const { revision: last } = session;
    const revision = this.#wanted ?? inspection.revision;
    const text = this.#describe(revision, last);
    return html`<div class="bar">
      <button class="step" aria-label="step back" ?disabled=${revision === 0} @click=${() => this.#go(revision - 1)}>‹</button>
      <button class="step" aria-label="step forward" ?disabled=${revision >= last} @click=${() => this.#go(revision + 1)}>›</button>
      <button ?disabled=${inspection.isNow} title="Follow the session again" @click=${() => this.#go(last)}>now</button>
      <label>
        <span class="quiet">moment</span>
        <input
          type="range"
          aria-label="moment"
          aria-valuetext=${text}
          min="0"
          max=${last}
          step="1"
          .value=${String(revision)}
          ?disabled=${last === 0}
          @input=${(event: InputEvent) => this.#go((event.target as HTMLInputElement).valueAsNumber)}
        />
      </label>
      <output aria-live="off">${text}</output>
    </div>`;
  }

  #describe(revision: number, last: number): string {
    const place = `#${revision} of ${last}`;
    const event = this.inspection?.log.at(revision);
    if (event === undefined) {
      return revision === 0 ? `${place} · creation` : place;
    }
    return `${place} · ${this.inspection?.log.author(revision) ?? ''} · ${clock(event.timestamp)}`;
  }

  #go(revision: number): void {
    this.#wanted = revision;
    this.requestUpdate();
    if (!this.#isMoving) {
      this.#isMoving = true;
      void this.#move().finally(() => {
        this.#isMoving = false;
      });
    }
  }

  /**
   * A drag may ask for more moments than there are frames, and than can be computed: only the last one of each counts.
   */
  async #move(): Promise<void> {
    while (this.#wanted !== undefined) {
      await new Promise(requestAnimationFrame);
      const wanted = this.#wanted;
      if (this.inspection !== undefined) {
        await goTo(this.inspection, wanted);
      }
      if (this.#wanted === wanted) {
        this.#wanted = undefined;
        this.requestUpdate();
      }
    }
  }
}

/**
 * Moves an inspection to a revision; at the last one it follows the session again. What fails is told as a `problem`.
 */
export async function goTo(inspection: Inspection, revision: number): Promise<void> {
  try {
    await inspection.moveTo(revision >= (inspection.session?.revision ?? 0) ? undefined : revision);
  } catch (error) {
    inspection.dispatchEvent(new CustomEvent('problem', { detail: error }));
  }
}

/** The time of day of a timestamp; one that is none is shown as it is. */
export function clock(timestamp: number): string {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime()) ? String(timestamp) : CLOCK.format(date);
}

customElements.define('statepad-moment', StatepadMoment);
