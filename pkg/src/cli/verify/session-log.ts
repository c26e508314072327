// The log of a session: it is complete, and writes what the session has.

import { named, note, problem, type Fault } from './fault.js';
import { applyChange, isStatepadError } from '../../index.js';
import type { SessionOperations } from '../../client.js';
import type { Event, Json, Session, SessionKey, SessionService } from '../../index.js';

/** Sessions to check, and the service over them, if it is in this process. */
export interface Checked {
  readonly source: SessionOperations;
  readonly service: SessionService | undefined;
  readonly signal: AbortSignal;
}

/** The findings in one session, and the number of its events. */
export interface SessionFindings {
  readonly faults: readonly Fault[];
  readonly events: number;
}

type Values = Readonly<Record<string, Json>>;

/** Checks a session. One that was deleted meanwhile has no findings. */
export async function checkedSession(checked: Checked, key: SessionKey): Promise<SessionFindings> {
  try {
    const session = await checked.source.getSession({ ...key, signal: checked.signal });
    if (session === undefined) {
      return { faults: [], events: 0 };
    }
    const faults = [
      ...numberFaults(key, session),
      ...eventFaults(key, session.events),
      ...(await replayFaults(checked, key, session)),
      ...(await forkFaults(checked, key, session.events)),
    ];
    return { faults, events: session.events.length };
  } catch (error) {
    if (isStatepadError(error) && error.code === 'STORE_CORRUPT') {
      return { faults: [problem(key, error.message)], events: 0 };
    }
    throw error;
  }
}

function numberFaults(key: SessionKey, { revision, events }: Session): Fault[] {
  return events.length === revision
    ? []
    : [problem(key, `it is at revision ${revision}, and has ${events.length} events`)];
}

/** Events have ids of their own, and times; a rewind names an invocation before it. */
function eventFaults(key: SessionKey, events: readonly Event[]): Fault[] {
  const faults: Fault[] = [];
  const ids = new Map<unknown, number>();
  const invocations = new Set<unknown>();
  for (const [index, { id, timestamp, invocationId, actions }] of (events as readonly Partial<Event>[]).entries()) {
    const revision = index + 1;
    const earlier = ids.get(id);
    if (typeof id !== 'string' || id === '') {
      faults.push(problem(key, `the event of revision ${revision} has no id`));
    } else if (earlier !== undefined) {
      faults.push(problem(key, `the events of revisions ${earlier} and ${revision} have one id, ${named([id])}`));
    }
    ids.set(id, revision);
    if (!Number.isFinite(timestamp)) {
      faults.push(problem(key, `the event of revision ${revision} has no time`));
    }
    const before = actions?.rewindBeforeInvocationId;
    if (typeof before === 'string' && before !== '' && !invocations.has(before)) {
      faults.push(problem(key, `revision ${revision} rewinds to before ${named([before])}, which no event has`));
    }
    invocations.add(invocationId);
  }
  return faults;
}

/** The session's own values are those that its creation and its events write. */
async function replayFaults(checked: Checked, key: SessionKey, session: Session): Promise<Fault[]> {
  const { stored, replayed } = await replayedBy(checked, session);
  const names = [...new Set([...Object.keys(stored), ...Object.keys(replayed)])];
  const different = names.filter((name) => JSON.stringify(stored[name]) !== JSON.stringify(replayed[name]));
  return different.length === 0
    ? []
    : [problem(key, `its events write other values than it has, under ${named(different)}`)];
}

async function replayedBy(
  { source, service, signal }: Checked,
  session: Session,
): Promise<{ readonly stored: Values; readonly replayed: Values }> {
  if (service !== undefined) {
    return await (await service.logReader({ signal })).replayed(session, signal);
  }
  const place = { revision: 0, user: 0, app: 0 };
  const state = await source.stateAt(session, 0, { signal });
  let replayed: Session = { ...plain(session), state: ownValues(state), events: [], revision: 0 };
  for (const [index, event] of session.events.entries()) {
    const change = { type: 'event', revision: index + 1, event, place } as const;
    // Only the state is of interest.
    replayed = { ...plain(applyChange(replayed, change) ?? replayed), events: [] };
  }
  return { stored: ownValues(session.state), replayed: replayed.state };
}

function plain({ id, appName, userId, state, events, lastUpdateTime, revision }: Session): Session {
  return { id, appName, userId, state, events, lastUpdateTime, revision };
}

function ownValues(state: Values): Values {
  return Object.fromEntries(Object.entries(state).filter(([name]) => !/^(?:app|user|temp):/.test(name)));
}

/** A fork names a session that has, or had, the revision that it continues from. */
async function forkFaults({ source, signal }: Checked, key: SessionKey, events: readonly Event[]): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const { customMetadata } of events) {
    const { forkedFrom } = (customMetadata?.['statepad'] ?? {}) as { readonly forkedFrom?: unknown };
    const { sessionId, revision } = (forkedFrom ?? {}) as {
      readonly sessionId?: unknown;
      readonly revision?: unknown;
    };
    if (forkedFrom === undefined) {
      continue;
    }
    if (typeof sessionId !== 'string' || typeof revision !== 'number') {
      faults.push(problem(key, 'it is a fork, and does not name its source'));
      continue;
    }
    const origin = await source.getSession({ ...key, sessionId, config: { numRecentEvents: 0 }, signal });
    if (origin === undefined) {
      faults.push(note(key, `it is a fork of session ${sessionId}, which is not there any more`));
    } else if (origin.revision < revision) {
      const reason = `it is a fork of session ${sessionId} at revision ${revision}`;
      faults.push(note(key, `${reason}, which is at ${origin.revision}: it is another one by now`));
    }
  }
  return faults;
}
