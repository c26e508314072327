// The line of one record. Sections stand between tabs, each with its own checksum, so that damage reaches no further than it
// must:
//
//   K<crc>[number, app, user, session, touched] ⇥ S<crc>{ app, user } ⇥ O<crc>{ id, kind, time, … } ⇥ K<crc>[…]
//
// K says whose line it is and stands at both ends; `touched` is 1 for the app's scope, 2 for the user's, 3 for both. S has
// what changes there, and is left out where nothing does. O has all the rest. JSON has no raw tabs and line feeds.

import { StoreError } from '../../store-error.js';
import { isEmpty } from './values.js';
import { crc32 } from './journal-crc.js';
import type { Change, Delta, Hint } from '../../store.js';
import type { LogRecord } from './callbacks.js';

/** Whose line it is. */
export interface LineKey {
  /** Lines are numbered from 1. */
  readonly number: number;
  readonly key: Hint;
  readonly touchesApp: boolean;
  readonly touchesUser: boolean;
}

/** What a section O says. */
export interface OwnPart extends Omit<Change, 'key' | 'delta' | 'kind'> {
  readonly kind: LogRecord['kind'];
  readonly delta?: Delta;
}

/** What can be read of a line. */
export interface Line {
  /** One, if all is well; none, if neither end can be read; two, when two lines have run into each other. */
  readonly keys: readonly LineKey[];
  readonly shared: { readonly app?: Delta; readonly user?: Delta } | undefined;
  readonly own: OwnPart | undefined;
  /** Nothing is damaged. */
  readonly isWhole: boolean;
  /** Tells it from other lines of the same number. */
  readonly sum: number;
}

interface Section {
  readonly label: string;
  readonly sum: number;
  readonly value: unknown;
}

/** Writes the line of a record. */
export function lineOf(number: number, record: LogRecord): string {
  const { key, ...rest } = record;
  const { delta, ...own } = 'delta' in rest ? rest : { ...rest, delta: undefined };
  const { app, user, session } = delta ?? {};
  const isScope = own.kind === 'remove-scope';
  const [touchesApp, touchesUser] = isScope ? [key.userId === undefined, key.userId !== undefined] : [!isEmpty(app), !isEmpty(user)];
  const head = section('K', [number, key.appName, key.userId, key.sessionId, Number(touchesApp) + 2 * Number(touchesUser)]);
  const shared = section('S', { ...(touchesApp && { app }), ...(touchesUser && { user }) });
  const ownPart = section('O', { ...own, ...(!isEmpty(session) && { delta: session }) });
  return [head, ...((touchesApp || touchesUser) && !isScope ? [shared] : []), ownPart, head].join('\t');
}

/** Puts the record of a line together again. */
export function recordOf({ key }: LineKey, { delta: session, ...own }: OwnPart, shared: Line['shared']): LogRecord {
  if (own.kind === 'remove' || own.kind === 'remove-scope') {
    return { ...own, kind: own.kind, key };
  }
  return { ...own, kind: own.kind, key, delta: { ...shared, ...(session && { session }) } };
}

/** Reads what can be read of a line. Throws `rejected` when it is of a kind that only a later version knows. */
export function readLine(text: string): Line {
  const parts = text.split('\t');
  // The end is as the beginning, as a rule: it need not be looked at again.
  const isFramed = parts.length > 2 && parts.at(-1) === parts[0];
  const sections = (isFramed ? parts.slice(0, -1) : parts).map(readSection);
  const find = (label: string): Section | undefined => sections.find((found) => found?.label === label);
  const keys = new Map<number, LineKey>();
  for (const found of sections) {
    if (found?.label === 'K') {
      const { number, ...key } = keyOf(found.value);
      keys.set(number, { number, ...key });
    }
  }
  const [own, shared] = [find('O'), find('S')];
  const [key] = [...keys.values()];
  const labels = sections.map((found) => found?.label).join('');
  const isWhole = isFramed && key !== undefined && labels === (needsShared(key, own?.value as OwnPart | undefined) ? 'KSO' : 'KO');
  return {
    keys: [...keys.values()],
    shared: shared?.value as Line['shared'],
    own: own?.value as OwnPart | undefined,
    isWhole,
    sum: sections.reduce((sum, found) => (sum * 31 + (found?.sum ?? 0)) % 0x1fffffffffff, 0),
  };
}

/** Whether a line of this key has a section S. */
export function needsShared({ touchesApp, touchesUser }: LineKey, own: OwnPart | undefined): boolean {
  return (touchesApp || touchesUser) && own?.kind !== 'remove-scope';
}

/** Two lines whose line feed between them has become something else, or `undefined`. */
export function splitLines(text: string): [string, string] | undefined {
  const head = text.slice(0, Math.max(0, text.indexOf('\t')));
  const end = text.indexOf(`\t${head}`, head.length) + 1 + head.length;
  return head !== '' && end > head.length && end < text.length ? [text.slice(0, end), text.slice(end + 1)] : undefined;
}

/**
 * Whether the last line is one that somebody began to write and never came to the end of. A line that was there as a whole
 * and is damaged now looks otherwise: more than its last section is damaged, or something of its end is still there.
 */
export function isTorn(text: string): boolean {
  // The end may lie in the middle of a character, or in space that nobody has written to.
  const [head = '', ...sections] = text.replace(/[\0\uFFFD]+$/, '').split('\t');
  const last = sections.pop();
  if (last === undefined) {
    return /^(K[0-9a-f]{0,8}(\[[^]*)?)?$/.test(head);
  }
  const isBefore = readSection(head)?.label === 'K' && sections.every((text) => readSection(text) !== undefined);
  return isBefore && (last.startsWith('K') ? last !== head && head.startsWith(last) : /^([SO]|$)/.test(last) && !last.endsWith(head));
}

function section(label: string, value: unknown): string {
  const json = JSON.stringify(value);
  return label + crc32(label + json).toString(16).padStart(8, '0') + json;
}

function readSection(text: string): Section | undefined {
  const [label, sum, json] = [text.slice(0, 1), parseInt(text.slice(1, 9), 16), text.slice(9)];
  if (crc32(label + json) !== sum || !/^[0-9a-f]{8}$/.test(text.slice(1, 9))) {
    return undefined;
  }
  if (!/^[KSO]$/.test(label)) {
    throw new StoreError('rejected', `the journal has a section "${label}", which only a later version of statepad knows`);
  }
  return { label, sum, value: JSON.parse(json) };
}

function keyOf(value: unknown): LineKey {
  const [number, appName, userId, sessionId, touched] = value as [number, string, string | null, string | null, number];
  const key = { appName, ...(userId !== null && { userId }), ...(sessionId !== null && { sessionId }) };
  return { number, key, touchesApp: (touched & 1) !== 0, touchesUser: (touched & 2) !== 0 };
}
