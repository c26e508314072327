// The line of one record. Sections stand between tabs, each with its own checksum, so that damage reaches no further
// than it must:
//
//   K<crc>[number, app, user, session, touched] ⇥ S<crc>{ app, user } ⇥ P<crc>{ id, kind, time, … } ⇥ K<crc>[…]
//
// K names the session, user or app of the line and stands at both ends; `touched` is 1 for the app's scope, 2 for the
// user's, 3 for both. S has what changes there, and is left out where nothing does. P has all the rest. The checksums
// of S and P are those of the label, the checksum of K and the text: a section that was copied into another line does
// not match. JSON has no raw tabs and line feeds.
//
// Version 1 wrote O in place of P. It refuses a journal with a section that it does not know: each line keeps it away
// from what it would misread. An upgrade appends a line of its own that says the version, V<crc>2; it has no number.

import { StoreError } from '../../store/store-error.js';
import { isEmpty } from '../shared/values.js';
import { crc32 } from './crc32.js';
import type { Change, Delta, Hint } from '../../store/contract.js';
import { newerVersion } from '../../store/refusals.js';
import { LOG_VERSION, type LogRecord, type Refusal, type Removal, type VersionRecord } from './log-record.js';

/** What section K says. */
export interface LineKey {
  /** Lines are numbered from 1. */
  readonly number: number;
  readonly key: Hint;
  readonly touchesApp: boolean;
  readonly touchesUser: boolean;
}

/** What a section O or P says. */
export interface OwnPart extends Omit<Change, 'key' | 'delta' | 'kind'> {
  readonly kind: Exclude<LogRecord, VersionRecord>['kind'];
  readonly delta?: Delta;
}

/** What can be read of one line. */
export interface Piece {
  readonly key: LineKey;
  readonly shared: { readonly app?: Delta; readonly user?: Delta } | undefined;
  readonly own: OwnPart | undefined;
  /** The version that has written the line; `undefined` where that part is damaged. */
  readonly version: number | undefined;
  /** Tells it from other lines of the same number. */
  readonly sum: number;
}

interface Section {
  readonly label: string;
  readonly sum: number;
  readonly value: unknown;
}

/** Writes the line that says which version the journal has. */
export function versionLine(): string {
  return section('V', '', JSON.stringify(LOG_VERSION));
}

/** The version that a line says, `undefined` when it is not such a line. Throws `rejected` when it is a later one. */
export function versionOf(text: string): number | undefined {
  const found = text.startsWith('V') ? readSection(text, '') : undefined;
  if (typeof found?.value === 'number' && found.value > LOG_VERSION) {
    throw newerVersion('the journal', found.value, LOG_VERSION);
  }
  return found?.value as number | undefined;
}

/** Writes the line of a record. */
export function lineOf(number: number, record: Exclude<LogRecord, VersionRecord>): string {
  const { key } = record;
  const { app, user, session } = 'delta' in record ? record.delta : NO_DELTA;
  const isScope = record.kind === 'remove-scope';
  const touchesApp = isScope ? key.userId === undefined : !isEmpty(app);
  const touchesUser = isScope ? key.userId !== undefined : !isEmpty(user);
  const touched = (touchesApp ? 1 : 0) + (touchesUser ? 2 : 0);
  const head = section('K', '', JSON.stringify([number, key.appName, key.userId, key.sessionId, touched]));
  const sum = sumOf(head);
  // JSON leaves out what is `undefined`.
  const rest = { ...record, key: undefined, delta: isEmpty(session) ? undefined : session };
  const own = section('P', sum, JSON.stringify(rest));
  if (touched === 0 || isScope) {
    return `${head}\t${own}\t${head}`;
  }
  const shared = { app: touchesApp ? app : undefined, user: touchesUser ? user : undefined };
  return `${head}\t${section('S', sum, JSON.stringify(shared))}\t${own}\t${head}`;
}

const NO_DELTA: Change['delta'] = {};

/** The record that the parts of a line make. */
export function recordOf({ key }: LineKey, { delta: session, ...own }: OwnPart, shared: Piece['shared']): LogRecord {
  if (own.kind === 'remove' || own.kind === 'remove-scope' || own.kind === 'refusal') {
    return { ...own, kind: own.kind, key } as Removal | Refusal;
  }
  return { ...own, kind: own.kind, key, delta: { ...shared, ...(session && { session }) } };
}

