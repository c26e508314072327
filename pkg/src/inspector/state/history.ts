// The writes of a key, with links to their moments.

import { html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { HistoryStep, Session } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import { splitKey } from '../model/log.js';
import { nameOf } from '../model/session-name.js';
import { icon } from '../ui/icons.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { reasonOf } from '../ui/reason.js';
import { base } from '../ui/style.js';
import { changeStyle, drawChange } from './change.js';
import { historyStyle } from './history-style.js';
import { merged, othersOf, type KeyStep, type OtherSteps } from './steps.js';

/** The number of steps that are drawn at first, and added by each click. */
const STEPS = 200;

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** The drawn history of a key. */
interface DrawnHistory {
  /** The key and its session. */
  readonly of: string;
  /** Of the session, oldest first. */
  readonly steps: readonly HistoryStep[];
  /** True when each value before is that of any writer, and not only of this session. */
  readonly exact: boolean;
  readonly hasEarlier: boolean;
  /** The last revision of the steps; `undefined` without a limit. */
  readonly until: number | undefined;
  /** The writes of others; `undefined` when they are not known. */
  readonly others: OtherSteps | undefined;
}

/** The history of the traced key, newest step first. */
export class StatepadHistory extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    shown: { state: true },
    problem: { state: true },
  };
  static override styles = [base, changeStyle, historyStyle];
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
        <button class="plain square spread" aria-label="close the history" title="Close" @click=${() => inspection.trace(undefined)}>${icon('close')}</button>
      </div>
      ${this.problem === undefined ? nothing : html`<p class="bad" role="alert">${this.problem}</p>`}
      ${isIts ? this.#list(inspection, session, shown, traced) : nothing}
    </div>`;
  }

  #list(inspection: Inspection, session: Session, shown: DrawnHistory, key: string): TemplateResult {
    const { steps, hasEarlier, until, others } = shown;
    const { revision: moment } = inspection;
    const current = steps.findLast(({ revision }) => revision <= moment)?.revision;
    const newestFirst = merged(steps, until === undefined ? (others?.steps ?? []) : [], session).reverse();
    return html`<p class="note quiet">${summary(newestFirst, { key, isAll: !hasEarlier && until === undefined })} ${doubts(shown, key)}</p>
      ${until === undefined ? nothing : html`<button class="more" @click=${() => void this.#later(until)}>Show later writes</button>`}
      <ol aria-labelledby="title">
        ${repeat(
          newestFirst,
          ({ id }) => id,
          (step) => this.#step(inspection, step, key, current),
        )}
      </ol>
      ${hasEarlier ? html`<button class="more" @click=${() => this.#earlier()}>Show earlier writes</button>` : nothing}`;
  }

  #step(inspection: Inspection, step: KeyStep, key: string, current: number | undefined): TemplateResult {
    const { revision, from, to } = step;
    const { pointed } = inspection;
    const place =
      revision === undefined
        ? 'other'
        : revision === current
          ? 'current'
          : revision > inspection.revision
            ? 'later'
            : '';
    const isPointed = revision !== undefined && pointed?.revision === revision && pointed.key === key;
    const point = (isOn: boolean): void => {
      if (revision !== undefined) {
        inspection.point(isOn ? { key, revision } : undefined);
      }
    };
    return html`<li
      class=${place}
      ?data-pointed=${isPointed}
      @pointerenter=${() => point(true)}
      @pointerleave=${() => point(false)}
      @focusin=${() => point(true)}
      @focusout=${() => point(false)}
    >
      ${this.#button(inspection, step, place)}${drawChange(from, to, key)}
    </li>`;
  }

  #button(inspection: Inspection, { revision, timestamp, who, by }: KeyStep, place: string): TemplateResult {
    if (revision === undefined) {
      const open = async (): Promise<void> => await this.#open(by);
      return by === undefined
        ? html`<span class="step">${who} ${time(timestamp)}</span>`
        : html`<button class="step" title="Open this session" @click=${open}><span class="number">${who}</span> ${time(timestamp)}</button>`;
    }
    return html`<button
      class="step"
      aria-current=${place === 'current' ? 'step' : nothing}
      @click=${() => {
        inspection.select(revision === 0 ? undefined : revision);
        inspection.travel(revision);
      }}
    >
      <span class="number">#${revision}</span> <span>${who}</span> ${time(timestamp)}
      ${place === 'later' ? html`<span class="hidden">, later than what is shown</span>` : nothing}
    </button>`;
  }

  /** Opens the other session that wrote the key, with its history there. */
  async #open(by: KeyStep['by']): Promise<void> {
    const { inspection } = this;
    const { session, traced } = inspection ?? {};
    if (inspection === undefined || session === undefined || by === undefined) {
      return;
    }
    try {
      await inspection.open({ appName: session.appName, userId: by.userId, sessionId: by.sessionId });
      inspection.trace(traced);
    } catch (error) {
      this.problem = reasonOf(error);
    }
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
    const others = await othersOf(reader, session, key, STEPS);
    const load = async (until?: number): Promise<DrawnHistory> => {
      const last = this.#count + 1;
      const { steps, exact } = await reader.history(session, key, {
        until: Math.min(until ?? session.revision, session.revision),
        last,
        detailed: true,
      });
      return { of, steps: steps.slice(-this.#count), exact, hasEarlier: steps.length === last, until, others };
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

function summary(
  steps: readonly KeyStep[],
  { key, isAll }: { readonly key: string; readonly isAll: boolean },
): string {
  if (steps.length === 0) {
    return splitKey(key).scope === 'temp'
      ? 'temp: keys are never stored, so it is not known what wrote this one.'
      : 'No known writes.';
  }
  const foreign = steps.filter(({ revision }) => revision === undefined).length;
  const by = foreign === 0 ? '' : `, ${foreign} of them by other sessions`;
  return `${isAll ? '' : 'Some of the writes: '}${steps.length} ${steps.length === 1 ? 'write' : 'writes'}${by}, newest first.`;
}

/** The doubts about the writes of a shared key. */
function doubts({ exact, others }: DrawnHistory, key: string): string {
  const { scope } = splitKey(key);
  if (scope !== 'app' && scope !== 'user') {
    return '';
  }
  if (others === undefined) {
    return 'Writes by other sessions are not known.';
  }
  return others.exact && exact ? '' : 'Earlier writes by other sessions may be missing.';
}

/** A time in the reader's locale. The writer of a log may have written any number. */
function time(timestamp: number): TemplateResult {
  const date = new Date(timestamp);
  return Number.isNaN(date.getTime())
    ? html`<time>${String(timestamp)}</time>`
    : html`<time datetime=${date.toISOString()}>${TIME.format(date)}</time>`;
}

customElements.define('statepad-history', StatepadHistory);
