// The messages between the tabs of one origin.

import { DELETED, isDeleted } from '../../../model/deletion.js';
import { StatepadError, type ErrorCode } from '../../../model/errors.js';
import { deepFreeze } from '../../../model/json.js';
import type { SessionKey } from '../../../model/types.js';
import type { WholePlace, WholeSessionChange } from '../../../model/watch.js';

/** A message of one tab to all others, or to one of them, which the message names. */
export type Message =
  /** Asks for the leader, and a sign that it still runs. The leader answers with `leads`. */
  | { readonly type: 'hello' }
  /** Announces the leader. Each period of leading is a term. */
  | { readonly type: 'leads'; readonly term: string }
  /** Asks the leader of a term to watch a session for a tab. */
  | ({ readonly type: 'watch'; readonly term: string; readonly from: string } & WatchRequest)
  /** Ends a watch. */
  | { readonly type: 'stop'; readonly watch: string }
  /** A change for a watch. */
  | { readonly type: 'change'; readonly watch: string; readonly text: string }
  /** Reports that a watch has ended, or has failed. */
  | { readonly type: 'end'; readonly watch: string; readonly error?: Failure };

/** A request to the leader for a watch. */
export interface WatchRequest {
  /** The unique name of the watch. */
  readonly watch: string;
  readonly key: SessionKey;
  readonly since?: WholePlace;
  readonly initial?: boolean;
  readonly poll?: number;
}

/** An error in a message. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
}

export function failureOf(error: unknown): Failure {
  const { code, message } = error as Partial<StatepadError>;
  return { code: code ?? 'STORE_UNAVAILABLE', message: message ?? String(error) };
}

export const errorOf = ({ code, message }: Failure): StatepadError => new StatepadError(code, message);

/** The mark of a deletion in a text: no JSON value of a delta is an object with this member alone. */
const MARK = 'statepad:deleted';

/** A change as text. */
export function writeWhole(change: WholeSessionChange): string {
  if (change.type !== 'values') {
    return JSON.stringify(change);
  }
  const deleted = Object.keys(change.delta).filter((key) => isDeleted(change.delta[key]));
  return JSON.stringify({ ...change, [MARK]: deleted });
}

/** The change in a text, frozen. */
export function readWhole(text: string): WholeSessionChange {
  const { [MARK]: deleted = [], ...change } = JSON.parse(text) as {
    [MARK]?: string[];
    delta?: Record<string, unknown>;
  };
  for (const key of deleted) {
    // It is present, as `null`.
    Object.defineProperty(change.delta, key, { value: DELETED, enumerable: true, configurable: true, writable: true });
  }
  return deepFreeze(change) as unknown as WholeSessionChange;
}
