// Deleting a session, or the values of an app or a user.

import { defined } from '../../model/defined.js';
import { RememberedIds } from './ids.js';
import { scopeKey, scopeNames, sessionKey } from './keys.js';
import { logRow } from './log.js';
import { beginningWith, get, getAll, put, remove } from './requests.js';
import { withBase } from './scope.js';
import { forgetAll } from './since.js';
import { checkFence } from '../../store/lease.js';
import { isNamed } from '../shared/keys.js';
import type { Guard, ScopeName } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** Deletes a session in a transaction, if it is the one that a guard names. Says whether it was there. */
export async function removeSession(
  transaction: IDBTransaction,
  key: SessionKey,
  guard: Pick<Guard, 'created' | 'fence'> | undefined,
): Promise<boolean> {
  const keys = [scopeKey(key.appName), scopeKey(key.appName, key.userId)];
  const [session, ...scopes] = await Promise.all([
    get(transaction, 'sessions', sessionKey(key)),
    ...keys.map((scope) => get(transaction, 'scopes', scope)),
  ]);
  if (!isNamed(session, guard)) {
    return false;
  }
  checkFence(session.fence, guard?.fence);
  remove(transaction, 'sessions', sessionKey(key));
  remove(transaction, 'events', beginningWith([session.number]));
  remove(transaction, 'values', beginningWith([session.number]));
  const creations = new RememberedIds('creations');
  creations.add(session.created, [], defined({ digest: session.digest }));
  creations.write(transaction);
  for (const row of scopes) {
    if (row !== undefined) {
      put(transaction, 'scopes', { ...row, sessions: row.sessions - 1 });
    }
  }
  return true;
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
    const row = { scope, ...scopeNames(scope), pos: pos + 1, sessions, next };
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
