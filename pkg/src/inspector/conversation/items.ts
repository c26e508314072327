// The items of an event's content, each drawn as what it is.

import { html, nothing, type TemplateResult } from 'lit';
import { contentsOf, ITEM_LABEL, type Item, type ItemKind } from '../model/contents.js';
import type { ToolUse } from '../model/tools.js';
import { icon, type IconName } from '../ui/icons.js';
import { showValue } from '../ui/value.js';
import { avatar } from './authors.js';
import { pictureOf } from './pictures.js';
import { toolCard } from './tool.js';
import type { View } from './view.js';
import './text.js';

/** The place of an item: its event, and its index in the contents of that. */
export interface Place {
  readonly revision: number;
  readonly index: number;
}

type Draw = (item: Item, view: View, place: Place) => TemplateResult | typeof nothing;

/** The number of lines of code up to which all of them are shown. */
const LINES = 14;
/** The length of the beginning of a thought that its line shows, in characters. */
const LINE = 160;

/** Each kind of item as an element. */
const DRAW: Readonly<Record<ItemKind, Draw>> = {
  text: ({ text }, { raw }, { revision }) =>
    html`<statepad-text class="words" .text=${text} ?raw=${raw.has(revision)}></statepad-text>`,
  thought,
  call: (item, view, { revision }) => {
    const use = view.inspection.log
      .toolsAt(revision)
      .find(({ call, callPart }) => call === revision && callPart === item.part);
    if (use === undefined) {
      return fact('tool', item);
    }
    return isTransfer(use, view) ? nothing : toolCard(use, item, view);
  },
  response: (item, view, { revision }) => {
    const use = view.inspection.log.toolsAt(revision).find(({ responsePart }) => responsePart === item.part);
    return html`<div class=${use?.failed === true ? 'fact bad' : 'fact'}>
      ${icon('branch')}<span class="words">Result of <b>${item.name}</b>${
        use?.call === undefined ? nothing : html`, called in ${jump(view, use.call)}`
      }${item.value === undefined ? nothing : showValue(item.value, { label: `result of ${item.name}` })}</span>
    </div>`;
  },
  code,
  result: ({ name, text }) =>
    html`<figure class=${name === '' || name === 'ok' ? 'code' : 'code bad'}>
      <figcaption>Result${name === '' ? nothing : ` ${name}`}</figcaption>
      <pre dir="ltr">${text}</pre>
    </figure>`,
  file,
  transcript: ({ text }) =>
    html`<div class="fact">${icon('live')}<span class="words"><span class="caption">Transcript</span> <statepad-text .text=${text} raw></statepad-text></span></div>`,
  transfer: ({ name }, { inspection: { log } }, { revision }) => {
    const from = log.author(revision);
    return html`<div class="transfer">
      ${avatar(log, from)}<span dir="auto">${from}</span>${icon('transfer')}<span class="hidden">transfers to</span
      >${avatar(log, name)}<b dir="auto">${name}</b>
    </div>`;
  },
  artifact: (item) => fact('file', item),
  confirmation: (item, view) => fact('warning', { ...item, name: toolOf(item, view) }),
  'sign-in': (item, view) => fact('lock', { ...item, name: toolOf(item, view) }),
  rewind: ({ name }, view, { revision }) => {
    const rewind = view.inspection.log.rewindAt(revision);
    const to = (rewind?.to ?? revision) + 1;
    return html`<span class="note">${icon(rewind?.isRedo === true ? 'replay' : 'rewind')}<span
      >${rewind?.isRedo === true ? 'Took the rewind back: ' : 'Rewound to before '}${
        to >= revision ? html`<code>${name}</code>` : jump(view, to)
      }</span
    ></span>`;
  },
  fork: ({ name, at }, { inspection }) => {
    const { session } = inspection;
    const open = (): void => {
      if (session !== undefined) {
        openSession(inspection, { appName: session.appName, userId: session.userId, sessionId: name });
      }
    };
    return html`<span class="note">${icon('fork')}<span
      >Forked from <button class="link" @click=${open}>${name}</button> at #${at}</span
    ></span>`;
  },
  compaction: (item, view, place) =>
    html`<span class="note">${icon('collapse')}<span>Summary of earlier events</span></span>
      ${item.text === '' ? nothing : folded(view, place, item.text)}`,
  action: ({ text }) => html`<div class="fact">${icon('alert')}<span class="words">${text}</span></div>`,
  output: (item) => fact('terminal', item),
  error: ({ name, text }) =>
    html`<div class="error">${icon('error')}<div class="words">
      <b>${name === '' ? 'Error' : name}</b>${text === '' ? nothing : html`<div dir="auto">${text.slice(0, 4000).toWellFormed()}</div>`}
    </div></div>`,
  other: (item) => fact('more', item),
};

