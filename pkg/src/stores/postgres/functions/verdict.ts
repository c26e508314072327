// What an append is answered that is not written, in the functions that write appends alone. The rules are those of
// `decide`, for the guards that these functions take: `created`, the token of the lease,
// the revision.

import { isOurVersion, wrongVersion } from './common.js';

/** The verdicts about an append, as numbers. */
export const VERDICT = { write: 0, notFound: 1, duplicate: 2, late: 3, conflict: 4, fenced: 5 } as const;

/** SQL expressions of what is there, and of what an append says about it. */
interface Judged {
  /**
   * The number, revision, token and creation of the session that is there, which is locked; null where there is none.
   */
  readonly no: string;
  readonly rev: string;
  readonly fence: string;
  readonly created: string;
  /** The creation, the token and the revision that the session must have; null where it may have any. */
  readonly wantedCreated: string;
  readonly wantedFence: string;
  readonly wantedRev: string;
  readonly id: string;
  readonly call: string;
}

/** The expression of the verdict. The statement that it stands in has to begin when the session is locked. */
export function verdict(schema: string, judged: Judged): string {
  const { no, rev, fence, created, wantedCreated, wantedFence, wantedRev, id, call } = judged;
  // Not `exists`: for many rows a planner would rather read the whole table first.
  return `case
        when coalesce(${wantedCreated} = ${created}, true) and
          (select event.rev from ${schema}.events event where -event.session = -${no} and event.id = ${id}) is not null
          then ${VERDICT.duplicate}
        when (select late.at from ${schema}.refused late where late.call = ${call}) is not null then ${VERDICT.late}
        when ${no} is null or ${wantedCreated} <> ${created} then ${VERDICT.notFound}
        when ${wantedFence} <> ${fence} then ${VERDICT.fenced}
        when ${wantedRev} <> ${rev} then ${VERDICT.conflict}
        else ${VERDICT.write} end`;
}

/** The statements that refuse to go on in a schema of another version. */
export function refuseOtherVersion(schema: string): string {
  return `if not ${isOurVersion(schema)} then
      ${wrongVersion(schema)}
    end if;`;
}

/** The expression of the id of the last event of a session; null at revision 0. */
export function lastEvent(schema: string, no: string, rev: string): string {
  return `(select event.id from ${schema}.events event where event.session = ${no} and event.rev = ${rev} and event.rev > 0)`;
}
