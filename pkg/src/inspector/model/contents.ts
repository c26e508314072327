// The content of an event besides its delta, in the order in which a reader wants it: words, thoughts, tool calls and
// their answers, code, files, transfers, errors. Logs may come from other programs: no member need have its type.

import type { Event, Json } from '../../index.js';
import { membersOf, textFrom, type Members } from './members.js';

/** One item of an event's content. */
export interface Item {
  readonly kind: ItemKind;
  /** The name of a tool, a file, another agent, or an error's code. Empty if there is none. */
  readonly name: string;
  /** Its words, or its code. Empty if there are none. */
  readonly text: string;
  /** The arguments of a call, or the answer of a tool; otherwise `undefined`. */
  readonly value?: Json;
  /** Of an item that is a part of the content: the index of that part. */
  readonly part?: number;
  /** The id of a call, and of the requests about it. Absent where there is none. */
  readonly id?: string;
  /** The data of a file that the event contains; otherwise absent. */
  readonly file?: FileData;
  /** The revision that a fork began at; otherwise absent. */
  readonly at?: number;
}

/** A file within an event. */
export interface FileData {
  /** Its media type, as the event has it: `image/png`. */
  readonly mimeType: string;
  /** Its bytes in base64, in either alphabet. Empty when the event only names its address. */
  readonly data: string;
}

/** All kinds of {@link Item}. */
export type ItemKind =
  | 'text'
  | 'thought'
  | 'call'
  | 'response'
  | 'code'
  | 'result'
  | 'file'
  | 'transcript'
  | 'transfer'
  | 'artifact'
  | 'confirmation'
  | 'sign-in'
  | 'rewind'
  | 'fork'
  | 'compaction'
  | 'action'
  | 'output'
  | 'error'
  | 'other';

/** The label before an item in a line of its own; empty for words, which need none. */
export const ITEM_LABEL: Readonly<Record<ItemKind, string>> = {
  text: '',
  thought: 'Thought',
  call: 'Calls',
  response: 'Result of',
  code: 'Code',
  result: 'Code result',
  file: 'File',
  transcript: 'Transcript',
  transfer: 'Transfers to',
  artifact: 'Saves',
  confirmation: 'Asks for confirmation',
  'sign-in': 'Asks for sign-in',
  rewind: 'Rewinds to before',
  fork: 'Forked from',
  compaction: 'Compacts earlier events',
  action: '',
  output: 'Output',
  error: 'Error',
  other: 'Part',
};

/** All items of an event, errors first, because readers look for them. */
export function contentsOf(event: Event): readonly Item[] {
  const members = event as unknown as Members;
  const { parts } = membersOf(members['content']);
  return [
    ...errorOf(members),
    ...(Array.isArray(parts) ? parts.flatMap((part, place) => itemsOf(membersOf(part), place)) : []),
    ...transcriptsOf(members),
    ...outputOf(members),
    ...actionsOf(membersOf(members['actions'])),
    ...originOf(members),
    ...(members['interrupted'] === true ? [item('action', { text: 'Interrupted' })] : []),
  ];
}

/** An item as one line of text. */
export function lineOf({ kind, name, text, value }: Item): string {
  const label = ITEM_LABEL[kind];
  const named = [label, name].filter(Boolean).join(' ');
  const shown = text === '' && value !== undefined ? JSON.stringify(value) : text;
  if (kind === 'call' && shown !== '') {
    return `${named}(${shown})`;
  }
  if (kind === 'fork') {
    return `${named} ${shown}`;
  }
  return named === '' ? shown : shown === '' ? named : `${named}: ${shown}`;
}

/** The whole content of an event, as one line; empty when it has none. */
export function summaryOf(event: Event): string {
  return contentsOf(event)
    .map((one) => lineOf(one).trim())
    .filter((line) => line !== '')
    .join(' · ');
}

/** The length of a summary in a row or a title, in characters. */
const SHORT = 400;

const shortSummaries = new WeakMap<Event, string>();

/** The beginning of {@link summaryOf}, made once for each event, because a value in it may be long. */
export function shortSummaryOf(event: Event): string {
  let short = shortSummaries.get(event);
  if (short === undefined) {
    short = summaryOf(event).slice(0, SHORT).toWellFormed();
    shortSummaries.set(event, short);
  }
  return short;
}

/** True when an event reports an error. */
export function isError(event: Event): boolean {
  return errorOf(event as unknown as Members).length > 0;
}

/**
 * True for an event of a user, by its author, or by the role of its content. The answers of tools have the user's
 * role, too: those are the agent's.
 */
export function isOfUser(event: Event): boolean {
  const { role, parts } = membersOf((event as unknown as Members)['content']);
  const isAnswer = Array.isArray(parts) && parts.some((part) => membersOf(part)['functionResponse'] !== undefined);
  return event.author === 'user' || (role === 'user' && !isAnswer);
}

function errorOf({ errorCode, errorMessage }: Members): Item[] {
  const [name, text] = [textFrom(errorCode), textFrom(errorMessage)];
  return name === '' && text === '' ? [] : [item('error', { name, text })];
}

/** Members that only qualify another one. */
const MODIFIERS = new Set(['text', 'thought', 'thoughtSignature', 'videoMetadata', 'mediaResolution']);

