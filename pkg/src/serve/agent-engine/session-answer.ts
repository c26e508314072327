// A session as the API answers it.

import { sessionName, type EngineTarget } from './target.js';
import { timeText } from './moments.js';
import { visibleSession } from '../../http/visible.js';
import type { Details } from './details.js';
import type { EngineCall } from './call.js';
import type { Json, Session } from '../../model/types.js';

/** A session in an answer. It has an `expireTime` where it expires. */
export async function describeSession(call: EngineCall, session: Session): Promise<object> {
  const { access, details, rights, target } = call;
  return sessionAnswer(target, visibleSession(rights, session), await details.of(access, session));
}

/** The members of a session in their order. */
export function sessionAnswer(
  target: EngineTarget,
  session: Pick<Session, 'id' | 'userId' | 'lastUpdateTime' | 'state' | 'expireTime'>,
  { createTime, displayName, labels }: Details,
): object {
  const { id, userId, lastUpdateTime, state, expireTime } = session;
  return {
    name: sessionName(target, id),
    createTime: timeText(createTime),
    updateTime: timeText(lastUpdateTime),
    ...(displayName !== undefined && displayName !== '' && { displayName }),
    ...(hasMembers(state) && { sessionState: state }),
    ...(labels !== undefined && hasMembers(labels) && { labels }),
    userId,
    ...(expireTime !== undefined && { expireTime: timeText(expireTime) }),
  };
}

function hasMembers(record: Readonly<Record<string, Json>>): boolean {
  return Object.keys(record).length > 0;
}
