// A JSON value as a tree whose branches are drawn when they are opened.

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import type { Json } from '../../index.js';
import { base } from '../ui/style.js';
import { showValue } from '../ui/value.js';
import { treeStyle } from './members-style.js';

/** The number of members that are drawn at first, and added by each click. */
const MEMBERS = 200;
/** The length of a preview of a closed branch, in characters. */
const PREVIEW = 80;

/** A tree of a JSON value. Its first level is open. */
export class StatepadMembers extends LitElement {
  static override properties = {
    value: { attribute: false },
    label: { attribute: false },
  };
  static override styles = [base, treeStyle];
  /** The value. */
  declare value: Json;
  /** The name of the tree for readers of a screen. */
  declare label: string;
  /** The open branches, and the number of members that each draws. */
  readonly #open = new Map<string, number>();

  constructor() {
    super();
    this.value = null;
    this.label = '';
  }

  protected override render(): TemplateResult {
    return html`<div role="group" aria-label=${this.label}>${this.#members(this.value, '')}</div>`;
  }

  #members(value: Json, path: string): unknown {
    const members = membersOf(value);
    const limit = this.#open.get(path) ?? MEMBERS;
    const more = members.length - limit;
    return html`<ul>
      ${members.slice(0, limit).map(([name, member]) => html`<li>${this.#member(name, member, `${path}/${name.replaceAll('/', '//')}`)}</li>`)}
      ${
        more > 0
          ? html`<li><button class="link" @click=${() => this.#draw(path, limit + MEMBERS)}>${more.toLocaleString('en')} more</button></li>`
          : nothing
      }
    </ul>`;
  }

  #member(name: string, value: Json, path: string): TemplateResult {
    const count = membersOf(value).length;
    if (count === 0) {
      return html`<span class="leaf"><span class="name">${shownName(name)}</span>${showValue(value, { label: name })}</span>`;
    }
    const isOpen = this.#open.has(path);
    return html`<details ?open=${isOpen} @toggle=${(event: globalThis.Event) => this.#toggled(event, path)}>
      <summary>
        <span class="name">${shownName(name)}</span><span class="preview">${isOpen ? countOf(value) : previewOf(value)}</span>
      </summary>
      ${isOpen ? this.#members(value, path) : nothing}
    </details>`;
  }

  #toggled(event: globalThis.Event, path: string): void {
    if ((event.currentTarget as HTMLDetailsElement).open) {
      this.#draw(path, this.#open.get(path) ?? MEMBERS);
    } else if (this.#open.delete(path)) {
      this.requestUpdate();
    }
  }

  #draw(path: string, limit: number): void {
    if (this.#open.get(path) !== limit) {
      this.#open.set(path, limit);
      this.requestUpdate();
    }
  }
}

/** The members of an object or the elements of a list. */
function membersOf(value: Json): (readonly [string, Json])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value as Readonly<Record<string, Json>>) : [];
}

function shownName(name: string): string {
  return name === '' ? '""' : name;
}

function countOf(value: Json): string {
  const count = membersOf(value).length.toLocaleString('en');
  return Array.isArray(value) ? `[${count}]` : `{${count}}`;
}

/** The beginning of a value as JSON, without writing all of a long one. */
function previewOf(value: Json): string {
  const text = membersOf(value).length > 30 ? countOf(value) : JSON.stringify(value, cutTexts);
  return text.length > PREVIEW ? `${text.slice(0, PREVIEW).toWellFormed()}…` : text;
}

function cutTexts(_name: string, value: Json): Json {
  return typeof value === 'string' && value.length > PREVIEW ? `${value.slice(0, PREVIEW)}…` : value;
}

customElements.define('statepad-members', StatepadMembers);
