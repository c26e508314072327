// One event in full.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import type { Event, Json } from '../../index.js';
import { InspectorElement } from '../ui/inspector-element.js';
import type { Inspection } from '../model/inspection.js';
import { contentsOf, ITEM_LABEL, textFrom, type Item } from '../model/contents.js';
import { deltaOf, splitKey } from '../model/log.js';
import { goTo } from '../timeline/moment.js';
import { base, label } from '../ui/style.js';
import { LongLists } from '../ui/long-lists.js';
import { showValue } from '../ui/value.js';

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });

/** The members that are shown separately. */
const PLACED = new Set([
  ...['id', 'invocationId', 'author', 'timestamp', 'content', 'actions', 'customMetadata'],
  ...['errorCode', 'errorMessage', 'interrupted', 'inputTranscription', 'outputTranscription', 'output'],
]);
/** The members of its actions and of its metadata that are shown separately. */
const PLACED_ACTIONS = new Set(['stateDelta', 'transferToAgent']);
const PLACED_METADATA = new Set(['statepad', 'tempKeys']);

/** The selected event with all of its members. */
export class StatepadEvent extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    isOpen: { state: true },
    copied: { state: true },
  };
  static override styles = [
    base,
    label,
    css`
      .whole {
        display: grid;
        gap: 0.7rem;
        container-type: inline-size;
      }

      .head button {
        min-height: 1.5rem;
        padding: 0.15em 0.55em;
      }

      .facts {
        display: grid;
        grid-template-columns: max-content minmax(0, 1fr);
        gap: 0.15rem 0.8rem;
      }

      .facts dt {
        color: var(--quiet);
      }

      dd {
        overflow-wrap: anywhere;
      }

      h4 {
        margin: 0 0 0.25rem;
        color: var(--quiet);
        font-size: 0.75rem;
        font-weight: 600;
      }

      .part {
        border-inline-start: 2px solid var(--line);
        padding-inline-start: 0.6rem;
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }

      .part + .part {
        margin-block-start: 0.4rem;
      }

      .part[data-kind='thought'] {
        color: var(--quiet);
        font-style: italic;
      }

      .part[data-kind='error'] {
        border-inline-start-color: var(--bad);
        border-radius: 0 4px 4px 0;
        padding-block: 0.2rem;
        color: var(--bad);
        background: var(--bad-ground);
      }

      .part[data-kind='error'] :is(.label, b) {
        color: inherit;
      }

      table {
        width: 100%;
        border-collapse: collapse;
      }

      th,
      td {
        border-block-start: 1px solid var(--line);
        padding: 0.25rem 0.5rem 0.25rem 0;
        font-weight: inherit;
        text-align: start;
        vertical-align: top;
      }

      th {
        width: 36%;
      }

      summary {
        width: fit-content;
        min-height: 1.5rem;
        cursor: pointer;
      }

      .json {
        position: relative;
        margin-block-start: 0.4rem;
      }

      .json .row {
        margin-block-end: 0.3rem;
      }

      pre {
        overflow: auto;
        max-height: 26rem;
        margin: 0;
        border: 1px solid var(--line);
        border-radius: 6px;
        padding: 0.5rem 0.6rem;
        background: var(--ground);
        overflow-wrap: anywhere;
        white-space: pre-wrap;
      }
    `,
  ];
  /** True when the event is shown as JSON, too. */
  declare private isOpen: boolean;
  /** The result of the last copy; empty before. */
  declare private copied: string;
  readonly #lists = new LongLists(this);
  #last: Event | undefined;

  constructor() {
    super();
    this.isOpen = false;
    this.copied = '';
  }

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const event = this.inspection?.log.at(this.inspection.selected ?? 0);
    if (event !== this.#last) {
      this.#last = event;
      this.copied = '';
      this.#lists.reset();
    }
  }

  protected override render(): TemplateResult {
    const { inspection } = this;
    const revision = inspection?.selected;
    const event = revision === undefined ? undefined : inspection?.log.at(revision);
    if (inspection === undefined || revision === undefined || event === undefined) {
      return html`<p class="empty">Select an event to see all of it.</p>`;
    }
    const rest = restOf(event);
    return html`<div class="whole">
      ${head(inspection, revision)} ${facts(inspection, event, revision)} ${contents(event)} ${wrote(inspection, event, this.#lists)}
      ${
        rest.length === 0
          ? nothing
          : html`<div>
            <h4>More</h4>
            <dl class="facts">
              ${rest.map(([name, value]) => html`<dt class="mono">${name}</dt><dd>${showValue(value, { label: name })}</dd>`)}
            </dl>
          </div>`
      }
      <details ?open=${this.isOpen} @toggle=${(toggle: globalThis.Event) => (this.isOpen = (toggle.target as HTMLDetailsElement).open)}>
        <summary>JSON</summary>
        ${this.isOpen ? this.#json(event) : nothing}
      </details>
    </div>`;
  }

  #json(event: Event): TemplateResult {
    const text = JSON.stringify(event, undefined, 2);
    return html`<div class="json">
      <div class="row">
        <button @click=${() => void this.#copy(text)}>Copy</button>
        <span class="quiet" role="status">${this.copied}</span>
      </div>
      <pre tabindex="0" role="group" aria-label="The event as JSON">${text}</pre>
    </div>`;
  }

  async #copy(text: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.copied = 'Copied';
    } catch {
      this.copied = 'Copying is not allowed here';
    }
  }
}

