// The line of one record. Sections stand between tabs, each with its own checksum, so that damage reaches no further
// than it must:
//
//   K<crc>[number, app, user, session, touched] ⇥ S<crc>{ app, user } ⇥ O<crc>{ id, kind, time, … } ⇥ K<crc>[…]
//
// K names the session, user or app of the line and stands at both ends; `touched` is 1 for the app's scope, 2 for the
// user's, 3 for both. S has what changes there, and is left out where nothing does. O has all the rest. The checksum
// of K is that of the label, the version and the text: each line says by itself which version has written it, and
// none is misread by another one. The checksums of S and O are those of the label, the checksum of K and the text: a
// section that was copied into another line does not match. JSON has no raw tabs and line feeds.
//
// A journal begins with a line that says the version; an upgrade appends another one: V<crc>[version, layout, last],
// where `last` is the number of the line before it. It has no number of its own.

import { defined } from '../../model/defined.js';
import { isEmpty } from '../shared/values.js';
import { crc32 } from './crc32.js';
import type { Change, Delta, Hint } from '../../store/contract.js';
import { otherLayout } from '../../store/refusals.js';
import { versionsIn, type FoundVersion, type LogFormat, type LogVersion } from './version.js';
import type { Numbered, Refusal, Removal } from './log-record.js';

/** The content of section K. */
export interface LineKey {
  /** Lines are numbered from 1. */
  readonly number: number;
  readonly key: Hint;
  readonly touchesApp: boolean;
  readonly touchesUser: boolean;
}

/** The content of section O. */
export interface OwnPart extends Omit<Change, 'key' | 'delta' | 'kind'> {
  readonly kind: Numbered['kind'];
  readonly delta?: Delta;
}

/** The readable content of one line. */
export interface Piece {
  readonly key: LineKey;
  readonly shared: { readonly app?: Delta; readonly user?: Delta } | undefined;
  readonly own: OwnPart | undefined;
  /** The version that has written the line. */
  readonly version: LogVersion;
  /** Tells it from other lines of the same number. */
  readonly sum: number;
}

interface Section {
  readonly label: string;
  readonly sum: number;
  readonly value: unknown;
}

/** The content of a version line. */
export interface VersionLine extends FoundVersion {
  /** The number of the line before it. */
  readonly last: number;
}

/** Writes the line that says a version. `last` is the number of the line before it. */
export function versionLine({ version, layout }: LogVersion, last: number): string {
  return section('V', '', JSON.stringify([version, layout, last]));
}

/** Reads the version that a line states; `undefined` when it is not such a line. */
export function versionIn(text: string): VersionLine | undefined {
  const found = text.startsWith('V') ? readSection(text, '') : undefined;
  if (found === undefined) {
    return undefined;
  }
  // Builds without fingerprints have written a number alone.
  const [version, layout, last = 0] = [found.value].flat() as [number, string | undefined, number | undefined];
  return { version, layout, last };
}

/**
 * True when a line that says no version was begun as one. Nothing of it is missed: the other lines say by themselves
 * what they are.
 */
