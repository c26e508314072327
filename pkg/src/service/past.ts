// The past of a session and of its shared scopes. Loaded at the first question.

import { defined } from '../model/defined.js';
import { history as sessionHistory, stateAt as sessionStateAt } from '../session/history.js';
import { checkCount, checkOptions } from '../checks/arguments.js';
import { checkSharedKey, checkTrim } from '../input/past-requests.js';
import { sessionValues } from '../session/session-scope.js';
import { checkKeepsRevisions } from './store-requirements.js';
import { OPTIONS } from '../input/requests.js';
import { deepFreeze } from '../model/json.js';
import { mergeRecords, nameOf } from '../model/scope.js';
import type { SessionBackend } from '../backend/backend.js';
import type { HistoryOptions, HistoryStep, SessionName, UpdateStateTarget } from '../model/types.js';
import type {
  DetailedHistory,
  DetailedState,
  SharedHistory,
  SharedKey,
  SharedStep,
  TrimOptions,
} from '../model/past.js';
import type { Signal } from '../async/abort.js';

/** See `SessionService.stateAt`. */
export async function stateAt(
  sessions: SessionBackend,
  session: SessionName,
  revision: number,
  signal: Signal | undefined,
): Promise<DetailedState> {
  checkKeepsRevisions(sessions, 'the state of a revision is unknown');
  const view = await sessions.loadHistory(session, signal);
  const own = sessionStateAt(view, revision);
  const shared = await (await sessions.past()).at(view, revision, own, signal);
  const state = shared === undefined ? own : deepFreeze(mergeRecords([sessionValues(own), shared]));
  return Object.freeze({ state, exact: shared !== undefined });
}

/** See `SessionService.history`. */
export async function history(
  sessions: SessionBackend,
  session: SessionName,
  key: string,
  options: HistoryOptions,
): Promise<DetailedHistory> {
  const view = await sessions.loadHistory(session, options.signal);
  const steps = sessionHistory(view, key, options);
  const [scope] = nameOf(key);
  if (scope === 'session' || steps.length === 0) {
    return Object.freeze({ exact: true, steps });
  }
  const { appName, userId, sessionId } = view.record.key;
  const owner = { appName, userId: scope === 'app' ? undefined : userId };
  const shared = await (await sessions.past()).steps(owner, key, options.signal);
  const own = shared.steps.filter(({ by }) => by?.userId === userId && by.sessionId === sessionId);
  const byEvent = new Map(own.map((step) => [step.by?.eventId, step]));
  // The deletion of a missing key wrote nothing: a complete log does not have it.
  const exact = shared.exact || steps.every(({ event }) => byEvent.has(event?.id));
  const detailed = steps.map((step) => withFrom(step, byEvent.get(step.event?.id), exact));
  return Object.freeze({ exact, steps: Object.freeze(detailed) });
}

/** See `SessionService.history` of a shared key. */
export async function sharedHistory(
  sessions: SessionBackend,
  request: SharedKey,
  options: HistoryOptions,
): Promise<SharedHistory> {
  const { appName, userId, key } = checkSharedKey(request);
  checkOptions(options, OPTIONS.history);
  const { until, last, signal } = options;
  signal?.throwIfAborted();
  checkCount(last, 'last');
  checkCount(until, 'until');
  checkKeepsRevisions(sessions, `the past of "${key}" is unknown`);
  const [scope] = nameOf(key);
  const owner = { appName, userId: scope === 'app' ? undefined : userId };
  const { exact, steps } = await (await sessions.past()).steps(owner, key, signal);
  const matching = until === undefined ? steps : steps.filter(({ position }) => position <= until);
  const limited = last === undefined ? matching : matching.slice(Math.max(0, matching.length - last));
  return deepFreeze({ exact, steps: limited.map((step) => ({ ...step })) });
}

/** See `SessionService.trimHistory`. */
export async function trimHistory(
  sessions: SessionBackend,
  target: UpdateStateTarget,
  options: TrimOptions,
): Promise<number> {
  const { appName, userId } = checkTrim(target, options);
  options.signal?.throwIfAborted();
  return await (await sessions.past()).trim({ appName, userId }, options, options.signal);
}

/** A step of a session with the value before it, by any writer, where it is known. */
function withFrom(step: HistoryStep, shared: SharedStep | undefined, isKnown: boolean): HistoryStep {
  if (shared === undefined && !isKnown) {
    return step;
  }
  const { revision, timestamp, event, to } = step;
  const from = shared?.from;
  return Object.freeze(defined({ revision, timestamp, event, from: deepFreeze(from), to }));
}
