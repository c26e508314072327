// The sessions that are shown: all providers of one source and one key share what they follow.

import { SessionView } from './session-view.js';
import type { Session, SessionKey } from '../model/types.js';
import type { SessionSource } from '../model/watch.js';

/**
 * For how long a session that nobody shows any more is remembered, in milliseconds: shown again, it is there at once,
 * and only what has changed since is read.
 */
const REMEMBERED_MS = 30_000;

const views = new WeakMap<SessionSource, Map<string, SessionView>>();

/** The one view of a session of a source. `initial` is what it begins with when it is made. */
export function viewOf(source: SessionSource, key: SessionKey, initial: Session | undefined): SessionView {
  let ofSource = views.get(source);
  if (ofSource === undefined) {
    ofSource = new Map();
    views.set(source, ofSource);
  }
  const name = JSON.stringify([key.appName, key.userId, key.sessionId]);
  let view = ofSource.get(name);
  if (view === undefined) {
    const known = ofSource;
    const forgetLater = (idle: SessionView): void => {
      const timer = setTimeout(() => {
        if (idle.isIdle && known.get(name) === idle) {
          known.delete(name);
        }
      }, REMEMBERED_MS);
      (timer as { unref?: () => void }).unref?.();
    };
    view = new SessionView(source, key, initial, forgetLater);
    ofSource.set(name, view);
    // One that was made for a component that is never shown.
    forgetLater(view);
  }
  return view;
}
