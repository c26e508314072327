// The lane of one key in the timeline: its values, from write to write.

import { html, nothing, type TemplateResult } from 'lit';
import { styleMap } from 'lit/directives/style-map.js';
import type { HistoryStep, Json } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import { splitKey } from '../model/log.js';
import { nameOf } from '../model/session-name.js';
import { COLUMN, type Range, type Span } from './layout.js';

/** The least width for a value's text, in px. */
const LEGIBLE = 22;

/** The approximate width of a letter, in px. */
const LETTER = 7.3;

/** The length of a value in a title, in characters. */
const TITLE = 600;

/** From one write of a key to the next one, in px from the start of the picture. */
export interface Stretch extends Span {
  /** The revision of the write. */
  readonly revision: number;
  /** Absent while the key is deleted. */
  readonly value: Json | undefined;
}

/**
 * The values of a key along a span. `steps` are its writes, ascending: those in the span, and the last one before. A
 * stretch ends at the next write, or with the last revision, `count`. Stretches that are too narrow to be seen are
 * merged into the next one.
 */
function stretchesOf(
  steps: readonly Pick<HistoryStep, 'revision' | 'to'>[],
  { span, step, count }: { readonly span: Span; readonly step: number; readonly count: number },
): Stretch[] {
  const stretches: Stretch[] = [];
  let end = Math.min((count + 1) * step, span.to);
  for (const { revision, to: value } of [...steps].reverse()) {
    const from = Math.max(revision * step, span.from);
    if (end - from >= COLUMN || stretches.length === 0) {
      stretches.push({ revision, value, from, to: end });
      end = from;
    }
  }
  return stretches.reverse();
}

/** Reads the writes of the traced key within the drawn range. */
export class Trace {
  /** The writes in the range, and the last one before it; ascending. */
  steps: readonly HistoryStep[] = [];
  /** The key of the steps. */
  key: string | undefined;
  #request = '';

  /** Reads again if the request differs from the last one, and returns true when `steps` have changed. */
  async update(inspection: Inspection, { first, last }: Range): Promise<boolean> {
    const { session, traced, reader } = inspection;
    const request = JSON.stringify([session && nameOf(session), session?.revision, traced, first, last]);
    if (request === this.#request) {
      return false;
    }
    this.#request = request;
    if (traced !== this.key) {
      this.key = traced;
      this.steps = [];
    }
    if (session === undefined || traced === undefined) {
      return true;
    }
    const steps = await reader.history(session, traced, {
      until: Math.max(last, 0),
      last: Math.max(last - first, 0) + 2,
    });
    if (request !== this.#request) {
      return false;
    }
    const before = steps.findLastIndex(({ revision }) => revision < first);
    this.steps = steps.slice(Math.max(before, 0));
    return true;
  }
}

/** The lane. */
export function traceLane(
  trace: Trace,
  picture: { readonly span: Span; readonly step: number; readonly count: number },
): TemplateResult | typeof nothing {
  if (trace.key === undefined) {
    return nothing;
  }
  return html`<div class="trace" data-scope=${splitKey(trace.key).scope}>
    ${stretchesOf(trace.steps, picture).map(({ revision, value, from, to }) => {
      const text = value === undefined ? undefined : JSON.stringify(value);
      const style = styleMap({ left: `${from}px`, width: `${to - from}px` });
      const title = `#${revision} ${clip(text ?? 'deleted', TITLE)}`;
      return html`<div class=${text === undefined ? 'gap' : 'stretch'} data-revision=${revision} style=${style} title=${title}>
        ${to - from < LEGIBLE ? nothing : html`<span>${clip(text ?? 'deleted', Math.floor((to - from - 10) / LETTER))}</span>`}
      </div>`;
    })}
  </div>`;
}

function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, Math.max(length - 1, 1)).toWellFormed()}…` : text;
}
