// The keys that an event wrote, with their values before and after.

import { css, html, nothing, type PropertyDeclarations, type PropertyValues, type TemplateResult } from 'lit';
import type { Event, Json, Session } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import { changesOf, type PathChange } from '../model/diff.js';
import { deltaOf, splitKey } from '../model/log.js';
import { InspectorElement } from '../ui/inspector-element.js';
import { LongLists } from '../ui/long-lists.js';
import { base } from '../ui/style.js';
import { showValue } from '../ui/value.js';

/** The number of changed paths of a key that are named; the values are shown whole where there are more. */
const PATHS = 6;

type State = Readonly<Record<string, Json>>;

/** The state before an event, once it is read. */
interface Before {
  readonly session: Session;
  readonly revision: number;
  readonly state: State | undefined;
}

/** One key that was written. */
interface Write {
  readonly key: string;
  /** `undefined` for a key that was not there. */
  readonly before: Json | undefined;
  /** `undefined` for a deletion. */
  readonly after: Json | undefined;
}

/** The delta of the selected event. */
export class StatepadWrote extends InspectorElement {
  static override properties: PropertyDeclarations = {
    ...InspectorElement.properties,
    former: { state: true },
  };
  static override styles = [
    base,
    css`
      li + li {
        border-block-start: 1px solid var(--line);
      }

      /* A short value stands beside its key. */
      li {
        display: flex;
        flex-wrap: wrap;
        gap: 2px var(--sp-space-2);
        padding-block: 0.3rem;
      }

      .values {
        flex: 1 1 11rem;
        min-width: 0;
      }

      .key[aria-pressed='true'],
      .key[data-pointed] {
        outline: 1.5px solid var(--scope);
      }

      .change {
        display: grid;
        grid-template-columns: 1.1rem minmax(0, 1fr);
        padding-inline-start: var(--sp-space-1);
      }

      .change > .sign {
        color: var(--quiet);
        font-family: var(--mono);
      }

      .old {
        border-radius: var(--sp-radius-sm);
        padding-inline: 0.3em;
        background: var(--deleted);
      }

      .new {
        border-radius: var(--sp-radius-sm);
        padding-inline: 0.3em;
        background: var(--added);
      }

      .path {
        color: var(--quiet);
        overflow-wrap: anywhere;
      }
    `,
  ];
  declare private former: Before | undefined;
  readonly #lists = new LongLists(this);
  #asked: { readonly session: string; readonly revision: number } | undefined;

  protected override willUpdate(changed: PropertyValues<this>): void {
    super.willUpdate(changed);
    const { inspection } = this;
    const { session, selected } = inspection ?? {};
    if (session === undefined || selected === undefined) {
      this.#asked = undefined;
    } else if (
      inspection !== undefined &&
      (this.#asked?.session !== session.id || this.#asked.revision !== selected)
    ) {
      this.#asked = { session: session.id, revision: selected };
      this.#lists.reset();
      void this.#read(inspection, session, selected);
    }
  }

  /** Reads the state before the event. A source without a past has none: then only the new values are shown. */
  async #read({ reader }: Inspection, session: Session, revision: number): Promise<void> {
    const asked = this.#asked;
    const state = await reader.stateAt(session, revision - 1).catch(() => undefined);
    if (asked === this.#asked) {
      this.former = { session, revision, state };
    }
  }

  protected override render(): TemplateResult | typeof nothing {
    const { inspection } = this;
    const event = inspection?.log.at(inspection.selected ?? 0);
    if (inspection === undefined || event === undefined) {
      return nothing;
    }
    const { temp } = deltaOf(event);
    const known = this.former?.revision === inspection.selected ? this.former?.state : undefined;
    const writes = writesOf(event, known);
    return html`<ul>
      ${this.#lists.drawn('wrote', writes).map((write) => html`<li>${keyButton(inspection, write.key)}<div class="values">${values(write, known !== undefined)}</div></li>`)}
      ${this.#lists.end('wrote', writes.length, (button) => html`<li>${button}</li>`)}
      ${temp.map((key) => html`<li><span><span class="key" data-scope="temp">${key}</span> <span class="quiet">is not stored</span></span></li>`)}
    </ul>`;
  }
}

function writesOf(event: Event, before: State | undefined): Write[] {
  const { delta, deleted } = deltaOf(event);
  return Object.entries(delta).map(([key, value]) => ({
    key,
    before: before !== undefined && Object.hasOwn(before, key) ? before[key] : undefined,
    after: deleted.has(key) ? undefined : (value as Json),
  }));
}

function keyButton(inspection: Inspection, key: string): TemplateResult {
  const point = (): void => inspection.point({ key });
  const leave = (): void => inspection.point(undefined);
  return html`<span
    ><button
      class="key"
      data-scope=${splitKey(key).scope}
      ?data-pointed=${inspection.pointed?.key === key}
      aria-pressed=${String(inspection.traced === key)}
      title="History of this key"
      @click=${() => inspection.trace(inspection.traced === key ? undefined : key)}
      @mouseenter=${point}
      @mouseleave=${leave}
      @focus=${point}
      @blur=${leave}
    >
      ${key === '' ? '""' : key}
    </button></span
  >`;
}

/** The changed paths of a value, or the values whole where that says more. */
function values({ key, before, after }: Write, isKnown: boolean): TemplateResult | TemplateResult[] {
  if (!isKnown) {
    return html`<div class="change"><span class="sign">=</span>${after === undefined ? html`<span class="quiet">deleted</span>` : showValue(after, { label: key })}</div>`;
  }
  const changes = changesOf(before, after);
  if (changes.length === 0) {
    return html`<div class="change"><span class="sign">=</span><span class="quiet">written again, the same</span></div>`;
  }
  const whole: PathChange = {
    path: [],
    kind: 'changed',
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
  return (changes.length <= PATHS ? changes : [whole]).map((change) => changed(key, change));
}

function changed(key: string, { path, before, after }: PathChange): TemplateResult {
  const place = path.length === 0 ? nothing : html`<div class="path mono">${pathText(path)}</div>`;
  const label = path.length === 0 ? key : `${key} ${pathText(path)}`;
  const line = (sign: string, name: string, value: Json): TemplateResult =>
    html`<div class="change">
      <span class="sign" aria-hidden="true">${sign}</span
      ><div class=${name}><span class="hidden">${name === 'old' ? 'before: ' : 'after: '}</span>${showValue(value, { label })}</div>
    </div>`;
  return html`<div>
    ${place} ${before === undefined ? nothing : line('−', 'old', before)}
    ${after === undefined ? nothing : line('+', 'new', after)}
  </div>`;
}

/** A path as programs write it: `.hotel.rooms[2]`. */
function pathText(path: PathChange['path']): string {
  return path
    .map((step) =>
      typeof step === 'number'
        ? `[${step}]`
        : /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(step)
          ? `.${step}`
          : `[${JSON.stringify(step)}]`,
    )
    .join('');
}

customElements.define('statepad-wrote', StatepadWrote);