export function isTornVersion(text: string): boolean {
  return /^V([0-9a-f]{0,8}|[0-9a-f]{8}\[[^\t]*)$/.test(text) && versionIn(text) === undefined;
}

/** Writes the line of a record. */
export function lineOf(number: number, record: Numbered, version: LogVersion): string {
  const { key } = record;
  const { app, user, session } = 'delta' in record ? record.delta : NO_DELTA;
  const isScope = record.kind === 'remove-scope';
  const touchesApp = isScope ? key.userId === undefined : !isEmpty(app);
  const touchesUser = isScope ? key.userId !== undefined : !isEmpty(user);
  const touched = (touchesApp ? 1 : 0) + (touchesUser ? 2 : 0);
  const head = section(
    'K',
    seedOf(version),
    JSON.stringify([number, key.appName, key.userId, key.sessionId, touched]),
  );
  const sum = sumOf(head);
  // JSON leaves out `undefined` members.
  const rest = { ...record, key: undefined, delta: isEmpty(session) ? undefined : session };
  const own = section('O', sum, JSON.stringify(rest));
  if (touched === 0 || isScope) {
    return `${head}\t${own}\t${head}`;
  }
  const shared = { app: touchesApp ? app : undefined, user: touchesUser ? user : undefined };
  return `${head}\t${section('S', sum, JSON.stringify(shared))}\t${own}\t${head}`;
}

const NO_DELTA: Change['delta'] = {};

/** The record that the parts of a line make. */
export function recordOf({ key }: LineKey, { delta: session, ...own }: OwnPart, shared: Piece['shared']): Numbered {
  if (own.kind === 'remove' || own.kind === 'remove-scope' || own.kind === 'refusal') {
    return { ...own, kind: own.kind, key } as Removal | Refusal;
  }
  return { ...own, kind: own.kind, key, delta: { ...shared, ...defined({ session }) } };
}

/**
 * Reads the readable part of a line: one piece, if all is well; none, if neither end can be read; several, when lines
 * have run into each other. Throws `rejected` when the line is of a build without fingerprints.
 */
export function readLine(
  text: string,
  format: LogFormat,
): { readonly pieces: readonly Piece[]; readonly isWhole: boolean } {
  const parts = text.split('\t');
  const pieces: Piece[] = [];
  let labels = '';
  for (const head of new Set(parts.filter((part) => part.startsWith('K')))) {
    const found = readHead(head, format);
    if (found !== undefined) {
      const sections = parts.map((part) => (part === head ? found : readSection(part, sumOf(head))));
      labels = sections.map((section) => section?.label ?? '?').join('');
      const [own, shared] = ['O', 'S'].map((label) => sections.find((section) => section?.label === label));
      pieces.push({
        key: keyOf(found.value),
        shared: shared?.value as Piece['shared'],
        own: own?.value as OwnPart | undefined,
        version: found.version,
        sum: (own?.sum ?? 0) * 31 + (shared?.sum ?? 0),
      });
    }
  }
  const [piece] = pieces;
  return {
    pieces,
    isWhole: piece !== undefined && labels === (needsShared(piece.key, piece.own) ? 'KSOK' : 'KOK'),
  };
}

/** Reads a section K, which tells by its checksum the version that has written it. */
function readHead(text: string, format: LogFormat): (Section & { readonly version: LogVersion }) | undefined {
  for (const version of versionsIn(format)) {
    const found = readSection(text, seedOf(version));
    if (found !== undefined) {
      return { ...found, version };
    }
  }
  if (readSection(text, '') !== undefined) {
    throw otherLayout('the journal', undefined, format.layout);
  }
  return undefined;
}

/** The text that the checksum of a section K covers besides its own. */
function seedOf({ version, layout }: LogVersion): string {
  return `${version}:${layout}`;
}

/** True when a line of this key has a section S. */
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
 * True when the last line was begun and not written to its end. A line that was there as a whole and is damaged now
 * looks otherwise: more than its last section is damaged, or something of its end is still there.
 */
export function isTorn(text: string, format: LogFormat): boolean {
  // The end may lie in the middle of a character, or in space that was never written to.
  const [head = '', ...sections] = text.replace(/[\0\uFFFD]+$/, '').split('\t');
  const last = sections.pop();
  if (isTornVersion(head) && last === undefined) {
    return true;
  }
  if (last === undefined) {
    return /^(K[0-9a-f]{0,8}(\[[^]*)?)?$/.test(head);
  }
  const isBefore =
    head.startsWith('K') &&
    readHead(head, format) !== undefined &&
    sections.every((text) => text !== head && readSection(text, sumOf(head)));
  return (
    isBefore &&
    (last.startsWith('K') ? last !== head && head.startsWith(last) : /^([SO]|$)/.test(last) && !last.endsWith(head))
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
  return sumOf(text) === hexOf(sum) ? { label, sum, value: JSON.parse(json) } : undefined;
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
