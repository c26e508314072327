// Logs: entries by the usual session, and a log that counts.

import { defined } from '../../model/defined.js';
import * as answer from './answer.js';
import * as change from './change.js';
import * as step from './step.js';
import { APP, KEY, TIME, USER } from './keys.js';
import { times } from './store-case.js';
import type { LogWrite, Values } from '../../store/contract.js';
import type { LoggedEntry, StoreStep } from '../case.js';

/** By an event of the usual session, or by its creation. */
export const by = (eventId?: string) => defined({ userId: USER, sessionId: KEY.sessionId, eventId });
/** An entry of the usual time. */
export const entry = (pos: number, writes: readonly LogWrite[], who?: LoggedEntry['by'], time = TIME): LoggedEntry =>
  defined({ pos, time, by: who, writes });
/** A missing name was set. */
export const added = (name: string, to: Values[string]): LogWrite => ({ name, to });

/** Positions 1 to `count` of the app: each sets `n`, and every third one `m`, to its position. */
export const counts = (count: number): StoreStep[] =>
  times(count, (index) =>
    step.commit(
      change.update(
        `u${index + 1}`,
        { app: { set: { ...((index + 1) % 3 === 0 && { m: index + 1 }), n: index + 1 } } },
        { key: { appName: APP }, time: index + 1 },
      ),
      answer.made(index + 1),
    ),
  );
/** The entry of one of them. */
export const counted = (pos: number): LoggedEntry =>
  entry(pos, [...(pos % 3 === 0 ? [countedWrite('m', pos, 3)] : []), countedWrite('n', pos, 1)], undefined, pos);
/** Its write of a name that is written at every `gap`-th position. */
export const countedWrite = (name: string, pos: number, gap: number): LogWrite => ({
  name,
  ...(pos > gap && { from: pos - gap }),
  to: pos,
});
/** The entries of some of these positions. */
export const countedFrom = (first: number, last: number): LoggedEntry[] =>
  times(last - first + 1, (index) => counted(first + index));
