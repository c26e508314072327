// The origin of each value of a template.

import { isStatepadError, type Json, type Placeholder, type Session } from '../../index.js';
import type { SessionOperations } from '../../client.js';

/** A placeholder, its value, and the write that it comes from. */
export interface Explained {
  /** As it stands in the template, without its braces. */
  readonly placeholder: string;
  readonly line: number;
  readonly column: number;
  readonly key: string;
  readonly scope: 'session' | 'user' | 'app' | 'temp' | 'artifact';
  /** The text that it is rendered as; absent where the value is missing. */
  readonly text?: string;
  readonly optional: boolean;
  /** The revision of the session that wrote the key; 0 is its creation. Absent where that is not known. */
  readonly revision?: number;
  readonly author?: string;
  /** The session that wrote a key of the app or the user, where it is another one. */
  readonly by?: string;
}

/** The values, and the moment at which they are. */
export interface Moment {
  readonly source: SessionOperations;
  readonly session: Session;
  readonly revision: number;
  readonly state: Readonly<Record<string, Json>>;
}

/** Explains a placeholder. `render` is its text, if it has a value. */
export async function explained(
  { kind, key, path, optional, line, column }: Placeholder,
  text: string | undefined,
  moment: Moment,
): Promise<Explained> {
  const scope = kind === 'artifact' ? 'artifact' : scopeOf(key);
  const name = kind === 'artifact' ? `artifact.${key}` : spelled(key, path);
  const isStored = scope !== 'artifact' && scope !== 'temp' && text !== undefined;
  // A key may be spelled like a path: the whole key counts first.
  const stored = Object.hasOwn(moment.state, name) ? name : key;
  const write = isStored ? await writeOf(stored, scope, moment) : {};
  return {
    placeholder: name,
    line,
    column,
    key: stored,
    scope,
    optional,
    ...(text !== undefined && { text }),
    ...write,
  };
}

function scopeOf(key: string): 'session' | 'user' | 'app' | 'temp' {
  return (/^(app|user|temp):/.exec(key)?.[1] as 'app' | 'user' | 'temp' | undefined) ?? 'session';
}

/** A key with a path behind it, as templates have it: `cart.items[0].id`. */
export function spelled(key: string, path: readonly (string | number)[]): string {
  return key + path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
}

type Write = Pick<Explained, 'revision' | 'author' | 'by'>;

/** The last write of a key at a moment: by the session itself or, of a shared key, by any. */
async function writeOf(key: string, scope: string, { source, session, revision }: Moment): Promise<Write> {
  const [own] = await source.history(session, key, { until: revision, last: 1 });
  const isNow = revision === session.revision;
  if (scope !== 'session' && isNow) {
    const last = await lastShared(source, session, key);
    const by = last?.by;
    const isOwn = by?.userId === session.userId && by.sessionId === session.id;
    if (last !== undefined && !isOwn) {
      return { by: by === undefined ? 'an update without a session' : `session ${by.sessionId} of ${by.userId}` };
    }
  }
  const author = own?.event?.author;
  return own === undefined ? {} : { revision: own.revision, ...(author !== undefined && { author }) };
}

/** The last write of a shared key by anyone, from a store that keeps the log of it. */
async function lastShared(
  source: SessionOperations,
  { appName, userId }: Session,
  key: string,
): Promise<{ readonly by?: { readonly userId: string; readonly sessionId: string } } | undefined> {
  try {
    return (await source.history({ appName, userId, key }, { last: 1 })).steps.at(-1);
  } catch (error) {
    if (isStatepadError(error) && error.code === 'INVALID_ARGUMENT') {
      return undefined;
    }
    throw error;
  }
}
