// A line of the tree: its name, its value in one line with what has changed, who wrote it, and what can be done.

import { html, nothing, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import type { Json } from '../../index.js';
import type { Inspection, Pointed } from '../model/inspection.js';
import type { Scope } from '../model/log.js';
import type { RowChange } from '../model/rows.js';
import { icon, type IconName } from '../ui/icons.js';
import { marked } from '../ui/value.js';
import type { Entry } from './entries.js';
import { previewOf } from './preview.js';
import type { Line } from './tree.js';

/** Everything that a line is drawn with. */
export interface LineContext {
  readonly inspection: Inspection | undefined;
  /** From 0. */
  readonly place: number;
  /** The distance from the first line, in px; `undefined` for the scope that stays in view. */
  readonly start: number | undefined;
  /** The id of the line with the Tab key's stop. */
  readonly active: string | undefined;
  readonly query: string;
  readonly deleting: string | undefined;
  readonly flashes: ReadonlyMap<string, number>;
}

/** A wish of a reader about a line: the `detail` of the tree's event `wish`. */
export interface Wish {
  readonly kind: WishKind;
  readonly line: Line;
}

/** `open` and `close` what is below a line; the others are about its key, `add` about its scope. */
export type WishKind =
  'open' | 'close' | 'trace' | 'edit' | 'fork' | 'ask-delete' | 'keep' | 'delete' | 'copy' | 'copy-path' | 'add';

const SIGNS: Readonly<Record<RowChange, string>> = { added: '+', changed: '~', deleted: '−' };

/** A line as a row of a treegrid, drawn anew only when something of it has changed: most steps change few lines. */
export function drawLine(line: Line, context: LineContext): unknown {
  const { entry, kind, id } = line;
  const { inspection, active, flashes, deleting, place, start, query } = context;
  const key = entry?.key;
  if (kind === 'scope' || key === undefined) {
    return draw(line, context);
  }
  const own = [id === active, flashes.get(key), key === deleting, isPointedAt(entry, inspection?.pointed)];
  const rights = [inspection?.canWrite, inspection?.canFork, inspection?.isNow, inspection?.traced === key];
  return guard([line, place, start, query, ...own, ...rights], () => draw(line, context));
}

function draw(line: Line, context: LineContext): TemplateResult {
  const { id, kind, level, place, siblings, isOpen, change, entry, scope } = line;
  const { start, inspection } = context;
  const isActive = id === context.active;
  const flashes = kind === 'key' && entry !== undefined ? context.flashes.get(entry.key) : undefined;
  const isPointed = kind === 'key' && isPointedAt(entry, inspection?.pointed);
  return html`<div
    role="row"
    class="line ${change ?? ''}"
    data-kind=${kind}
    data-id=${id}
    data-scope=${scope}
    data-flash=${flashes === undefined ? nothing : flashes % 2}
    ?data-pointed=${isPointed}
    ?data-head=${start === undefined}
    style=${start === undefined ? nothing : `transform:translateY(${start}px)`}
    tabindex=${isActive ? 0 : -1}
    aria-level=${level}
    aria-rowindex=${context.place + 1}
    aria-posinset=${place}
    aria-setsize=${siblings}
    aria-expanded=${isOpen === undefined ? nothing : String(isOpen)}
    aria-selected=${kind === 'key' ? String(inspection?.traced === entry?.key) : nothing}
  >
    ${kind === 'scope' ? scopeCells(line, context, isActive) : valueCells(line, context, isActive)}
  </div>`;
}

/** True when a key is pointed at, or, without a key, the event that wrote it. */
function isPointedAt(entry: Entry | undefined, pointed: Pointed | undefined): boolean {
  if (entry === undefined || pointed === undefined) {
    return false;
  }
  const { source, writer: step } = entry.row ?? {};
  return pointed.key === undefined
    ? source === 'event' && pointed.revision !== undefined && step?.revision === pointed.revision
    : pointed.key === entry.key;
}

function twisty({ isOpen }: Line): TemplateResult {
  // The row itself says whether it is open, and its arrow keys do the same.
  return isOpen === undefined
    ? html`<span class="twisty"></span>`
    : html`<span class="twisty" data-does="toggle" aria-hidden="true">${icon('forward')}</span>`;
}

function scopeCells(line: Line, { inspection }: LineContext, isActive: boolean): TemplateResult {
  const { scope, count } = line;
  const [text, isDoubtful] = meaning(scope, inspection);
  const canAdd = inspection?.canWrite === true && inspection.isNow;
  return html`<div role="gridcell" class="name">
      ${twisty(line)}<span class="scope">${scope}</span><span class="count">${count.toLocaleString('en')}</span>
    </div>
    <div role="gridcell" class="value cut quiet" ?data-doubtful=${isDoubtful} title=${text}>${text}</div>
    <div role="gridcell" class="by">
      ${canAdd ? html`<button class="small plain add" data-does="add" tabindex=${isActive ? 0 : -1} aria-label="add key to ${scope}">${icon('plus')}Add</button>` : nothing}
    </div>`;
}

/** The sessions that share the keys of a scope; and true when the values may be others than those of the moment. */
function meaning(scope: Scope, inspection: Inspection | undefined): [text: string, isDoubtful: boolean] {
  const isDoubtful = inspection?.exact === false && !inspection.isSettling;
  const asFar = isDoubtful ? ' · as far as this session’s log shows' : '';
  const user = inspection?.session?.userId ?? '';
  switch (scope) {
    case 'session':
      return ['this session alone', false];
    case 'user':
      return [`shared by all sessions of user ${user}${asFar}`, isDoubtful];
    case 'app':
      return [`shared by all sessions of this app${asFar}`, isDoubtful];
    case 'temp':
      return inspection?.knowsTemp === true ? ['this invocation alone; never stored', false] : ['not stored', false];
  }
}

function valueCells(line: Line, context: LineContext, isActive: boolean): TemplateResult {
  const { kind, level, entry, name, change } = line;
  const indent = `--level:${level - 2}`;
  const shown = name === '' ? '""' : name;
  return html`<div role="gridcell" class="name" style=${indent}>
      ${twisty(line)}${sign(change)}
      ${
        kind === 'key'
          ? html`<span class="key cut" title=${name}>${marked(shown, context.query)}</span>`
          : html`<span class="member cut" title=${name}>${shown}</span>`
      }
    </div>
    <div role="gridcell" class="value cut">${values(line, context)}</div>
    <div role="gridcell" class="by">
      ${kind === 'key' ? writer(line, isActive) : nothing}
      ${entry !== undefined && kind === 'key' && entry.key === context.deleting ? confirmation(entry.key) : actions(line, context, isActive)}
    </div>`;
}

function sign(change: RowChange | undefined): TemplateResult {
  return change === undefined
    ? html`<span class="sign"></span>`
    : html`<span class="sign" title=${change}><span aria-hidden="true">${SIGNS[change]}</span><span class="hidden">${change}</span></span>`;
}

function values({ value, before, change }: Line, { query }: LineContext): unknown {
  const was = before === undefined ? nothing : html`<del>${tokens(before, '')}</del>`;
  const is = value === undefined ? nothing : tokens(value, query);
  return change === 'changed'
    ? html`${was}<span class="to" aria-hidden="true">→</span><span class="hidden"> is now </span><ins>${is}</ins>`
    : html`${was}${change === 'added' ? html`<ins>${is}</ins>` : is}`;
}

function tokens(value: Json, query: string): TemplateResult[] {
  return previewOf(value).map(({ text, tone }) => html`<span class=${tone}>${marked(text, query)}</span>`);
}

function writer({ entry }: Line, isActive: boolean): TemplateResult | typeof nothing {
  const row = entry?.row;
  if (row === undefined) {
    return nothing;
  }
  const { source, writer: step } = row;
  if (source === 'event' && step !== undefined) {
    const author = step.event?.author ?? 'no author';
    return html`<button
      class="link from"
      data-does="writer"
      tabindex=${isActive ? 0 : -1}
      title="written by #${step.revision} ${author}"
      ><span class="hidden">written by </span>#${step.revision}<span class="author cut">${author}</span></button
    >`;
  }
  const words = { creation: 'creation', elsewhere: 'another session', temp: 'running', event: '' }[source];
  return html`<span class="from quiet cut" title=${words}>${words}</span>`;
}

interface Action {
  readonly does: string;
  readonly icon: IconName;
  readonly name: (named: string) => string;
  /** True when it can be done with this line now. */
  readonly suits: (line: Line, inspection: Inspection) => boolean;
}

const ACTIONS: readonly Action[] = [
  { does: 'trace', icon: 'clock', name: (named) => `history of ${named}`, suits: ({ kind }) => kind === 'key' },
  {
    does: 'edit',
    icon: 'edit',
    name: (named) => `edit ${named}`,
    suits: ({ kind, value }, { canWrite, isNow }) => kind === 'key' && value !== undefined && canWrite && isNow,
  },
  {
    does: 'ask-delete',
    icon: 'delete',
    name: (named) => `delete ${named}`,
    suits: ({ kind, value }, { canWrite, isNow }) => kind === 'key' && value !== undefined && canWrite && isNow,
  },
  {
    does: 'fork',
    icon: 'fork',
    name: (named) => `fork from here with another value of ${named}`,
    suits: ({ kind, scope }, { canFork, isNow }) => kind === 'key' && scope !== 'temp' && canFork && !isNow,
  },
  {
    does: 'copy',
    icon: 'copy',
    name: (named) => `copy the value of ${named}`,
    suits: ({ value }) => value !== undefined,
  },
  { does: 'copy-path', icon: 'code', name: (named) => `copy {${named}}`, suits: () => true },
];

function actions(line: Line, { inspection }: LineContext, isActive: boolean): TemplateResult | typeof nothing {
  if (inspection === undefined) {
    return nothing;
  }
  const { kind, name, entry } = line;
  const named = kind === 'key' ? (name === '' ? 'the empty key' : name) : `${name} of ${entry?.key ?? ''}`;
  return html`<span class="actions"
    >${ACTIONS.filter(({ suits }) => suits(line, inspection)).map(
      ({ does, icon: picture, name: title }) =>
        html`<button
          class="plain small"
          data-does=${does}
          tabindex=${isActive ? 0 : -1}
          aria-label=${title(named)}
          title=${title(named)}
          >${icon(picture)}</button
        >`,
    )}</span
  >`;
}

function confirmation(key: string): TemplateResult {
  const named = key === '' ? 'the empty key' : key;
  return html`<span class="actions asking" role="group" aria-label="delete ${named}?"
    ><span class="cut">Delete ${named}?</span
    ><button class="small danger" data-does="delete" aria-label="yes, delete ${named}">Yes</button
    ><button class="small" data-does="keep" aria-label="no, keep ${named}">No</button></span
  >`;
}
