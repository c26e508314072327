// The change of a value by one write: from what to what, and of objects and lists only what differs.

import { css, html, nothing, type TemplateResult } from 'lit';
import type { Json } from '../../index.js';
import { differenceOf, changesOf, type PathChange } from '../model/diff.js';
import { showText } from '../ui/value.js';
import { previewOf } from './preview.js';
import { pathText } from './tree.js';

/** The number of differences inside of a value that are shown at once. */
const SHOWN = 8;

/** A change of a key as a small diff. */
export function drawChange(from: Json | undefined, to: Json | undefined, key: string): TemplateResult {
  const [was, is] = [textOf(from), textOf(to)];
  const isNested = from !== undefined && to !== undefined && differenceOf(from, to).kind === 'nested';
  const [sign, word] = kindOf(was, is);
  if (isNested) {
    return html`<div class="change nested">${nested(changesOf(from, to))}${whole(to, key)}</div>`;
  }
  return html`<div class="change">
    <span class="sign" title=${word}><span aria-hidden="true">${sign}</span><span class="hidden">${word}</span></span>
    ${was === undefined || was === is ? nothing : showText(was, { label: `${key} before`, isStruck: true })}
    ${
      was === undefined || is === undefined || was === is
        ? nothing
        : html`<span class="sign"><span aria-hidden="true">→</span><span class="hidden">to</span></span>`
    }
    ${is === undefined ? (was === undefined ? html`<span class="quiet">deleted</span>` : nothing) : showText(is, { label: key })}
  </div>`;
}

function nested(changes: readonly PathChange[]): TemplateResult[] {
  const rest = changes.length - SHOWN;
  return [
    ...changes.slice(0, SHOWN).map(({ path, kind, before, after }) => {
      const name = pathText({ entry: undefined, path }).replace(/^\./u, '');
      return html`<p class="part ${kind}">
        <span class="sign" title=${kind}
          ><span aria-hidden="true">${SIGNS[kind]}</span><span class="hidden">${kind}</span></span
        ><span class="path">${name}</span> ${before === undefined ? nothing : html`<del>${tokens(before)}</del>`}
        ${kind === 'changed' ? html`<span class="quiet" aria-hidden="true">→</span>` : nothing}
        ${after === undefined ? nothing : html`<ins>${tokens(after)}</ins>`}
      </p>`;
    }),
    ...(rest > 0 ? [html`<p class="quiet">and ${rest.toLocaleString('en')} more</p>`] : []),
  ];
}

/** The whole value, folded: the parts above are what matters. */
function whole(value: Json, key: string): TemplateResult {
  return html`<details>
    <summary class="quiet">whole value</summary>
    ${showText(JSON.stringify(value), { label: key })}
  </details>`;
}

const SIGNS: Readonly<Record<PathChange['kind'], string>> = { added: '+', changed: '~', removed: '−' };

function tokens(value: Json): TemplateResult[] {
  return previewOf(value).map(({ text, tone }) => html`<span class=${tone}>${text}</span>`);
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

/** The styles of changes. */
export const changeStyle = css`
  .change:not(.nested) {
    display: grid;
    grid-template-columns: 1rem minmax(0, 1fr);
    align-items: baseline;
    gap: 0.1rem 0.3rem;
  }

  .change .sign {
    color: var(--quiet);
    font-family: var(--mono);
    font-weight: 700;
    text-align: center;
  }

  .part {
    display: flex;
    flex-wrap: wrap;
    align-items: baseline;
    gap: 0 0.45em;
    border-radius: var(--sp-radius-sm);
    padding: 0 0.3em;
    font-family: var(--mono);
    font-size: var(--sp-text-sm);
    overflow-wrap: anywhere;
  }

  .part.added {
    background: var(--added);
  }

  .part.changed {
    background: var(--changed);
  }

  .part.removed {
    background: var(--deleted);
  }

  .path,
  .change .name {
    color: var(--quiet);
  }

  .change .number {
    color: var(--session);
  }

  .change .literal {
    color: var(--temp);
  }

  .change :is(del, del span) {
    color: var(--quiet);
    text-decoration-color: var(--bad);
  }

  .change ins {
    text-decoration: none;
  }

  summary {
    width: max-content;
    font-size: var(--sp-text-xs);
    cursor: pointer;
  }
`;
