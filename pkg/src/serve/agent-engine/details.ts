// The members of a session that the API has and a service has not: display name, labels, and the time of creation.
//
// Display name and labels are kept in the log: `customMetadata.statepad.session`, `{ displayName?, labels? }`, of an
// event by `system` without content. The last such event counts. This API does not list it.

import { readLog } from './log.js';
import { isObject } from '../../model/value-types.js';
import type { Event, EventInit, Session } from '../../model/types.js';
import type { ServingAccess } from '../../service/serving-access.js';

/** Labels, by their keys. */
export type Labels = Readonly<Record<string, string>>;

/** The members of a session that its log keeps for this API. */
export interface Described {
  readonly displayName?: string | undefined;
  readonly labels?: Labels | undefined;
}

/** The details of a session at a revision. */
export interface Details extends Described {
  /** In milliseconds since the epoch. */
  readonly createTime: number;
}

/** Details that were read. They hold for this revision of this session. */
interface Known {
  readonly revision: number;
  /** The id of the event at this revision; `undefined` at revision 0. */
  readonly last: string | undefined;
  readonly lastUpdateTime: number;
  readonly details: Details;
}

/** The number of sessions whose details are remembered. */
const MAX_KNOWN = 10_000;

/** The event that describes a session. */
export function describingEvent(described: Described): EventInit {
  const { displayName, labels } = described;
  const session = { ...(displayName !== undefined && { displayName }), ...(labels !== undefined && { labels }) };
  return { author: 'system', customMetadata: { statepad: { session } } };
}

/** True for an event that describes its session, which this API does not list. */
export function isDescribing({ author, content, customMetadata }: Event): boolean {
  return author === 'system' && content === undefined && isObject(ownMetadata(customMetadata)['session']);
}

/** The details of sessions. Those that were read are remembered, by the change that created the session. */
export class SessionDetails {
  readonly #known = new Map<string, Known>();

  /** The details of a session as it was read. */
  async of(access: ServingAccess, session: Session): Promise<Details> {
    const created = access.createdOf(session);
    const { revision, lastUpdateTime } = session;
    const known = this.#known.get(created);
    if (known?.revision === revision && known.lastUpdateTime === lastUpdateTime) {
      return known.details;
    }
    if (revision === 0) {
      return this.#keep(created, {
        revision,
        last: undefined,
        lastUpdateTime,
        details: { createTime: lastUpdateTime },
      });
    }
    const read = (await continued(access, session, known)) ?? (await fromTheStart(access, session));
    return this.#keep(created, read);
  }

  #keep(created: string, known: Known): Details {
    this.#known.delete(created);
    this.#known.set(created, known);
    if (this.#known.size > MAX_KNOWN) {
      const [oldest] = this.#known.keys();
      this.#known.delete(oldest as string);
    }
    return known.details;
  }
}

/** Details that continue known ones; `undefined` where they do not, because the store has gone back. */
async function continued(
  access: ServingAccess,
  session: Session,
  known: Known | undefined,
): Promise<Known | undefined> {
  if (known === undefined || known.revision > session.revision) {
    return undefined;
  }
  const { revision, last, details } = known;
  const events = await eventsUpTo(access, session, Math.max(revision, 1));
  const isSame = revision === 0 || events[0]?.id === last;
  return isSame ? knownAt(session, described(revision === 0 ? events : events.slice(1), details), events) : undefined;
}

async function fromTheStart(access: ServingAccess, session: Session): Promise<Known> {
  const { appName, userId, id: sessionId } = session;
  const [events, creation] = await Promise.all([
    eventsUpTo(access, session, 1),
    access.creation({ appName, userId, sessionId }),
  ]);
  const isSame = creation?.created === access.createdOf(session);
  // A store that does not keep the creation has the first event to go by.
  const createTime = (isSame ? creation.time : undefined) ?? events[0]?.timestamp ?? session.lastUpdateTime;
  return knownAt(session, described(events, { createTime }), events);
}

function knownAt({ revision, lastUpdateTime }: Session, details: Details, events: readonly Event[]): Known {
  return { revision, lastUpdateTime, details, last: events.at(-1)?.id };
}

/** The details after some events. */
function described(events: readonly Event[], before: Details): Details {
  const last = events.findLast(isDescribing);
  return last === undefined ? before : { createTime: before.createTime, ...describedBy(last) };
}

function describedBy({ customMetadata }: Event): Described {
  const session = ownMetadata(customMetadata)['session'] as {
    readonly displayName?: unknown;
    readonly labels?: unknown;
  };
  const { displayName, labels } = session;
  return {
    ...(typeof displayName === 'string' && { displayName }),
    ...(isLabels(labels) && { labels }),
  };
}

function isLabels(value: unknown): value is Labels {
  return isObject(value) && Object.values(value).every((label) => typeof label === 'string');
}

/** The events of a session from a revision on, up to the revision at which it was read; none when it was deleted. */
async function eventsUpTo(access: ServingAccess, session: Session, from: number): Promise<readonly Event[]> {
  const { appName, userId, id: sessionId, revision } = session;
  return (await readLog(access, { appName, userId, sessionId }, { from, to: revision })) ?? [];
}

function ownMetadata(customMetadata: Event['customMetadata']): Readonly<Record<string, unknown>> {
  const own = customMetadata?.['statepad'];
  return isObject(own) ? (own as Readonly<Record<string, unknown>>) : {};
}
