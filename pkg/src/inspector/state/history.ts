// The writes of a key, with links to their moments.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { HistoryStep, Json, Session } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { splitKey } from '../model/log.js';
import { goTo } from '../timeline/moment.js';
import { nameOf } from '../model/session-name.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';
import { showText } from '../ui/value.js';

/** The number of steps that are drawn at first, and added by each click. */
const STEPS = 200;

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** The drawn history of a key. */
interface DrawnHistory {
  /** The key and its session. */
  readonly of: string;
  /** Oldest first. */
  readonly steps: readonly HistoryStep[];
  readonly hasEarlier: boolean;
  /** The last revision of the steps; `undefined` without a limit. */
  readonly until: number | undefined;
}

/** The history of the traced key, newest step first. */
export class StatepadHistory extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    shown: { state: true },
    problem: { state: true },
  };
  static override styles = [
    base,
    css`
      .whole {
        container-type: inline-size;
      }

      .note {
        margin-block: 0.2rem 0.5rem;
        font-size: 0.8125rem;
      }

      /* A long history scrolls by itself, so that the content below stays within reach. */
      ol {
        overflow-y: auto;
        max-height: 28rem;
        border-block: 1px solid var(--line);
      }

      li {
        display: grid;
        gap: 0.15rem 0.75rem;
        border-block-end: 1px solid var(--line);
        border-inline-start: 3px solid transparent;
        padding: 0.3rem 0.25rem 0.35rem 0.4rem;
      }

      li:last-child {
        border-block-end: 0;
      }

      li.current {
        border-inline-start-color: var(--accent);
        background: var(--ground);
      }

      li.later {
        border-inline-start-style: dotted;
        border-inline-start-color: var(--strong);
      }

      @container (min-width: 34rem) {
        li {
          grid-template-columns: 12rem minmax(0, 1fr);
        }
      }

      .step {
        display: flex;
        flex-wrap: wrap;
        gap: 0 0.5rem;
        align-self: start;
        border-color: transparent;
        padding: 0.1em 0.35em;
        background: none;
        text-align: start;
        overflow-wrap: anywhere;
      }

      .number {
        color: var(--accent);
        font-variant-numeric: tabular-nums;
        text-decoration: underline;
        text-underline-offset: 2px;
      }

      time {
        flex-basis: 100%;
        color: var(--quiet);
        font-size: 0.75rem;
      }

      .values {
        display: grid;
        grid-template-columns: 0.8rem minmax(0, 1fr);
        align-content: start;
        align-items: baseline;
        gap: 0.1rem 0.4rem;
        padding-block: 0.1em;
      }

      .sign {
        color: var(--quiet);
        font-family: var(--mono);
        text-align: center;
      }

      .more {
        margin-block: 0.5rem;
      }
    `,
  ];
  declare private shown: DrawnHistory | undefined;
  declare private problem: string | undefined;
  /** The number of requested steps. */
  #count = STEPS;
  #request: readonly unknown[] = [];
  #round = 0;

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { inspection } = this;
    const { session, traced, revision } = inspection ?? {};
    const request = [inspection, session, session?.revision, traced, revision];
    if (request.some((part, place) => part !== this.#request[place])) {
      this.#request = request;
      void this.#read();
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { inspection, shown } = this;
    const { session, traced } = inspection ?? {};
    if (inspection === undefined || session === undefined || traced === undefined) {
      return html`<p class="empty">Choose a key to see what wrote it.</p>`;
    }
    const isIts = shown?.of === `${nameOf(session)}${traced}`;
    return html`<div class="whole">
      <div class="row">
        <h3 id="title">History of <span class="key" data-scope=${splitKey(traced).scope}>${traced === '' ? '""' : traced}</span></h3>
        <button class="spread" aria-label="close the history" @click=${() => inspection.trace(undefined)}>Close</button>
      </div>
      ${this.problem === undefined ? nothing : html`<p class="bad" role="alert">${this.problem}</p>`}
      ${isIts ? this.#list(inspection, shown, traced) : nothing}
    </div>`;
  }

  #list(inspection: Inspection, { steps, hasEarlier, until }: DrawnHistory, key: string): TemplateResult {
    const { revision: moment } = inspection;
    const current = steps.findLast(({ revision }) => revision <= moment);
    const newestFirst = steps.toReversed();
    return html`<p class="note quiet">${summary(steps.length, { key, isAll: !hasEarlier && until === undefined })}</p>
      ${until === undefined ? nothing : html`<button class="more" @click=${() => void this.#later(until)}>Show later writes</button>`}
      <ol aria-labelledby="title">
        ${repeat(
          newestFirst,
          ({ revision }) => revision,
          (step) => {
            const place = step === current ? 'current' : step.revision > moment ? 'later' : '';
            return html`<li class=${place}>${this.#button(inspection, step, place)}${values(step, key)}</li>`;
          },
        )}
      </ol>
      ${hasEarlier ? html`<button class="more" @click=${() => this.#earlier()}>Show earlier writes</button>` : nothing}`;
  }

  #button(inspection: Inspection, { revision, timestamp, event }: HistoryStep, place: string): TemplateResult {
    const author = event === undefined ? 'creation' : (event.author ?? 'no author');
    return html`<button
      class="step"
      aria-current=${place === 'current' ? 'step' : nothing}
      @click=${async () => {
        await goTo(inspection, revision);
        inspection.select(revision === 0 ? undefined : revision);
      }}
    >
      <span class="number">#${revision}</span> <span>${author}</span> ${time(timestamp)}
      ${place === 'later' ? html`<span class="hidden">, later than what is shown</span>` : nothing}
    </button>`;
  }

  #earlier(): void {
    this.#count += STEPS;
    void this.#read();
  }

  async #later(until: number): Promise<void> {
    const { reader, session, traced } = this.inspection ?? {};
    if (reader === undefined || session === undefined || traced === undefined) {
      return;
    }
    const steps = await reader.history(session, traced);
    const later = steps.filter(({ revision }) => revision > until);
    this.#count += STEPS;
    if (this.shown !== undefined) {
      this.shown = { ...this.shown, until: later.length > STEPS ? later[STEPS - 1]?.revision : undefined };
    }
    void this.#read();
  }

  /** Reads the steps. If a later call has begun in the meantime, only that one counts. */
  async #read(): Promise<void> {
    const round = ++this.#round;
    const { inspection } = this;
    const { session, traced } = inspection ?? {};
    if (inspection === undefined || session === undefined || traced === undefined) {
      this.shown = undefined;
      return;
    }
    try {
      const shown = await this.#around(inspection, session, traced);
      if (round === this.#round) {
        [this.shown, this.problem] = [shown, undefined];
      }
    } catch (error) {
      if (round === this.#round) {
        this.problem = reasonOf(error);
      }
    }
  }

  /** The drawn steps and later ones, if the moment is among them; else the steps before the moment. */
  async #around({ reader, revision: moment }: Inspection, session: Session, key: string): Promise<DrawnHistory> {
    const of = `${nameOf(session)}${key}`;
    if (this.shown?.of !== of) {
      this.#count = STEPS;
    }
    const load = async (until?: number): Promise<DrawnHistory> => {
      const last = this.#count + 1;
      const steps = await reader.history(session, key, {
        until: Math.min(until ?? session.revision, session.revision),
        last,
      });
      return { of, steps: steps.slice(-this.#count), hasEarlier: steps.length === last, until };
    };
    const drawn = this.shown?.of === of ? this.shown.until : undefined;
    for (const until of drawn === undefined ? [undefined] : [drawn, undefined]) {
      const shown = await load(until);
      if (hasMoment(shown, moment)) {
        return shown;
      }
    }
    this.#count = STEPS;
    return await load(moment);
  }
}

function hasMoment({ steps, hasEarlier, until }: DrawnHistory, moment: number): boolean {
  const isAfterFirst = !hasEarlier || (steps[0]?.revision ?? 0) <= moment;
  return isAfterFirst && (until === undefined || moment <= until);
}

function summary(count: number, { key, isAll }: { readonly key: string; readonly isAll: boolean }): string {
  const { scope } = splitKey(key);
  const by = scope === 'app' || scope === 'user' ? ' by this session' : '';
  if (count === 0) {
    return scope === 'temp'
      ? 'temp: keys are never stored, so it is not known what wrote this one.'
      : `No known writes${by}.`;
  }
  return `${isAll ? '' : 'Some of the writes: '}${count} ${count === 1 ? 'write' : 'writes'}${by}, newest first.`;
}

/** The values before and after. */
function values({ from, to }: HistoryStep, key: string): TemplateResult {
  const [was, is] = [textOf(from), textOf(to)];
  const [sign, word] = kindOf(was, is);
  return html`<div class="values">
    <span class="sign" title=${word}><span aria-hidden="true">${sign}</span><span class="hidden">${word}</span></span>
    ${was === undefined || was === is ? nothing : showText(was, { label: key, isStruck: true })}
    ${
      was === undefined || is === undefined || was === is
        ? nothing
        : html`<span class="sign"><span aria-hidden="true">→</span><span class="hidden">to</span></span>`
    }
    ${is === undefined ? (was === undefined ? html`<span class="quiet">deleted</span>` : nothing) : showText(is, { label: key })}
  </div>`;
}

function kindOf(was: string | undefined, is: string | undefined): [sign: string, word: string] {
  if (was === undefined) {
    return ['+', 'set to'];
  }
  return is === undefined ? ['−', 'deleted, was'] : was === is ? ['=', 'set again to'] : ['~', 'from'];
}

function textOf(value: Json | undefined): string | undefined {
  return value === undefined ? undefined : JSON.stringify(value);
}

/** A time in the reader's locale. The writer of a log may have written any number. */
function time(timestamp: number): TemplateResult {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime())
    ? html`<time>${String(timestamp)}</time>`
    : html`<time datetime=${date.toISOString()}>${TIME.format(date)}</time>`;
}

customElements.define('statepad-history', StatepadHistory);
