// Deleting a session, or the values of an app or a user.

import { defined } from '../../model/defined.js';
import { hasEnded } from './expiry.js';
import { RememberedIds } from './ids.js';
import { keyOfSession, scopeKey, scopeNames, sessionKey } from './keys.js';
import { logRow } from './log.js';
import { beginningWith, get, getAll, put, remove } from './requests.js';
import { withBase, withSessions } from './scope.js';
import { forgetAll } from './since.js';
import { NO_SIZE } from './values.js';
import { checkFence } from '../../store/lease.js';
import { isNamed } from '../shared/keys.js';
import type { Guard, ScopeName } from '../../store/contract.js';
import type { SessionRow } from './rows.js';
import type { SessionKey } from '../../model/types.js';

/** Deletes a session in a transaction, if it is the one that a guard names. Says whether it was there. */
export async function removeSession(
  transaction: IDBTransaction,
  key: SessionKey,
  guard: Pick<Guard, 'created' | 'fence'> | undefined,
): Promise<boolean> {
  const session = await get(transaction, 'sessions', sessionKey(key));
  if (!isNamed(session, guard)) {
    return false;
  }
  // One that has ended is removed as well, but it is not there to be fenced.
  if (!hasEnded(session, Date.now())) {
    checkFence(session.fence, guard?.fence);
  }
  await removeRow(transaction, session);
  return true;
}

/** Deletes a session with all that belongs to it, and remembers its creation. */
export async function removeRow(transaction: IDBTransaction, session: SessionRow): Promise<void> {
  const key = keyOfSession(session);
  remove(transaction, 'sessions', sessionKey(key));
  removeContent(transaction, session);
  const creations = new RememberedIds('creations');
  creations.add(session.created, [], defined({ digest: session.digest }));
  creations.write(transaction);
  const scopes = [scopeKey(key.appName), scopeKey(key.appName, key.userId)];
  for (const row of await Promise.all(scopes.map((scope) => get(transaction, 'scopes', scope)))) {
    if (row !== undefined) {
      put(transaction, 'scopes', withSessions(row, -1));
    }
  }
}

/** Deletes the events and the values of a session. */
export function removeContent(transaction: IDBTransaction, { number }: SessionRow): void {
  remove(transaction, 'events', beginningWith([number]));
  remove(transaction, 'values', beginningWith([number]));
}

/** Deletes all values of an app, or of a user in it, in a transaction. Nothing before it can be told any more. */
export async function removeScope(
  transaction: IDBTransaction,
  { app, user }: ScopeName,
  hasLog: boolean,
): Promise<void> {
  const key = scopeKey(app, user);
  const [found, values] = await Promise.all([
    get(transaction, 'scopes', key),
    hasLog ? getAll(transaction, 'values', beginningWith([key])) : [],
  ]);
  if (found !== undefined) {
    const { scope, pos, sessions, next, base = pos } = found;
    remove(transaction, 'values', beginningWith([key]));
    forgetAll(transaction, key);
    const names = { scope, ...scopeNames(scope) };
    const row = { ...names, pos: pos + 1, sessions, next, size: NO_SIZE, changed: Date.now() };
    put(transaction, 'scopes', withBase(row, hasLog ? base : undefined));
    if (hasLog) {
      const texts = new Map(values.sort((a, b) => a.order - b.order).map(({ name, text }) => [name, text]));
      const delta = { unset: [...texts.keys()] };
      put(
        transaction,
        'log',
        logRow(scope, pos + 1, { time: Date.now() }, delta, (name) => texts.get(name)),
      );
    }
  }
}
