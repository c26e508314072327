// What a fork is to become.

import type { AdmittedDelta } from '../input/admit.js';
import type { EventDraft } from '../input/event-draft.js';
import type { SessionKey } from '../model/types.js';

/** A fork, understood. */
export interface ForkPlan {
  readonly key: SessionKey;
  /** Nobody else knows its id. */
  readonly isNew: boolean;
  readonly source: ForkSource;
  /** The revision that was asked for; absent for the present one. */
  readonly at: number | undefined;
  /** That revision, or the present one. */
  readonly revision: number;
  /** What it begins with. */
  readonly state: AdmittedDelta;
  /** The event that brings it to a revision, from 1 to that of the source. */
  readonly eventAt: (revision: number) => EventDraft;
  /** The event behind those up to a revision, which says where it comes from. Without `id` it gets one of its own. */
  readonly lastEvent: (revision: number, id?: string) => EventDraft;
}

/** The session that a fork comes from. */
export interface ForkSource {
  readonly sessionId: string;
  /** What tells it from another session of its key. */
  readonly created: string;
  /** The id of its event at a revision; `undefined` at revision 0. */
  readonly lastAt: (revision: number) => string | undefined;
}
