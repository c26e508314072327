// The facts of an event: author, time, turn, branch, model, tokens.

import { html, nothing, type TemplateResult } from 'lit';
import type { Event } from '../../index.js';
import { textFrom } from '../model/contents.js';
import type { Inspection } from '../model/inspection.js';
import { branchOf } from '../model/branches.js';
import { tokensOf } from '../model/tokens.js';
import { durationText, tokenTitle } from '../ui/amounts.js';

const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** The members that are shown as texts, with their names for readers. */
const TEXTS: readonly (readonly [string, keyof Event])[] = [
  ['model', 'modelVersion'],
  ['finished', 'finishReason'],
];

/** All facts of an event as a list of terms. */
export function factsOf(inspection: Inspection, event: Event, revision: number): TemplateResult {
  const branch = branchOf(event);
  const tokens = tokensOf(event);
  return html`<dl class="facts">
    <dt>author</dt>
    <dd dir="auto">${inspection.log.author(revision)}</dd>
    <dt>time</dt>
    <dd>${time(inspection, event, revision)}</dd>
    <dt>turn</dt>
    <dd>${turn(inspection, event, revision)}</dd>
    ${branch === '' ? nothing : html`<dt>branch</dt><dd><code>${branch}</code></dd>`}
    ${TEXTS.map(([name, member]) => {
      const text = textFrom(event[member]);
      return text === '' ? nothing : html`<dt>${name}</dt><dd>${text}</dd>`;
    })}
    ${tokens === undefined ? nothing : html`<dt>tokens</dt><dd>${tokenTitle(tokens).replace(/^Tokens: /u, '')}</dd>`}
    <dt>id</dt>
    <dd><code>${event.id}</code></dd>
  </dl>`;
}

/** The time, and its distance from the event before and from the beginning of the turn. */
function time({ log }: Inspection, { timestamp }: Event, revision: number): TemplateResult {
  const date = new Date(timestamp);
  if (Number.isNaN(date.getTime())) {
    return html`${timestamp}`;
  }
  const first = log.turns[revision - 1] ?? revision;
  const latency = log.latency(revision);
  const since = timestamp - (log.at(first)?.timestamp ?? timestamp);
  const iso = date.toISOString();
  return html`<time datetime=${iso} title=${iso}>${DATE.format(date)}</time>${
    latency === undefined
      ? nothing
      : html`<div class="quiet">
          ${durationText(latency)} after #${revision - 1}${first < revision - 1 && since >= 0 ? `, ${durationText(since)} into the turn` : nothing}
        </div>`
  }`;
}

/** The place in the turn, with the way to its first event. */
function turn(inspection: Inspection, event: Event, revision: number): TemplateResult {
  const { turns, turnNumbers } = inspection.log;
  const first = turns[revision - 1] ?? revision;
  const name =
    event.invocationId === ''
      ? html`<span class="quiet">no invocation</span>`
      : html`<code>${event.invocationId}</code>`;
  const place =
    first === revision
      ? html`first event`
      : html`event ${revision - first + 1}, from <button class="link" @click=${() => inspection.select(first)}>#${first}</button>`;
  return html`${name}<div class="quiet">turn ${turnNumbers[revision - 1] ?? 1}, ${place}</div>`;
}
