// The creation of a session.

import { sessionExists } from '../../store/refusals.js';
import { isEmpty } from '../shared/values.js';
import { CREATION_LABEL, labelOf } from './labels.js';
import { SessionLog } from './session-log.js';
import { createdOf, endOf, hasEnded, scopeText, stateOf, type Sessions } from './sessions.js';
import { stateDelta } from './state.js';
import { timeOf, toRfc3339 } from './times.js';
import { refusalOf, writeOnce, type Written } from './write-once.js';
import { MAX_LOOKS, type ApiSession, type Resource } from './api.js';
import type { Settings } from './options.js';
import type { Change, Committed, Expiry } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** Creates a session, see `SessionStore.commit`. */
export async function createSession(
  sessions: Sessions,
  { expiry }: Pick<Settings, 'expiry'>,
  change: Change,
  of: Resource,
): Promise<Committed> {
  const key = change.key as SessionKey;
  const label = labelOf(change.id);
  const sessionState = stateDelta(change.delta);
  const body = {
    userId: key.userId,
    ...(Object.keys(sessionState).length > 0 && { sessionState }),
    ...(label !== undefined && { labels: { [CREATION_LABEL]: label } }),
    ...(change.expires === undefined ? expiry : apiExpiry(change.expires)),
  };
  const { api } = sessions;
  const send = async () => await api.create(of, key.sessionId, body);
  const read = (): true => true;
  const look = async (): Promise<true | undefined> =>
    isOf(change, await lookAfterLoss(api.get(of), label)) ? true : undefined;
  const written = await writeOnce(api.client, { send, read, look }, of);
  if (written.kind === 'refused') {
    return await afterRefusal(sessions, change, label, written, of);
  }
  sessions.keep(key, SessionLog.ofNew(label === undefined ? undefined : change.id));
  return madeNow(sessions, change);
}

/** The answer to a creation. The API alone knows the end that comes of a duration. */
function madeNow(sessions: Sessions, change: Change): Committed {
  const pos = positionsAfter(sessions, change);
  const { at } = change.expires ?? {};
  return { rev: 0, prev: null, pos, ...(at !== undefined && { expires: timeOf(toRfc3339(at)) }) };
}

/** The end of a session as the API takes it. Throws `rejected` for a time that it has no words for. */
function apiExpiry({ at, ttl }: Expiry): Settings['expiry'] {
  return ttl === undefined ? { expireTime: toRfc3339(at) } : { ttl: `${Math.ceil(ttl) / 1_000}s` };
}

/** The session that is there after an answer was lost. Without a label its maker is unknown. */
async function lookAfterLoss(
  getting: Promise<ApiSession | undefined>,
  label: string | undefined,
): Promise<ApiSession | undefined> {
  const session = await getting;
  if (session !== undefined && label === undefined) {
    throw new Error(
      'the id of the creation does not fit into a label: it is unknown whether this creation made the session',
    );
  }
  return session;
}

/**
 * A taken id may be that of an earlier try, or of one that another service has sent: a session that is being made is
 * not there yet, but its id is taken.
 */
async function afterRefusal(
  sessions: Sessions,
  change: Change,
  label: string | undefined,
  refused: Extract<Written<unknown>, { kind: 'refused' }>,
  of: Resource,
): Promise<Committed> {
  const { error } = refused;
  if (error.http !== 409 && !(error.http === 400 && /already exists/i.test(error.message))) {
    throw refusalOf(refused);
  }
  const key = change.key as SessionKey;
  const mayBeOwn = !refused.isSure || change.attempt !== undefined;
  const session = await onceMade(sessions, of);
  if (session === undefined) {
    throw mayBeOwn ? unknown('does not appear, although its id is taken') : sessionExists(change);
  }
  if (!isOf(change, session)) {
    const isLabelled = label !== undefined || session.userId !== key.userId;
    throw mayBeOwn && !isLabelled ? unknown('has no label of its creation') : sessionExists(change);
  }
  if (!refused.isSure) {
    // An earlier try of this very call has made it.
    return madeNow(sessions, change);
  }
  const pos = sessions.positionsOf(key, stateOf(session));
  if (hasEnded(session)) {
    return { rev: 0, prev: 0, pos, duplicate: true };
  }
  const first = session.updateTime === session.createTime ? undefined : await sessions.readFirst(of, 'all');
  const rev = first?.[0].rev ?? 0;
  return { rev, prev: rev, pos, duplicate: true, ...endOf(session) };
}

/** The session of a taken id, once it is there: it is waited for. `undefined` when it does not come. */
async function onceMade({ api }: Sessions, of: Resource): Promise<ApiSession | undefined> {
  for (let look = 1; ; look++) {
    const session = await api.get(of);
    if (session !== undefined || look > MAX_LOOKS) {
      return session;
    }
    await api.client.pauseAfter(look, 0, of);
  }
}

/** No `StoreError`, which would say that nothing was written. */
function unknown(why: string): Error {
  return new Error(`the creator of the session is unknown: it ${why}`);
}

/** True when a session was made by a change, for its user. */
function isOf({ id, key }: Change, session: ApiSession | undefined): boolean {
  return session !== undefined && session.userId === key.userId && createdOf(session) === id;
}

/** The API does not answer with the present values of the app and the user: they have to be read. */
function positionsAfter({ positions }: Sessions, { key, delta }: Change): Committed['pos'] {
  const { appName: app, userId: user } = key;
  return {
    app: isEmpty(delta.app) ? positions.unknown() : positions.positionAfter(scopeText(app)),
    user: isEmpty(delta.user) ? positions.unknown() : positions.positionAfter(scopeText(app, user)),
  };
}
