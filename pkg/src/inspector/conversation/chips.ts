// The keys that an event wrote, as chips in the colours of their scopes.

import { html, nothing, type TemplateResult } from 'lit';
import type { Event, Json } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import { deltaOf, keysOf, splitKey } from '../model/log.js';

/** The number of keys that an entry names. */
const CHIPS = 6;
/** The length of a value beside its key, in characters; a longer one is left to the details. */
const SHORT = 18;
/** The length of a value in a title, in characters. */
const TITLE = 300;

/** The keys of an event; the rest of many is one click away, in the details. */
export function chipsOf(event: Event, revision: number, inspection: Inspection): TemplateResult | typeof nothing {
  const keys = keysOf(event);
  if (keys.length === 0) {
    return nothing;
  }
  const { delta, deleted } = deltaOf(event);
  const more = keys.length - CHIPS;
  return html`<span class="chips" data-revision=${revision} ?data-later=${revision > inspection.revision}>
    ${keys.slice(0, CHIPS).map((key) => {
      const value = Object.hasOwn(delta, key) && !deleted.has(key) ? (delta[key] as Json) : undefined;
      return chip(inspection, { key, revision, isDeleted: deleted.has(key), value });
    })}
    ${
      more > 0
        ? html`<button class="link small" title=${keys.slice(CHIPS, 60).join('\n')} @click=${() => inspection.select(revision)}>
          ${more.toLocaleString('en')} more
        </button>`
        : nothing
    }
  </span>`;
}

interface Chip {
  readonly key: string;
  readonly revision: number;
  readonly isDeleted: boolean;
  readonly value: Json | undefined;
}

function chip(inspection: Inspection, { key, revision, isDeleted, value }: Chip): TemplateResult {
  const text = value === undefined ? '' : JSON.stringify(value);
  const title = isDeleted
    ? `${key} was deleted`
    : text === ''
      ? `${key} is not stored`
      : `${key} = ${text.slice(0, TITLE)}`;
  const point = (): void => inspection.point({ key, revision });
  const leave = (): void => inspection.point(undefined);
  return html`<button
    class="key"
    data-scope=${splitKey(key).scope}
    ?data-deleted=${isDeleted}
    ?data-pointed=${inspection.pointed?.key === key}
    aria-pressed=${String(inspection.traced === key)}
    title=${title.toWellFormed()}
    @click=${() => inspection.trace(inspection.traced === key ? undefined : key)}
    @mouseenter=${point}
    @mouseleave=${leave}
    @focus=${point}
    @blur=${leave}
  >
    ${key === '' ? '""' : key}${isDeleted ? html`<span class="hidden"> deleted</span>` : nothing}${
      text === '' || text.length > SHORT ? nothing : html` <span class="value">${text}</span>`
    }
  </button>`;
}