/** An item of a conversation. */
export function showItem(item: Item, view: View, place: Place): TemplateResult | typeof nothing {
  return DRAW[item.kind](item, view, place);
}

/** Opens a session; a failure is reported as a `problem`. */
export function openSession(inspection: View['inspection'], key: Parameters<View['inspection']['open']>[0]): void {
  inspection.open(key).catch((error: unknown) => {
    inspection.dispatchEvent(new CustomEvent('problem', { detail: error }));
  });
}

/** A link to an event. */
export function jump({ inspection }: Pick<View, 'inspection'>, revision: number): TemplateResult {
  return html`<button class="link" @click=${() => inspection.select(revision)}>#${revision}</button>`;
}

/** An item in a line: a sign, its label, its name, and its words or value. */
function fact(sign: IconName, { kind, name, text, value }: Item): TemplateResult {
  const label = ITEM_LABEL[kind];
  return html`<div class="fact">
    ${icon(sign)}<span class="words"
      ><span class="caption">${label}</span>${name === '' ? nothing : html` <b dir="auto">${name}</b>`}${
        text === '' ? nothing : html` <span dir="auto">${text.slice(0, 4000).toWellFormed()}</span>`
      }${value === undefined ? nothing : showValue(value, { label: [label, name].filter(Boolean).join(' ') })}</span
    >
  </div>`;
}

function thought({ text }: Item, { folds }: View, { revision, index }: Place): TemplateResult {
  const name = `thought ${revision}.${index}`;
  return html`<details class="thought" ?open=${folds.isOpen(name)} @toggle=${folds.keeper(name)}>
    <summary>${icon('thought')}<span class="hidden">Thought: </span><span class="cut" dir="auto">${text.slice(0, LINE).toWellFormed()}</span></summary>
    <statepad-text .text=${text}></statepad-text>
  </details>`;
}

function folded({ folds }: View, { revision, index }: Place, text: string): TemplateResult {
  const name = `text ${revision}.${index}`;
  return html`<details class="thought" ?open=${folds.isOpen(name)} @toggle=${folds.keeper(name)}>
    <summary><span class="cut" dir="auto">${text.slice(0, LINE).toWellFormed()}</span></summary>
    <statepad-text .text=${text}></statepad-text>
  </details>`;
}

function code({ name, text }: Item, { folds }: View, { revision, index }: Place): TemplateResult {
  const lines = text.split('\n');
  const head = html`<figcaption>${icon('code')} ${name === '' ? 'Code' : name}</figcaption>`;
  if (lines.length <= LINES) {
    return html`<figure class="code">${head}<pre dir="ltr">${text}</pre></figure>`;
  }
  const key = `code ${revision}.${index}`;
  return html`<figure class="code">
    ${head}
    <details ?open=${folds.isOpen(key)} @toggle=${folds.keeper(key)}>
      <summary>${lines.length} lines</summary>
      <pre dir="ltr" tabindex="0" role="group" aria-label="code">${text}</pre>
    </details>
  </figure>`;
}

function file({ name, text, file: data }: Item): TemplateResult {
  const picture = data === undefined ? undefined : pictureOf(data);
  return html`<figure class="file">
    ${picture === undefined ? nothing : html`<img src=${picture} alt=${name === '' ? 'a picture without a name' : name} />`}
    <figcaption>${icon('file')}<b dir="auto">${name === '' ? 'File' : name}</b> <span class="quiet">${text}</span></figcaption>
  </figure>`;
}

/** True for a call that hands over to another agent: the arrow of its result says it. */
function isTransfer({ name, response, failed }: ToolUse, { inspection: { log } }: View): boolean {
  const event = response === undefined ? undefined : log.at(response);
  return (
    name === 'transfer_to_agent' &&
    !failed &&
    event !== undefined &&
    contentsOf(event).some(({ kind }) => kind === 'transfer')
  );
}

/** The name of the tool that a request is about; its id where the log does not have the call. */
function toolOf({ id = '' }: Item, { inspection }: View): string {
  return inspection.log.tools.get(id)?.name ?? id;
}
