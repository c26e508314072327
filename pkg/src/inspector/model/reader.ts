// The part of a service that the inspector reads.

import type { HistoryStep, Json, Session, SessionKey } from 'statepad';

/** The source of an inspection: a service, or a substitute. */
export interface SessionReader {
  getSession(key: SessionKey): Promise<Session | undefined>;
  listSessions(request: {
    readonly appName: string;
    readonly order: 'desc';
  }): Promise<{ readonly sessions: readonly Session[] }>;
  stateAt(session: Session, revision: number): Promise<Readonly<Record<string, Json>>>;
  history(
    session: Session,
    key: string,
    options?: { readonly until?: number; readonly last?: number },
  ): Promise<readonly HistoryStep[]>;
}
