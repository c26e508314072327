// The events and sessions that an event has to do with: calls and results, rewinds, forks.

import { html, nothing, type TemplateResult } from 'lit';
import type { SessionKey } from '../../index.js';
import type { Inspection } from '../model/inspection.js';
import type { SessionMoment } from '../model/forks.js';
import type { ToolUse } from '../model/tools.js';
import { durationText } from '../ui/amounts.js';
import { icon, type IconName } from '../ui/icons.js';

/** The relations of an event; `undefined` when it has none. */
export function relationsOf(inspection: Inspection, revision: number): TemplateResult | undefined {
  const lines = [
    ...inspection.log.toolsAt(revision).map((use) => toolLine(inspection, use, revision)),
    ...rewindLines(inspection, revision),
    ...forkLines(inspection, revision),
  ];
  return lines.length === 0 ? undefined : html`<ul class="relations">${lines}</ul>`;
}

/** A link to another session: it opens at its newest moment. A failure is reported as a `problem`. */
export function sessionLink(inspection: Inspection, session: SessionKey): TemplateResult {
  const open = (): void => {
    inspection.open(session).catch((error: unknown) => {
      inspection.dispatchEvent(new CustomEvent('problem', { detail: error }));
    });
  };
  return html`<button class="link" @click=${open}>${session.sessionId}</button>`;
}

/** The session that this one continues, and the known ones that continue it. */
export function forksOfSession(inspection: Inspection): TemplateResult | undefined {
  const { forkedFrom, forks } = inspection;
  if (forkedFrom === undefined && forks.length === 0) {
    return undefined;
  }
  return html`<ul class="relations">
    ${forkedFrom === undefined ? nothing : originLine(inspection, forkedFrom)}
    ${forks.map((fork) => line('fork', html`${sessionLink(inspection, fork.session)} begins at ${eventLink(inspection, fork.revision)}`))}
  </ul>`;
}

function originLine(inspection: Inspection, { session, revision }: SessionMoment): TemplateResult {
  return line('fork', html`Forked from ${sessionLink(inspection, session)} at #${revision}`);
}

function line(sign: IconName, text: TemplateResult): TemplateResult {
  return html`<li>${icon(sign)}<span>${text}</span></li>`;
}

function eventLink(inspection: Inspection, revision: number): TemplateResult {
  return html`<button class="link" @click=${() => inspection.select(revision)}>#${revision}</button>`;
}

function toolLine(inspection: Inspection, use: ToolUse, revision: number): TemplateResult {
  const { call, response, duration, failed, name } = use;
  const took = duration === undefined ? nothing : html` <span class="quiet">after ${durationText(duration)}</span>`;
  if (call === revision) {
    return response === undefined
      ? line('clock', html`<b>${name}</b> has no result yet`)
      : line(
          failed ? 'error' : 'tool',
          html`<b>${name}</b> ${failed ? 'failed' : 'answered'} in ${eventLink(inspection, response)}${took}`,
        );
  }
  return call === undefined
    ? line('tool', html`Result of <b>${name}</b>, whose call is not in this session`)
    : line(failed ? 'error' : 'tool', html`Result of <b>${name}</b>, called in ${eventLink(inspection, call)}${took}`);
}

function rewindLines(inspection: Inspection, revision: number): TemplateResult[] {
  const { log } = inspection;
  const rewind = log.rewindAt(revision);
  const by = log.undone(revision)
    ? log.rewinds.findLast((one) => !one.isRedo && one.to < revision && revision < one.revision)
    : undefined;
  return [
    ...(rewind === undefined || rewind.to + 1 >= revision
      ? []
      : [
          line(
            rewind.isRedo ? 'replay' : 'rewind',
            html`${rewind.isRedo ? 'Takes the rewind back: ' : 'Goes back to before '}${eventLink(inspection, rewind.to + 1)}`,
          ),
        ]),
    ...(by === undefined ? [] : [line('rewind', html`Taken back by ${eventLink(inspection, by.revision)}`)]),
  ];
}

function forkLines(inspection: Inspection, revision: number): TemplateResult[] {
  const { forkedFrom, forks } = inspection;
  const begun = forks.filter((fork) => fork.revision === revision);
  return [
    ...(forkedFrom?.revision === revision - 1 ? [originLine(inspection, forkedFrom)] : []),
    ...begun.map(({ session }) => line('fork', html`${sessionLink(inspection, session)} begins here`)),
  ];
}
