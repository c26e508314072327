// The views in use: all providers of one source and one key share one.

import { SessionView } from './session-view.js';
import type { Session, SessionKey } from '../model/types.js';
import type { SessionSource } from '../model/watch.js';

/**
 * The time that a view is cached after its last use, in milliseconds: shown again, it is there at once, and only
 * later changes are read.
 */
const REMEMBERED_MS = 30_000;

const views = new WeakMap<SessionSource, Map<string, SessionView>>();

/** The one view of a session of a source. `initial` is its session when it is made. */
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
    // A view for a component that is never shown.
    forgetLater(view);
  }
  return view;
}