function head(inspection: Inspection, revision: number): TemplateResult {
  const count = inspection.log.events.length;
  return html`<div class="row head">
    <h3>Event #${revision}</h3>
    <button class="spread" aria-label="previous event" ?disabled=${revision <= 1} @click=${() => inspection.select(revision - 1)}>
      ‹
    </button>
    <button aria-label="next event" ?disabled=${revision >= count} @click=${() => inspection.select(revision + 1)}>›</button>
    <button ?disabled=${inspection.revision === revision} @click=${() => void goTo(inspection, revision)}>Go to moment</button>
    <button aria-label="close the event" @click=${() => inspection.select(undefined)}>Close</button>
  </div>`;
}

function facts(inspection: Inspection, event: Event, revision: number): TemplateResult {
  const first = inspection.log.turns[revision - 1] ?? revision;
  const turn = event.invocationId === '' ? 'none' : event.invocationId;
  return html`<dl class="facts">
    <dt>author</dt>
    <dd>${inspection.log.author(revision)}</dd>
    <dt>time</dt>
    <dd>${time(event.timestamp)}</dd>
    <dt>invocation</dt>
    <dd>
      <code>${turn}</code>
      ${
        first === revision
          ? html`<span class="quiet">· first event of its turn</span>`
          : html`· <button class="link" @click=${() => inspection.select(first)}>first event of the turn (#${first})</button>`
      }
    </dd>
    <dt>id</dt>
    <dd><code>${event.id}</code></dd>
    <dt>revision</dt>
    <dd>${revision} of ${inspection.log.events.length}</dd>
  </dl>`;
}

function time(timestamp: number): TemplateResult {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) {
    return html`${timestamp}`;
  }
  const iso = date.toISOString();
  return html`<time datetime=${iso}>${TIME.format(date)}</time> <span class="quiet mono">${iso}</span>`;
}

function contents(event: Event): TemplateResult | typeof nothing {
  const items = contentsOf(event);
  if (items.length === 0) {
    return nothing;
  }
  const role = textFrom(event.content?.role);
  return html`<div>
    <h4>Contents${role === '' ? nothing : html` (role: ${role})`}</h4>
    ${items.map(showItem)}
  </div>`;
}

function showItem({ kind, name, text, value }: Item): TemplateResult {
  const label = [ITEM_LABEL[kind], name].filter(Boolean).join(' ');
  const isCode = kind === 'code' || kind === 'result';
  return html`<div class="part" data-kind=${kind}>${
    label === ''
      ? nothing
      : html`<div class="label">${ITEM_LABEL[kind]}${name === '' ? nothing : html` <b>${name}</b>`}</div>`
  }${text === '' ? nothing : html`<div class=${isCode ? 'mono' : ''} dir=${isCode ? 'ltr' : 'auto'}>${text}</div>`}${
    value === undefined ? nothing : showValue(value, { label })
  }</div>`;
}

function wrote(inspection: Inspection, event: Event, lists: LongLists): TemplateResult | typeof nothing {
  const { delta, deleted, temp } = deltaOf(event);
  const entries = Object.entries(delta);
  if (entries.length + temp.length === 0) {
    return nothing;
  }
  return html`<div>
    <h4>Wrote</h4>
    <table>
      <thead class="hidden">
        <tr><th scope="col">Key</th><th scope="col">New value</th></tr>
      </thead>
      <tbody>
        ${lists.drawn('wrote', entries).map(
          ([key, value]) =>
            html`<tr>
              <th scope="row">
                <button class="key" data-scope=${splitKey(key).scope} title="History of this key" @click=${() => inspection.trace(key)}>
                  ${key === '' ? '""' : key}
                </button>
              </th>
              <td>
                ${
                  deleted.has(key)
                    ? html`<span class="quiet">deleted</span>`
                    : showValue(value as Json, { label: key, query: inspection.query })
                }
              </td>
            </tr>`,
        )}
        ${temp.map(
          (key) =>
            html`<tr>
              <th scope="row"><span class="key" data-scope="temp">${key}</span></th>
              <td class="quiet">not stored: it lasts for one invocation</td>
            </tr>`,
        )}
        ${lists.end('wrote', entries.length, (button) => html`<tr><td colspan="2">${button}</td></tr>`)}
      </tbody>
    </table>
  </div>`;
}

/** All other members, by their paths. Empty ones are omitted. */
function restOf(event: Event): [string, Json][] {
  const { actions = {}, customMetadata = {} } = event as Partial<Event>;
  const members = [
    ...Object.entries(event).filter(([name]) => !PLACED.has(name)),
    ...Object.entries(actions).flatMap(([name, value]) =>
      PLACED_ACTIONS.has(name) || isEmpty(value) ? [] : [[`actions.${name}`, value] as const],
    ),
    ...Object.entries(customMetadata).flatMap(([name, value]) =>
      PLACED_METADATA.has(name) ? [] : [[`customMetadata.${name}`, value] as const],
    ),
  ];
  return members.flatMap(([name, value]) => (value === undefined ? [] : [[name, value as Json]]));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

customElements.define('statepad-event', StatepadEvent);
