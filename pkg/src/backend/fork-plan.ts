// The plan of a fork.

import type { AdmittedDelta } from '../input/admit.js';
import type { EventDraft } from '../input/event-draft.js';
import type { Ending } from '../input/expiry.js';
import type { Once } from '../model/once.js';
import type { SessionKey } from '../model/types.js';

/** A checked request to fork. */
export interface ForkPlan {
  readonly key: SessionKey;
  /** True when the id was generated: nobody else knows it. */
  readonly isNew: boolean;
  /** The request that it is for, where that has an identity. */
  readonly once?: Once | undefined;
  /** The unique part of the creation id; generated when it is absent. */
  readonly unique?: string | undefined;
  readonly source: ForkSource;
  /** The requested revision; absent for the current one. */
  readonly at: number | undefined;
  /** The requested revision, or the current one. */
  readonly revision: number;
  /** Absent: the fork does not expire. */
  readonly expires?: Ending | undefined;
  /** The initial state. */
  readonly state: AdmittedDelta;
  /** The event of a revision, from 1 to that of the source. */
  readonly eventAt: (revision: number) => EventDraft;
  /** The event after those up to a revision, which names the source. Without `id` it gets one of its own. */
  readonly lastEvent: (revision: number, id?: string) => EventDraft;
}

/** The source of a fork. */
export interface ForkSource {
  readonly sessionId: string;
  /** The creation id, which distinguishes it from another session of its key. */
  readonly created: string;
  /** The id of its event at a revision; `undefined` at revision 0. */
  readonly lastAt: (revision: number) => string | undefined;
}