function itemsOf(part: Members, place: number): Item[] {
  const text = textFrom(part['text']);
  const items = text === '' ? [] : [item(part['thought'] === true ? 'thought' : 'text', { text })];
  for (const [name, value] of Object.entries(part)) {
    if (value !== undefined && value !== null && !MODIFIERS.has(name)) {
      const reader = Object.hasOwn(READERS, name) ? READERS[name] : undefined;
      items.push((reader ?? other(name))(membersOf(value), value as Json));
    }
  }
  return items.map((one) => ({ ...one, part: place }));
}

/** Readers of the members of a part. */
const READERS: Readonly<Record<string, (members: Members, value: Json) => Item>> = {
  functionCall: ({ id, name, args }) => item('call', { id, name: textFrom(name), value: args }),
  functionResponse: ({ id, name, response }) => item('response', { id, name: textFrom(name), value: response }),
  executableCode: ({ language, code }) =>
    item('code', { name: textFrom(language).toLowerCase(), text: textFrom(code) }),
  codeExecutionResult: ({ outcome, output }) =>
    item('result', {
      name: textFrom(outcome)
        .replace(/^OUTCOME_/u, '')
        .toLowerCase(),
      text: textFrom(output),
    }),
  inlineData: ({ displayName, mimeType, data }) =>
    item('file', {
      name: textFrom(displayName),
      text: [textFrom(mimeType), sizeOf(data)].filter(Boolean).join(', '),
      file: { mimeType: textFrom(mimeType), data: textFrom(data) },
    }),
  fileData: ({ displayName, mimeType, fileUri }) =>
    item('file', {
      name: textFrom(displayName),
      text: [textFrom(mimeType), textFrom(fileUri)].filter(Boolean).join(', '),
    }),
};

function other(name: string): (members: Members, value: Json) => Item {
  return (_, value) => item('other', { name, value });
}

/** The size of bytes in base64. */
function sizeOf(data: unknown): string {
  const bytes = typeof data === 'string' ? Math.floor((data.replace(/=+$/u, '').length * 3) / 4) : 0;
  return bytes === 0 ? '' : bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(0)} KiB`;
}

function transcriptsOf(members: Members): Item[] {
  return ['inputTranscription', 'outputTranscription'].flatMap((name) => {
    const text = textFrom(membersOf(members[name])['text']);
    return text === '' ? [] : [item('transcript', { text })];
  });
}

function outputOf({ output }: Members): Item[] {
  return output === undefined || output === null ? [] : [item('output', { value: output })];
}

/** The other actions of an event, without `stateDelta`, whose keys are shown separately. */
function actionsOf(actions: Members): Item[] {
  const items: Item[] = [];
  const to = textFrom(actions['transferToAgent']);
  if (to !== '') {
    items.push(item('transfer', { name: to }));
  }
  const say = (isSo: boolean, text: string): void => {
    if (isSo) {
      items.push(item('action', { text }));
    }
  };
  say(actions['escalate'] === true, 'Escalates');
  say(actions['endOfAgent'] === true, 'Agent ends');
  for (const [name, version] of Object.entries(membersOf(actions['artifactDelta']))) {
    items.push(item('artifact', { name, text: `version ${textFrom(version)}` }));
  }
  for (const [id, request] of Object.entries(membersOf(actions['requestedToolConfirmations']))) {
    items.push(item('confirmation', { id, text: textFrom(membersOf(request)['hint']) }));
  }
  items.push(...Object.keys(membersOf(actions['requestedAuthConfigs'])).map((id) => item('sign-in', { id })));
  const before = textFrom(actions['rewindBeforeInvocationId']);
  if (before !== '') {
    items.push(item('rewind', { name: before }));
  }
  return [...items, ...compactionOf(membersOf(actions['compaction']))];
}

/** The summary that replaces earlier events for the model. */
function compactionOf(compaction: Members): Item[] {
  const { parts } = membersOf(compaction['compactedContent']);
  const texts = Array.isArray(parts) ? parts.map((part) => textFrom(membersOf(part)['text'])) : [];
  return Object.keys(compaction).length === 0 ? [] : [item('compaction', { text: texts.filter(Boolean).join('\n') })];
}

/** The session that a fork continues. */
function originOf({ customMetadata }: Members): Item[] {
  const { sessionId, revision } = membersOf(membersOf(membersOf(customMetadata)['statepad'])['forkedFrom']);
  const name = textFrom(sessionId);
  return name === '' || typeof revision !== 'number'
    ? []
    : [item('fork', { name, text: `at #${revision}`, at: revision })];
}

/** The members of an item besides its kind. An `id` need not be a text. */
type ItemInit = Partial<Pick<Item, 'name' | 'text' | 'file' | 'at'>> & {
  readonly value?: unknown;
  readonly id?: unknown;
};

function item(kind: ItemKind, { name = '', text = '', value, id, ...more }: ItemInit): Item {
  const known = textFrom(id);
  return {
    kind,
    name,
    text,
    ...(value === undefined ? {} : { value: value as Json }),
    ...(known === '' ? {} : { id: known }),
    ...more,
  };
}

export { textFrom };
