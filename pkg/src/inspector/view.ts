// The view of an inspector: the session, the moment, the event and the key on show.

import type { Inspection } from './model/inspection.js';
import type { SessionKey } from '../index.js';

/** A view of an inspector, as an address can name it. */
export interface InspectorView {
  readonly session: SessionKey;
  /** The revision on show; absent for now, which moves on with the session. */
  readonly moment?: number | undefined;
  /** The revision of the event that is shown in full. */
  readonly event?: number | undefined;
  /** The key whose history is shown. */
  readonly key?: string | undefined;
}

/** The view of an inspection; `undefined` while it shows no session. */
export function viewOf({ session, isNow, revision, selected, traced }: Inspection): InspectorView | undefined {
  if (session === undefined) {
    return undefined;
  }
  const { appName, userId, id: sessionId } = session;
  return {
    session: { appName, userId, sessionId },
    moment: isNow ? undefined : revision,
    event: selected,
    key: traced,
  };
}

/** The other requests to show a view. */
export interface OtherViews {
  /** True while an earlier one is under way: it may open its session at any moment. */
  readonly isUnderWay: boolean;
  /** True once a later one has come. */
  readonly isLater: () => boolean;
}

/**
 * Makes an inspection show a view, unless a later one comes in between. Resolves to its missing parts, as sentences.
 * Throws when the session is missing, and the errors of the source.
 */
export async function showView(
  inspection: Inspection,
  view: InspectorView,
  { isUnderWay, isLater }: OtherViews,
): Promise<readonly string[]> {
  if (isUnderWay || !isOnShow(inspection, view.session)) {
    await inspection.open(view.session);
  }
  const last = inspection.session?.revision ?? 0;
  const missing: string[] = [];
  const within = (revision: number | undefined, name: string): number | undefined => {
    if (revision === undefined || revision <= last) {
      return revision;
    }
    missing.push(`There is no ${name} ${revision}: the session has ${last} ${last === 1 ? 'event' : 'events'}.`);
    return undefined;
  };
  const moment = within(view.moment, 'moment');
  if (!isLater()) {
    await inspection.moveTo(moment === last ? undefined : moment);
  }
  if (!isLater()) {
    const event = within(view.event, 'event');
    inspection.select(event === 0 ? undefined : event);
    inspection.trace(view.key);
  }
  return missing;
}

function isOnShow({ session }: Inspection, { appName, userId, sessionId }: SessionKey): boolean {
  return session?.appName === appName && session.userId === userId && session.id === sessionId;
}
