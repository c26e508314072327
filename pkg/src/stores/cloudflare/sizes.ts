// The limits of the rows of D1 and Durable Objects.

import { tooBig } from '../../store/refusals.js';
import { entryOf, RECENT_BYTES } from '../sqlite-core/entries.js';
import { jsonColumn, scopeColumn } from '../sqlite-core/statements.js';
import { toColumn } from '../shared/column-text.js';
import { callOf } from '../shared/keys.js';
import type { Change } from '../../store/contract.js';
import type { StoreError } from '../../store/store-error.js';

/** The most bytes of a row, as the platform promises them. It takes a little more. */
const ROW_LIMIT = 2_000_000;
/** An upper bound of the size of a row besides its texts. */
const ROW_REST = 100;

const encoder = new TextEncoder();

/** True if a text of its own fits into a row. */
export function fits(text: string): boolean {
  return bytesOf([text]) <= ROW_LIMIT;
}

/** The refusal of a change with a row that is too big; `undefined` when it has none. */
export function sizeRefusal(change: Change): StoreError | undefined {
  const { id, kind, key, event, delta, digest = '' } = change;
  const call = callOf(change);
  const { appName, userId = '', sessionId = '' } = key;
  const what = kind === 'append' ? `event "${id}"` : `change "${id}"`;
  const entries = [delta.app, delta.user].map((part) => (part === undefined ? '' : entryOf(call, part)));
  return (
    checked(what, [appName, userId, sessionId, id, digest]) ??
    checked(what, [scopeColumn(appName, userId), appName, userId, call, ...entries], ROW_REST + RECENT_BYTES) ??
    checked(what, [call, digest]) ??
    checked(what, [id, event?.data ?? '']) ??
    [delta.app, delta.user, delta.session]
      .flatMap((part) => Object.entries(part?.set ?? {}))
      .map(([name, value]) => checked(`the value of "${name}"`, [name, jsonColumn(value)]))
      .find((error) => error !== undefined)
  );
}

function checked(what: string, texts: readonly string[], rest = ROW_REST): StoreError | undefined {
  const size = bytesOf(texts.map(toColumn)) + rest;
  return size <= ROW_LIMIT ? undefined : tooBig(what, size, ROW_LIMIT);
}

/** The number of bytes of UTF-8; an upper bound of them where that is enough. */
function bytesOf(texts: readonly string[]): number {
  const most = texts.reduce((sum, { length }) => sum + 3 * length, 0);
  return most <= ROW_LIMIT - ROW_REST ? most : texts.reduce((sum, text) => sum + encoder.encode(text).length, 0);
}
