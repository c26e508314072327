// Events, deltas and values in a line each.

import type { Content, Event, Json, Part } from '../../index.js';

/** The units of a text that a line can show. */
const MOST = 2_000;

/** A value in a line. */
export function shownValue(value: unknown): string {
  return value === undefined ? '' : short(JSON.stringify(value));
}

/** Values in a line: `topic="tides" visits=1`; deleted keys as `-topic`. */
export function shownValues(values: Readonly<Record<string, unknown>>, deleted: readonly string[] = []): string {
  return short(
    Object.entries(values)
      .map(([key, value]) => (deleted.includes(key) ? `-${key}` : `${key}=${shownValue(value)}`))
      .join(' '),
  );
}

/** The delta of an event in a line. */
export function shownDelta({ actions, customMetadata }: Event): string {
  const own = customMetadata?.['statepad'] as { readonly deleted?: readonly string[] } | undefined;
  return shownValues(actions.stateDelta, own?.deleted);
}

/** The content of an event, in a line: texts, calls, results, errors, transfers. */
export function shownEvent(event: Event): string {
  const { errorCode, errorMessage, actions } = event;
  const error = [errorCode, errorMessage]
    .map(textOf)
    .filter((text) => text !== '')
    .join(': ');
  const { rewindBeforeInvocationId: rewound, transferToAgent: agent, escalate } = actions;
  return short(
    [
      error === '' ? '' : `! ${error}`,
      ...partsOf(event.content).map(shownPart),
      typeof rewound === 'string' ? `rewinds to before ${rewound}` : '',
      typeof agent === 'string' ? `transfers to ${agent}` : '',
      escalate === true ? 'escalates' : '',
    ]
      .filter((text) => text !== '')
      .join(' '),
  );
}

/** The parts of a content, which others may have written in another shape. */
function partsOf(content: Content | undefined): readonly Part[] {
  const parts: unknown = (content as { readonly parts?: unknown } | null | undefined)?.parts;
  return Array.isArray(parts) ? parts.filter((part): part is Part => typeof part === 'object' && part !== null) : [];
}

function shownPart({ text, thought, functionCall, functionResponse, ...others }: Part): string {
  if (typeof text === 'string') {
    return thought === true ? `(${text.trim()})` : text.trim();
  }
  if (functionCall !== undefined) {
    const { name, args } = membersOf(functionCall);
    return `→ ${textOf(name)}(${shownValue(args ?? {})})`;
  }
  if (functionResponse !== undefined) {
    const { name, response } = membersOf(functionResponse);
    return `← ${textOf(name)}: ${shownValue(response)}`;
  }
  const [kind] = Object.keys(others);
  return kind === undefined ? '' : `[${kind}]`;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : value === null ? '' : shownValue(value);
}

function membersOf(value: unknown): Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, Json>>) : {};
}

function short(text: string): string {
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text;
}
