// The selected event in full.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import type { Event } from '../../index.js';
import { contentsOf, shortSummaryOf } from '../model/contents.js';
import type { Inspection } from '../model/inspection.js';
import { keysOf } from '../model/log.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { base } from '../ui/style.js';
import { expiryOf } from './expiry.js';
import { factsOf } from './facts.js';
import { forksOfSession, relationsOf } from './relations.js';
import { detailsStyle } from './style.js';
import './lease.js';
import './members.js';
import './wrote.js';

/** The length up to which an event is drawn as JSON text, in characters; the whole of a longer one can be copied. */
const DRAWN = 200_000;

/**
 * The selected event with all of its members, the lease of the session, and the history of the traced key, which the
 * element `statepad-history` draws.
 */
export class StatepadDetails extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    isText: { state: true },
    copied: { state: true },
  };
  static override styles = [base, detailsStyle];
  /** True to show the members as JSON text, and not as a tree. */
  declare private isText: boolean;
  /** The result of the last copy; empty before. */
  declare private copied: string;
  #last: Event | undefined;

  constructor() {
    super();
    this.isText = false;
    this.copied = '';
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const event = this.inspection?.log.at(this.inspection.selected ?? 0);
    if (event !== this.#last) {
      this.#last = event;
      this.copied = '';
    }
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    const { selected, traced } = inspection ?? {};
    const event = inspection?.log.at(selected ?? 0);
    return html`<statepad-lease .inspection=${inspection}></statepad-lease>
      ${traced === undefined ? nothing : html`<section class="history"><statepad-history .inspection=${inspection}></statepad-history></section>`}
      ${
        inspection !== undefined && selected !== undefined && event !== undefined
          ? this.#event(inspection, event, selected)
          : traced === undefined
            ? this.#empty(inspection)
            : nothing
      }`;
  }

  #empty(inspection: Inspection | undefined): TemplateResult {
    const forks = inspection === undefined ? undefined : forksOfSession(inspection);
    const facts = [expiryOf(inspection?.session), forks].filter((fact) => fact !== undefined);
    return html`${facts.length === 0 ? nothing : html`<section>${facts}</section>`}
      <div class="nothing">
        ${icon('search')}
        <p>Select an event to see all of it, or a key to see its history.</p>
      </div>`;
  }

  #event(inspection: Inspection, event: Event, revision: number): TemplateResult {
    // The relations tell of calls and results.
    const isTools = contentsOf(event).every(({ kind }) => kind === 'call' || kind === 'response');
    const summary = isTools ? '' : shortSummaryOf(event);
    const relations = relationsOf(inspection, revision);
    return html`${head(inspection, revision)}
      ${summary === '' ? nothing : html`<p class="summary" dir="auto">${summary}</p>`}
      <section>${factsOf(inspection, event, revision)}</section>
      ${relations === undefined ? nothing : html`<section>${relations}</section>`}
      ${
        keysOf(event).length === 0
          ? nothing
          : html`<section>
              <h3>Wrote</h3>
              <statepad-wrote .inspection=${inspection}></statepad-wrote>
            </section>`
      }
      <section>${this.#members(event)}</section>`;
  }

  /** All members, as a tree or as text. */
  #members(event: Event): TemplateResult {
    const form = (name: string, isText: boolean): TemplateResult =>
      html`<button class="plain small" aria-pressed=${String(this.isText === isText)} @click=${() => (this.isText = isText)}>${name}</button>`;
    return html`<div class="bar">
        <h3>All members</h3>
        <span class="quiet" role="status">${this.copied}</span>
        <span class="forms" role="group" aria-label="Shown as">${form('Tree', false)}${form('JSON', true)}</span>
        <button class="plain small" title="Copy the event as JSON" aria-label="Copy the event as JSON" @click=${() => void this.#copy(event)}>
          ${icon('copy')}
        </button>
      </div>
      ${
        this.isText
          ? html`<pre tabindex="0" role="group" aria-label="The event as JSON">${textOf(event)}</pre>`
          : html`<statepad-members .value=${event} .label=${'Members of the event'}></statepad-members>`
      }`;
  }

  async #copy(event: Event): Promise<void> {
    try {
      await navigator.clipboard.writeText(JSON.stringify(event, undefined, 2));
      this.copied = 'Copied';
    } catch {
      this.copied = 'Copying is not allowed here';
    }
  }
}

function textOf(event: Event): string {
  const text = JSON.stringify(event, undefined, 2);
  return text.length > DRAWN
    ? `${text.slice(0, DRAWN).toWellFormed()}…\n(${text.length.toLocaleString('en')} characters in all)`
    : text;
}

function head(inspection: Inspection, revision: number): TemplateResult {
  const { log } = inspection;
  const count = log.events.length;
  const turn = log.turns;
  // The first event of the next turn; and of this one, or of the turn before when this is it.
  const next = turn.findIndex((first, index) => index >= revision && first === index + 1) + 1;
  const own = turn[revision - 1] ?? 1;
  const previous = own < revision ? own : (turn[revision - 2] ?? 0);
  const go = (name: string, sign: 'back' | 'forward' | 'up' | 'down', to: number): TemplateResult =>
    html`<button class="plain" aria-label=${name} title=${name} ?disabled=${to < 1 || to > count} @click=${() => inspection.select(to)}>
      ${icon(sign)}
    </button>`;
  return html`<div class="head">
    <h2>#${revision}</h2>
    <span class="quiet">of ${count.toLocaleString('en')}</span>
    <span class="steps">
      ${go('beginning of the turn', 'up', previous)}${go('previous event', 'back', revision - 1)}${go('next event', 'forward', revision + 1)}${go('next turn', 'down', next === 0 ? count + 1 : next)}
    </span>
    <button class="small" ?disabled=${inspection.revision === revision} title="Show everything as it was after this event" @click=${() => inspection.travel(revision)}>
      ${icon('clock')}<span class="wide">Go here</span><span class="hidden">: show this moment</span>
    </button>
    <button class="plain" aria-label="close the event" title="Close" @click=${() => inspection.select(undefined)}>${icon('close')}</button>
  </div>`;
}

customElements.define('statepad-details', StatepadDetails);
