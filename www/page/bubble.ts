// One event of a conversation, as a bubble: all of its content, and the keys that it wrote.

import { html, nothing, type TemplateResult } from 'lit';
import type { Event as LoggedEvent } from 'statepad';
import { contentsOf, isOfUser, isSpoken, ITEM_LABEL, type Item } from '../inspector/model/contents.js';
import { deltaOf, keysOf, splitKey } from '../inspector/model/log.js';

/** The number of keys that a bubble names. */
const CHIPS = 6;
/** The length of a text that is drawn, in characters; more would not be visible. */
const TEXT = 4000;
/** The length of a value that is drawn, in characters; more would not be visible. */
const VALUE = 400;

/** The side of a bubble: the user's, the agents', or none for a note on the work of agents. */
export function sideOf(event: LoggedEvent): 'user' | 'agent' | 'note' {
  return isOfUser(event) ? 'user' : isSpoken(event) ? 'agent' : 'note';
}

/** The content of a bubble. */
export function bubbleOf(event: LoggedEvent, author: string): TemplateResult {
  const items = contentsOf(event);
  const isEmpty = items.length === 0 && keysOf(event).length === 0;
  return html`<span class="author" dir="auto">${author}</span>
    ${items.map(itemOf)} ${isEmpty ? html`<span class="quiet">An event without content</span>` : nothing} ${chips(event)}`;
}

function itemOf(item: Item): TemplateResult {
  const { kind, name, text, value } = item;
  const label = ITEM_LABEL[kind];
  const shown = text === '' && value !== undefined ? JSON.stringify(value).slice(0, VALUE).toWellFormed() : text;
  if (kind === 'text') {
    return html`<span class="said" dir="auto">${shown.slice(0, TEXT).toWellFormed()}</span>`;
  }
  const head =
    label === '' && name === ''
      ? nothing
      : html`<span class="label">${label}${name === '' ? nothing : html` <b>${name}</b>`}</span>`;
  const isCode = kind === 'code' || kind === 'result' || value !== undefined;
  const body =
    shown === ''
      ? nothing
      : html`<span class=${isCode ? 'said mono' : 'said'} dir=${isCode ? 'ltr' : 'auto'}>${shown}</span>`;
  return html`<span class="item" data-kind=${kind}>${head}${body}</span>`;
}

function chips(event: LoggedEvent): TemplateResult | typeof nothing {
  const { deleted } = deltaOf(event);
  const keys = keysOf(event);
  if (keys.length === 0) {
    return nothing;
  }
  const more = keys.length - CHIPS;
  return html`<span class="chips">
    ${keys.slice(0, CHIPS).map((key) => chip(key, deleted.has(key)))}
    ${more > 0 ? html`<span class="quiet" title=${keys.slice(CHIPS).join(', ')}>and ${more} more</span>` : nothing}
  </span>`;
}

function chip(key: string, isDeleted: boolean): TemplateResult {
  const { scope } = splitKey(key);
  return isDeleted
    ? html`<span class="key" data-scope=${scope} data-deleted title="deleted">${key}<span class="hidden"> deleted</span></span>`
    : html`<span class="key" data-scope=${scope}>${key}</span>`;
}