/**
 * Reads what can be read of a line: one piece, if all is well; none, if neither end can be read; several, when lines
 * have run into each other. Throws `rejected` when the line is of a kind that only a later version knows.
 */
export function readLine(text: string): { readonly pieces: readonly Piece[]; readonly isWhole: boolean } {
  const parts = text.split('\t');
  const pieces: Piece[] = [];
  let labels = '';
  // A later version may begin its lines otherwise.
  for (const head of new Set(parts.filter((part, index) => index === 0 || part.startsWith('K')))) {
    const found = readSection(head, '');
    if (found?.label === 'K') {
      const sections = parts.map((part) => (part === head ? found : readSection(part, sumOf(head))));
      labels = sections.map((section) => section?.label ?? '?').join('');
      const [own, shared] = [/[OP]/, /S/].map((labels) =>
        sections.find((section) => section !== undefined && labels.test(section.label)),
      );
      pieces.push({
        key: keyOf(found.value),
        shared: shared?.value as Piece['shared'],
        own: own?.value as OwnPart | undefined,
        version: own && (own.label === 'O' ? 1 : LOG_VERSION),
        sum: (own?.sum ?? 0) * 31 + (shared?.sum ?? 0),
      });
    }
  }
  const [piece] = pieces;
  return {
    pieces,
    isWhole: piece !== undefined && (needsShared(piece.key, piece.own) ? /^KS[OP]K$/ : /^K[OP]K$/).test(labels),
  };
}

/** Whether a line of this key has a section S. */
export function needsShared({ touchesApp, touchesUser }: LineKey, own: OwnPart | undefined): boolean {
  return (touchesApp || touchesUser) && own?.kind !== 'remove-scope';
}

/** The two lines of a text in which the line feed between them was damaged; `undefined` for other texts. */
export function splitLines(text: string): [string, string] | undefined {
  const head = text.slice(0, Math.max(0, text.indexOf('\t')));
  const end = text.indexOf(`\t${head}`, head.length) + 1 + head.length;
  return head !== '' && end > head.length && end < text.length ? [text.slice(0, end), text.slice(end + 1)] : undefined;
}

/**
 * Whether the last line was begun and not written to its end. A line that was there as a whole
 * and is damaged now looks otherwise: more than its last section is damaged, or something of its end is still there.
 */
export function isTorn(text: string): boolean {
  // The end may lie in the middle of a character, or in space that was never written to.
  const [head = '', ...sections] = text.replace(/[\0\uFFFD]+$/, '').split('\t');
  const last = sections.pop();
  if (last === undefined && head.startsWith('V')) {
    return versionOf(head) === undefined;
  }
  if (last === undefined) {
    return /^(K[0-9a-f]{0,8}(\[[^]*)?)?$/.test(head);
  }
  const isBefore =
    readSection(head, '')?.label === 'K' && sections.every((text) => text !== head && readSection(text, sumOf(head)));
  return (
    isBefore &&
    (last.startsWith('K') ? last !== head && head.startsWith(last) : /^([SOP]|$)/.test(last) && !last.endsWith(head))
  );
}

/** A section whose content is a JSON text. */
function section(label: string, seed: string, json: string): string {
  return `${label}${hexOf(crc32(label + seed + json))}${json}`;
}

/** A checksum as it is written. */
function hexOf(sum: number): string {
  return sum.toString(16).padStart(8, '0');
}

function sumOf(section: string): string {
  return section.slice(1, 9);
}

function readSection(text: string, seed: string): Section | undefined {
  const [label, json, sum] = [text.slice(0, 1), text.slice(9), crc32(text.slice(0, 1) + seed + text.slice(9))];
  if (sumOf(text) !== hexOf(sum)) {
    return undefined;
  }
  if (!/^[KSOPV]$/.test(label)) {
    throw new StoreError(
      'rejected',
      `the journal has a section "${label}", which only a later version knows: update statepad`,
    );
  }
  return { label, sum, value: JSON.parse(json) };
}

function keyOf(value: unknown): LineKey {
  const [number, appName, userId, sessionId, touched] = value as [
    number,
    string,
    string | null,
    string | null,
    number,
  ];
  const key = { appName, ...(userId !== null && { userId }), ...(sessionId !== null && { sessionId }) };
  return { number, key, touchesApp: (touched & 1) !== 0, touchesUser: (touched & 2) !== 0 };
}
