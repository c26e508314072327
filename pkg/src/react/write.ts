// React's hook for writing: writes show at once.

import { useCallback, useMemo, useRef, useState } from 'react';
import { useProvided } from './hooks.js';
import { deltaOf, type StateChange, type StateDelta, type StateRecord } from './pending-writes.js';
import { StatepadError } from '../model/errors.js';
import type { SessionKey } from '../model/types.js';
import type { SessionSource } from '../model/watch.js';

/** Sends a delta to the server; rejects when it is refused. */
export type SessionWriter<T> = (delta: StateDelta, key: SessionKey) => PromiseLike<T>;

/** The answer of {@link useSessionWrite}. */
export interface UseSessionWriteResult<T> {
  /**
   * Writes a delta, or the result of a function of the state: `write({ topic: 'moon' })`. It shows at once; if it is
   * refused, the session shows its stored values again, and `error` is the reason.
   */
  readonly write: (change: StateChange) => void;
  /** As `write`; resolves to the answer of the writer, and rejects when the change is refused. */
  readonly writeAsync: (change: StateChange) => Promise<T>;
  /** True while a write of this component is in flight. */
  readonly isPending: boolean;
  /** The error of the last write that was answered; `undefined` when it succeeded, or a later one is in flight. */
  readonly error: unknown;
}

/**
 * Writes to the session of the enclosing provider, and shows the writes at once. The writes of a page to one session
 * are sent one at a time, in order. Without a `writer` they go to `updateState` of the source, which a
 * `SessionService` has, and a client of `statepad/client`.
 *
 * Throws `INVALID_ARGUMENT` outside of a `SessionProvider`; so does `writeAsync` without a writer where the source
 * has no `updateState`.
 */
export function useSessionWrite(): UseSessionWriteResult<StateRecord>;
export function useSessionWrite<T>(writer: SessionWriter<T>): UseSessionWriteResult<T>;
export function useSessionWrite(writer?: SessionWriter<unknown>): UseSessionWriteResult<unknown> {
  const provided = useProvided();
  const [{ pending, error }, setState] = useState<{ readonly pending: number; readonly error: unknown }>(NOTHING);
  const latest = useRef(writer);
  latest.current = writer;
  const writeAsync = useCallback(
    async (change: StateChange): Promise<unknown> => {
      const { source, key, view } = provided;
      const currentWriter = latest.current;
      setState((before) => ({ pending: before.pending + 1, error: undefined }));
      try {
        const answer = await view.write(change, async (state) =>
          currentWriter === undefined
            ? await update(source, key, change)
            : await currentWriter(deltaOf(change, state), key),
        );
        setState((before) => ({ ...before, pending: before.pending - 1 }));
        return answer;
      } catch (refusal) {
        setState((before) => ({ pending: before.pending - 1, error: refusal }));
        throw refusal;
      }
    },
    [provided],
  );
  const write = useCallback(
    (change: StateChange): void => {
      writeAsync(change).catch(() => undefined);
    },
    [writeAsync],
  );
  const isPending = pending > 0;
  return useMemo(() => ({ write, writeAsync, isPending, error }), [write, writeAsync, isPending, error]);
}

const NOTHING = { pending: 0, error: undefined };

/** The method of a source that writes. */
interface Updates {
  updateState?: (key: SessionKey, fn: (state: StateRecord) => StateDelta) => Promise<StateRecord>;
}

async function update(source: SessionSource, key: SessionKey, change: StateChange): Promise<StateRecord> {
  const service = source as Updates;
  if (typeof service.updateState !== 'function') {
    const message = 'writer is missing: the source of this session cannot write, so useSessionWrite needs a function';
    throw new StatepadError('INVALID_ARGUMENT', message, { path: 'writer' });
  }
  return await service.updateState(key, (state) => deltaOf(change, state));
}
