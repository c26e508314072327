// The call of a tool and its result, in one card.

import { html, nothing, type TemplateResult } from 'lit';
import type { Json } from '../../index.js';
import { contentsOf, type Item } from '../model/contents.js';
import type { ToolUse } from '../model/tools.js';
import { icon, type IconName } from '../ui/icons.js';
import { showValue } from '../ui/value.js';
import { durationText } from '../ui/amounts.js';
import { previewOf, resultPreview } from './preview.js';
import type { View } from './view.js';

/** The state of a call at the moment. */
export type ToolState = 'waiting' | 'running' | 'failed' | 'done';

/** Calls by which an ADK asks its user, in plain words. */
const REQUESTS: ReadonlyMap<string, string> = new Map([
  ['adk_request_confirmation', 'asks for confirmation'],
  ['adk_request_credential', 'asks for sign-in'],
  ['adk_request_input', 'asks for input'],
]);

const ICONS: Readonly<Record<ToolState, IconName>> = {
  waiting: 'clock',
  running: 'timer',
  failed: 'error',
  done: 'check',
};

/** The state of a call at a revision: before its result it waits, or runs, for a tool that takes long. */
export function stateOf({ response, failed, isLongRunning }: ToolUse, revision: number): ToolState {
  if (response === undefined || response > revision) {
    return isLongRunning ? 'running' : 'waiting';
  }
  return failed ? 'failed' : 'done';
}

/** The card of a call. `item` is the call in its event. */
export function toolCard(use: ToolUse, item: Item, view: View): TemplateResult {
  const { revision } = view.inspection;
  const result = resultOf(use, view);
  // A moment before the call itself shows the call as it went.
  const state = stateOf(use, Math.max(revision, use.call === undefined || use.call <= revision ? revision : Infinity));
  const name = `tool ${use.id}`;
  const hasArguments = item.value !== undefined && previewOf(item.value) !== '';
  const request = REQUESTS.get(item.name);
  return html`<details class="tool" data-state=${state} ?open=${view.folds.isOpen(name)} @toggle=${view.folds.keeper(name)}>
    <summary>
      <span class="call">
        ${icon('tool')}<b>${item.name === '' ? 'a tool without a name' : item.name}</b>
        ${
          request === undefined
            ? html`<span class="arguments">${hasArguments ? previewOf(item.value) : nothing}</span>`
            : html`<span class="arguments words">${request}</span>`
        }
        ${status(use, state, request !== undefined)}
      </span>
      ${result === undefined ? nothing : resultLine(use, result, view)}
    </summary>
    <div class="parts">
      ${hasArguments ? html`<p class="caption">Arguments</p>${showValue(item.value, { label: `arguments of ${item.name}` })}` : nothing}
      ${
        result === undefined
          ? nothing
          : html`<div data-revision=${use.response ?? nothing}>
            <p class="caption">Result <span class="quiet">#${use.response}</span></p>
            ${showValue(result, { label: `result of ${item.name}` })}
          </div>`
      }
    </div>
  </details>`;
}

function status({ duration }: ToolUse, state: ToolState, isRequest: boolean): TemplateResult {
  const took = duration === undefined || duration < 1 ? '' : durationText(duration);
  const text = {
    waiting: 'waiting',
    running: isRequest ? 'waiting for the user' : 'still running',
    failed: took === '' ? 'failed' : `failed, ${took}`,
    done: took === '' ? 'done' : took,
  }[state];
  return html`<span class="status">${icon(ICONS[state])}<span>${text}</span>${
    state === 'done' && took !== '' ? html`<span class="hidden"> until its result</span>` : nothing
  }</span>`;
}

function resultLine({ response, failed, problem }: ToolUse, result: Json, { inspection }: View): TemplateResult {
  const isLater = (response ?? 0) > inspection.revision;
  const text = failed && problem !== '' ? problem : resultPreview(result);
  return html`<span
    class=${failed ? 'result bad' : 'result'}
    data-revision=${response ?? nothing}
    ?data-later=${isLater}
    ?data-chosen=${inspection.selected === response}
    dir=${failed ? 'auto' : nothing}
    >${icon('branch')}<span class="preview">${text === '' ? 'empty' : text.slice(0, 400).toWellFormed()}</span></span
  >`;
}

/** The result of a call, as its event has it. */
function resultOf({ response, responsePart }: ToolUse, { inspection }: View): Json | undefined {
  const event = response === undefined ? undefined : inspection.log.at(response);
  if (event === undefined) {
    return undefined;
  }
  const item = contentsOf(event).find(({ kind, part }) => kind === 'response' && part === responsePart);
  return item?.value ?? null;
}
