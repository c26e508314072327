// The deletion of a session.

import { createdOf, type Sessions } from './sessions.js';
import { refusalOf, writeOnce } from './write-once.js';
import type { Resource } from './api.js';
import type { Guard } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** Deletes a session, see `SessionStore.remove`. */
export async function removeSession(
  sessions: Sessions,
  key: SessionKey,
  { created }: Pick<Guard, 'created'>,
  of: Resource,
): Promise<void> {
  const session = await sessions.get(key, of);
  if (session === undefined || (created !== undefined && createdOf(session) !== created)) {
    return;
  }
  const { api } = sessions;
  const isAbsent = async (): Promise<true | undefined> => {
    const now = await api.get(of);
    return now?.createTime === session.createTime ? undefined : true;
  };
  const send = async () => await api.remove(of);
  sessions.forget(key);
  const written = await writeOnce(api.client, { send, read: () => true, look: isAbsent }, of);
  if (written.kind === 'refused' && written.error.http !== 404) {
    throw refusalOf(written);
  }
}
