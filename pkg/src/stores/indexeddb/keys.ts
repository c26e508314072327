// The keys of rows: of a session, an app, a user; and texts that IndexedDB puts in the order of lists.

import type { ScopeKey, ScopeNames, SessionRow } from './rows.js';
import type { SessionKey } from '../../model/types.js';

/** The key of an app, or of a user in it. */
export function scopeKey(appName: string, userId?: string): ScopeKey {
  return userId === undefined ? [appName] : [appName, userId];
}

/** The names by which the row of a scope is listed. */
export function scopeNames([app, user]: ScopeKey): ScopeNames {
  return user === undefined ? { app: toOrdered(app) } : { ofApp: toOrdered(app), user: toOrdered(user) };
}

/** The key of a session's row. */
export function sessionKey({ appName, userId, sessionId }: SessionKey): IDBValidKey {
  return [toOrdered(appName), toOrdered(userId), toOrdered(sessionId)];
}

/** The session that a row is about. */
export function keyOfSession({ app, user, id }: SessionRow): SessionKey {
  return { appName: fromOrdered(app), userId: fromOrdered(user), sessionId: fromOrdered(id) };
}

/**
 * A text whose UTF-16 units, by which IndexedDB compares, have the order of the UTF-8 bytes of the given one: the
 * units of surrogates, which stand for code points above all others, change places with those behind them. Other texts
 * stay as they are, and no two become the same.
 */
export function toOrdered(text: string): string {
  return moved(text, 0xe000, 0x2000, -0x800);
}

/** The text that {@link toOrdered} has written. */
export function fromOrdered(text: string): string {
  return moved(text, 0xf800, 0x800, -0x2000);
}

/** Moves the units from U+D800 on: those below a border up, the others down. */
function moved(text: string, border: number, up: number, down: number): string {
  return text.replace(/[\ud800-\uffff]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return String.fromCharCode(code + (code < border ? up : down));
  });
}
