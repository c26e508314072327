// A session as the API answers it.

import { sessionName, type EngineTarget } from './target.js';
import { timeText } from './moments.js';
import { visibleSession } from '../../http/visible.js';
import type { Details } from './details.js';
import type { EngineCall } from './call.js';
import type { Json, Session } from '../../model/types.js';

/** A session in an answer. It has no `expireTime`: sessions do not expire. */
export async function describeSession(call: EngineCall, session: Session): Promise<object> {
  const { access, details, rights, target } = call;
  return sessionAnswer(target, visibleSession(rights, session), await details.of(access, session));
}

/** The members of a session in their order. */
export function sessionAnswer(
  target: EngineTarget,
  { id, userId, lastUpdateTime, state }: Pick<Session, 'id' | 'userId' | 'lastUpdateTime' | 'state'>,
  { createTime, displayName, labels }: Details,
): object {
  return {
    name: sessionName(target, id),
    createTime: timeText(createTime),
    updateTime: timeText(lastUpdateTime),
    ...(displayName !== undefined && displayName !== '' && { displayName }),
    ...(hasMembers(state) && { sessionState: state }),
    ...(labels !== undefined && hasMembers(labels) && { labels }),
    userId,
  };
}

function hasMembers(record: Readonly<Record<string, Json>>): boolean {
  return Object.keys(record).length > 0;
}
