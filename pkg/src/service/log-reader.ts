// Reads the logs of sessions, for another place or for a check. Loaded at the first call.

import { sessionValues } from '../session/session-scope.js';
import { replayedValues, stateAt } from '../session/history.js';
import { stateOf } from '../session/handle.js';
import { wholeCore } from '../engine/wasm.js';
import type { SessionBackend } from '../backend/backend.js';
import type { Json, SessionName } from '../model/types.js';
import type { Signal } from '../async/abort.js';

/** The beginning of a session, as it can be created again. */
export interface Beginning {
  /** The time of creation, in milliseconds since the epoch; absent where the store does not know it. */
  readonly timestamp?: number;
  /** The time from a write to the end of the session, in milliseconds, where writes move that. */
  readonly ttl?: number;
  /** The values of the creation under full keys; where the store does not know them, the keys that no event wrote. */
  readonly state: Readonly<Record<string, Json>>;
}

/** The own values of a session at one moment, in two ways. */
export interface Replayed {
  /** Those that the store has. */
  readonly stored: Readonly<Record<string, Json>>;
  /** Those that the log of the session writes. */
  readonly replayed: Readonly<Record<string, Json>>;
}

/** Reads logs. Unlike `stateAt` and `history` it never asks for the past of app and user values. */
export interface LogReader {
  /** The beginning of a session. Throws `SESSION_NOT_FOUND`, `STORE_CORRUPT`. */
  beginning(session: SessionName, signal?: Signal): Promise<Beginning>;
  /** The own values of a session, as they are stored and as its log writes them. Throws as `beginning`. */
  replayed(session: SessionName, signal?: Signal): Promise<Replayed>;
}

/** See `SessionService.logReader`. */
export function logReader(sessions: SessionBackend): LogReader {
  return {
    beginning: async (session, signal) => {
      const view = await sessions.loadHistory(session, signal);
      const { creation } = view.record;
      if (creation !== undefined && creation !== 'unknown') {
        return creation;
      }
      await wholeCore();
      return { state: sessionValues(stateAt(view, 0)) };
    },
    replayed: async (session, signal) => {
      const view = await sessions.loadHistory(session, signal);
      await wholeCore();
      return { stored: sessionValues((view.state ??= stateOf(view))), replayed: replayedValues(view) };
    },
  };
}
