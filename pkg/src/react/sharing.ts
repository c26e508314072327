// Structural sharing: unchanged values stay the same objects, so that they can stand in a list of dependencies.

import { put, sameJson } from '../model/json.js';
import type { Json, Session } from '../model/types.js';

/** A session that shares all equal values with the one before; the one before itself, when nothing has changed. */
export function shared(before: Session | undefined, session: Session): Session {
  if (before === undefined || before === session || before.id !== session.id) {
    return Object.isFrozen(session) ? session : Object.freeze({ ...session });
  }
  const state = sharedState(before.state, session.state);
  const isSameLog =
    before.revision === session.revision &&
    before.events.length === session.events.length &&
    before.events.at(-1)?.id === session.events.at(-1)?.id;
  const isSameTime = before.lastUpdateTime === session.lastUpdateTime && before.expireTime === session.expireTime;
  if (state === before.state && isSameLog && isSameTime) {
    return before;
  }
  return Object.freeze({ ...session, state, events: isSameLog ? before.events : session.events });
}

type State = Readonly<Record<string, Json>>;

function sharedState(before: State, after: State): State {
  if (before === after) {
    return before;
  }
  const state: Record<string, Json> = {};
  let isSame = Object.keys(before).length === Object.keys(after).length;
  for (const [key, value] of Object.entries(after)) {
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    const isKept = old !== undefined && sameJson(old, value);
    put(state, key, isKept ? old : value);
    isSame &&= isKept;
  }
  return isSame ? before : Object.freeze(state);
}
