// Branches that ran beside each other: columns where there is room, tabs otherwise.

import { html, nothing, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import { eventEntry, momentLine, type Position, type ToggleRaw } from './entry.js';
import type { EventEntry, ParallelEntry } from './entries.js';
import { icon } from '../ui/icons.js';
import type { View } from './view.js';

/** The width below which a branch gets no column, in px. */
const COLUMN = 230;

/** The branch on show in each parallel entry that has tabs, by its revision. */
export type ChosenBranches = Map<number, string>;

/** The choices around a parallel entry. */
export interface ParallelOptions {
  /** The width of the conversation, in px. */
  readonly width: number;
  readonly chosen: ChosenBranches;
  /** Draws the conversation again, after a choice. */
  readonly redraw: () => void;
  readonly toggleRaw: ToggleRaw;
}

/** All branches of an entry. */
export function parallelEntry(
  entry: ParallelEntry,
  view: View,
  position: Position,
  options: ParallelOptions,
): TemplateResult {
  const { branches } = entry;
  const hasRoom = options.width >= branches.length * COLUMN;
  const shown = hasRoom ? branches : branches.filter(({ name }) => name === shownBranch(entry, options.chosen));
  const { revision: moment } = view.inspection;
  const isNext = entry.revision > moment && position.after <= moment;
  return html`${isNext ? momentLine(moment) : nothing}<div class="parallel" role="article" aria-label="${branches.length} branches in parallel" ?data-later=${entry.revision > view.inspection.revision}>
    <p class="caption">${icon('layers')} ${branches.length} agents in parallel</p>
    ${hasRoom ? nothing : tabs(entry, options)}
    <div class="columns" style=${styleMap({ '--columns': String(shown.length) })}>
      ${shown.map(
        ({ name, entries }) => html`<div class="column">
          ${hasRoom && !isNamed(name, entries, view) ? html`<p class="branch" dir="auto">${name}</p>` : nothing}
          ${entries.map((one, place) => eventEntry(one, view, { ...position, before: entries[place - 1], after: Infinity }, options.toggleRaw))}
        </div>`,
      )}
    </div>
  </div>`;
}

/** True when the first author of a branch tells its name. */
function isNamed(name: string, [first]: readonly EventEntry[], { inspection: { log } }: View): boolean {
  return first !== undefined && log.author(first.revision) === name;
}

/** The branch that has an event of a parallel entry; its first one if none has it. */
export function branchWith({ branches }: ParallelEntry, revision: number): string {
  const has = ({ revision: own, results }: EventEntry): boolean => own === revision || results.includes(revision);
  return (branches.find(({ entries }) => entries.some(has)) ?? branches[0])?.name ?? '';
}

function shownBranch({ revision, branches }: ParallelEntry, chosen: ChosenBranches): string {
  return chosen.get(revision) ?? branches[0]?.name ?? '';
}

function tabs(entry: ParallelEntry, { chosen, redraw }: ParallelOptions): TemplateResult {
  const shown = shownBranch(entry, chosen);
  return html`<div class="tabs" role="group" aria-label="Branch">
    ${entry.branches.map(
      ({ name, entries }) => html`<button
        class="plain"
        aria-pressed=${String(name === shown)}
        @click=${() => {
          chosen.set(entry.revision, name);
          redraw();
        }}
      >
        <span dir="auto">${name}</span> <span class="quiet">${entries.length}</span>
      </button>`,
    )}
  </div>`;
}
