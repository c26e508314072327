// The choice of a second moment to compare with.

import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import type { Inspection } from '../model/inspection.js';
import { icon } from '../ui/icons.js';

/** A moment to compare with. */
interface Choice {
  readonly name: string;
  /** `undefined` for the changes of the turn. */
  readonly revision: number | undefined;
}

/** A menu of moments; with one chosen, also a way to swap both moments, and a way out. */
export function compareBar(inspection: Inspection): TemplateResult {
  const { base } = inspection;
  const choices = choicesOf(inspection);
  return html`<label class="compare" ?data-on=${base !== undefined}
      >${icon('diff')}<select
        aria-label="Compare with"
        title="Compare with another moment"
        .value=${live(base === undefined ? '' : String(base))}
        @change=${(event: Event) => {
          const { value } = event.target as HTMLSelectElement;
          inspection.compareWith(value === '' ? undefined : Number(value));
        }}
      >
        ${choices.map(
          ({ name, revision }) =>
            html`<option value=${revision ?? ''} ?selected=${revision === base}>${name}</option>`,
        )}
      </select></label
    >
    ${
      base === undefined
        ? nothing
        : html`<button class="plain square" aria-label="swap both moments" title="Swap both moments" @click=${() => swap(inspection)}>${icon('replay')}</button
            ><button class="plain square" aria-label="end comparing" title="End comparing" @click=${() => inspection.compareWith(undefined)}>${icon('close')}</button>`
    }`;
}

/** Each moment once: those that are the same have the first name. */
function choicesOf({ base, revision, selected, log, session }: Inspection): readonly Choice[] {
  const first = log.turns[revision - 1];
  const last = session?.revision ?? 0;
  const all: readonly Choice[] = [
    { name: 'Changes of the turn', revision: undefined },
    { name: 'Since the creation', revision: 0 },
    ...(first === undefined ? [] : [{ name: `Since the turn before (#${first - 1})`, revision: first - 1 }]),
    ...(selected === undefined ? [] : [{ name: `Since the chosen event (#${selected})`, revision: selected }]),
    { name: `Since this moment (#${revision})`, revision },
    { name: `Against now (#${last})`, revision: last },
    ...(base === undefined ? [] : [{ name: `Since #${base}`, revision: base }]),
  ];
  return all.filter((choice, place) => all.findIndex((other) => other.revision === choice.revision) === place);
}

function swap(inspection: Inspection): void {
  const { base, revision } = inspection;
  if (base !== undefined) {
    inspection.compareWith(revision);
    inspection.travel(base);
  }
}
