// The source of an inspection: sessions to read, and perhaps to write.

import type { SessionOperations } from '../../client.js';

/**
 * The sessions that an inspector shows: a `SessionService`, a client of `statepad/client`, or anything with the same
 * methods. Methods that write are used only by an inspector that may write; a source without them is read-only.
 */
export type InspectorSource = Pick<
  SessionOperations,
  'getSession' | 'listSessions' | 'listApps' | 'listUsers' | 'stateAt' | 'history' | 'watch'
> &
  Partial<Pick<SessionOperations, 'appendEvent' | 'createSession' | 'deleteSession' | 'fork' | 'leaseOf'>>;

/** A source that can be written to. */
export type WritableSource = InspectorSource &
  Required<Pick<InspectorSource, 'appendEvent' | 'createSession' | 'deleteSession'>>;

/** True when a source can be written to. */
export function isWritable(source: InspectorSource): source is WritableSource {
  return ['appendEvent', 'createSession', 'deleteSession'].every((name) => name in source);
}
