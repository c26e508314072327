// Events as the function for batches of them takes them, and their columns.

import { roomOf, type Growth } from './limits.js';
import { movedNames } from './moved-names.js';
import { PARTS } from './operators.js';
import { partsOfReservation } from './reservations.js';
import { toColumn } from '../shared/column-text.js';
import { namesIn } from '../shared/values.js';
import { isWellFormed } from '../../model/json.js';
import type { Change } from '../../store/contract.js';

/** An event without operators, without the guards and notes that are rare, and without deletions of shared values. */
export type PlainAppend = Change & { readonly kind: 'append' };

/** True if the function can write these changes: each a {@link PlainAppend} to a session of its own. */
export function isPlainBatch(changes: readonly Change[]): changes is readonly PlainAppend[] {
  const sessions = changes.map(({ key }) => JSON.stringify([key.appName, key.userId, key.sessionId]));
  return changes.every(isPlainAppend) && new Set(sessions).size === changes.length;
}

function isPlainAppend(change: Change): change is PlainAppend {
  const { kind, guard, attempt, reservation, delta, operators } = change;
  return (
    kind === 'append' &&
    guard?.pos === undefined &&
    guard?.keys === undefined &&
    attempt === undefined &&
    operators === undefined &&
    partsOfReservation(reservation) === undefined &&
    [delta.app, delta.user].every((part) => !part?.unset?.length) &&
    isReadable(change)
  );
}

/**
 * True if all texts of a change go to Postgres as they are. A lone surrogate in a parameter would be replaced without
 * a word; the function for every change refuses it.
 */
function isReadable({ id, call = '', key, event, delta, guard, known }: Change): boolean {
  const names = PARTS.flatMap((part) => namesIn(delta[part] ?? {}));
  const { appName, userId = '', sessionId = '' } = key;
  const { app = '', user = '' } = known?.marks ?? {};
  const texts = [appName, userId, sessionId, id, call, event?.data ?? '', guard?.created ?? '', app, user];
  return texts.every(isWellFormed) && names.every(isWellFormed);
}

/** The columns of an event that are sent beside its values. */
export interface AppendColumns {
  readonly created: string | null;
  readonly rev: number | null;
  readonly fence: number | null;
  readonly id: string;
  readonly call: string;
  readonly time: number;
  readonly at: number;
  readonly data: string;
  /** The names that it moves the app and the user by, as JSON lists; null where it does not. */
  readonly appNames: string | null;
  readonly userNames: string | null;
  /** The most events, names and bytes of the session before it, as in a `Room`. */
  readonly maxRev: number | null;
  readonly maxNames: number | null;
  readonly maxBytes: number | null;
}

/** The columns of an event that are sent beside its values, which let the session and its scopes grow so much. */
export function columnsOf(change: PlainAppend, growth: readonly Growth[]): AppendColumns {
  const { id, call, time, event, guard } = change;
  const [ofApp, ofUser] = [movedNames(change, 'app'), movedNames(change, 'user')];
  const [maxRev = null, maxNames = null, maxBytes = null] = roomOf(change, growth.slice(0, 1)) ?? [];
  return {
    created: guard?.created === undefined ? null : toColumn(guard.created),
    rev: guard?.rev ?? null,
    fence: guard?.fence ?? null,
    id: toColumn(id),
    call: toColumn(call ?? id),
    time,
    at: event?.time ?? time,
    data: toColumn(event?.data ?? ''),
    appNames: ofApp && JSON.stringify(ofApp),
    userNames: ofUser && JSON.stringify(ofUser),
    ...{ maxRev, maxNames, maxBytes },
  };
}
