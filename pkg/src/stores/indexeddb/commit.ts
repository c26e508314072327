// Several changes in one transaction: everything they need is read first, then they are made one after the other in
// memory, and what has moved is written. So one that is refused has written nothing, and the others are not touched.

import { defined } from '../../model/defined.js';
import { isRememberedRefusal } from '../../store/refusals.js';
import { answerTo, decideCommit } from '../shared/decide.js';
import { callOf, keyText } from '../shared/keys.js';
import { writerOf } from '../shared/log-entries.js';
import { outcomeOf, type Outcome } from '../shared/outcome.js';
import { endOf, laterEnd, unended } from './expiry.js';
import { RememberedIds } from './ids.js';
import { scopeKey, sessionKey, toOrdered } from './keys.js';
import { removeContent } from './remove.js';
import { get, put } from './requests.js';
import type { MetaRow, ScopeKey, SessionRow } from './rows.js';
import { ScopeBuffer } from './scope.js';
import { Target, type Ids, type Place } from './target.js';
import { NO_SIZE, ValueBuffer } from './values.js';
import type { ResolvedChange } from '../shared/operators.js';
import type { Change, Committed } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** Makes changes in a transaction, as if one after the other. The answers come in their order. */
export async function commitAll(
  transaction: IDBTransaction,
  changes: readonly Change[],
  hasLog: boolean,
): Promise<Outcome[]> {
  const batch = new Batch(transaction, hasLog);
  await batch.read(changes);
  const answers = changes.map((change) => batch.commit(change));
  batch.write();
  return answers;
}

/** The part of the database that some changes are about. */
class Batch {
  readonly #transaction: IDBTransaction;
  readonly #scopes = new Map<string, ScopeBuffer>();
  readonly #places = new Map<string, Place>();
  readonly #ids: Ids = {
    updates: new RememberedIds('updates'),
    calls: new RememberedIds('calls'),
    creations: new RememberedIds('creations'),
  };
  /** The sessions that others have taken the places of. */
  readonly #replaced: SessionRow[] = [];
  #meta: MetaRow | undefined;
  #now: number | undefined;
  #lastSession = 0;

  readonly #hasLog: boolean;

  constructor(transaction: IDBTransaction, hasLog: boolean) {
    this.#transaction = transaction;
    this.#hasLog = hasLog;
  }

  /** Reads all that the changes need: those parts that can be asked for at once, at once. */
  async read(changes: readonly Change[]): Promise<void> {
    const reads = changes.map((change) => this.#readChange(change));
    if (changes.some(({ kind }) => kind === 'create')) {
      reads.push(this.#readMeta());
    }
    await Promise.all(reads);
    // A session's rows are found by its number.
    await Promise.all(changes.map((change) => this.#readInside(change)));
  }

  /** Makes a change, or says why it cannot be made. */
  commit(change: Change): Outcome {
    const target = this.#target(change);
    const outcome = outcomeOf(() => {
      const decision = decideCommit(change, target);
      return decision.duplicate === undefined
        ? this.#apply(change, decision, target)
        : { ...answerTo(decision, target.now.pos, target.history(change)), ...target.end(change) };
    });
    if (isRememberedRefusal(change, outcome)) {
      this.#ids.calls.add(callOf(change), [], defined({ digest: change.digest }));
    }
    return outcome;
  }

  /** Writes what has moved. */
  write(): void {
    const transaction = this.#transaction;
    this.#scopes.forEach((scope) => scope.write(transaction));
    for (const { row, hasMoved, values, added } of this.#places.values()) {
      if (hasMoved && row !== undefined) {
        put(transaction, 'sessions', { ...row, next: values.next, size: values.size });
        values.write(transaction, row.number);
        added.forEach((event) => put(transaction, 'events', event));
      }
    }
    if (this.#meta !== undefined && this.#meta.sessions !== this.#lastSession) {
      put(transaction, 'meta', { ...this.#meta, sessions: this.#lastSession });
    }
    this.#ids.updates.write(transaction);
    this.#ids.calls.write(transaction);
    this.#ids.creations.write(transaction);
    this.#replaced.forEach((row) => removeContent(transaction, row));
  }

  /** The time of all changes, which the transaction has begun by. */
  get #time(): number {
    return (this.#now ??= Date.now());
  }

  #readChange(change: Change): Promise<unknown> {
    const { id, kind, key, delta, operators, guard, known } = change;
    const { pos, marks } = known ?? {};
    const concerns = [
      {
        scope: scopeKey(key.appName),
        delta: delta.app,
        operators: operators?.app,
        expected: guard?.keys?.app,
        pos: pos?.app,
        mark: marks?.app,
      },
      ...(key.userId === undefined
        ? []
        : [
            {
              scope: scopeKey(key.appName, key.userId),
              delta: delta.user,
              operators: operators?.user,
              expected: guard?.keys?.user,
              pos: pos?.user,
              mark: marks?.user,
            },
          ]),
    ];
    return Promise.all([
      ...concerns.map((concern) => this.#scope(concern.scope).read(this.#transaction, concern)),
      key.sessionId === undefined ? undefined : this.#readPlace(key as SessionKey),
      kind === 'update' ? this.#ids.updates.read(this.#transaction, id, scopeKey(key.appName, key.userId)) : undefined,
      kind === 'create' ? this.#ids.creations.read(this.#transaction, id) : undefined,
      this.#ids.calls.read(this.#transaction, callOf(change)),
    ]);
  }

  async #readMeta(): Promise<void> {
    this.#meta = await get(this.#transaction, 'meta', 'database');
    this.#lastSession = this.#meta?.sessions ?? 0;
  }

  #scope(key: ScopeKey): ScopeBuffer {
    const text = JSON.stringify(key);
    const scope = this.#scopes.get(text) ?? new ScopeBuffer(key, this.#hasLog);
    this.#scopes.set(text, scope);
    return scope;
  }

  async #readPlace(key: SessionKey): Promise<void> {
    const text = keyText(key);
    if (!this.#places.has(text)) {
      const place: Place = {
        key,
        row: undefined,
        ended: undefined,
        hasMoved: false,
        values: new ValueBuffer(),
        events: new Map(),
        added: [],
      };
      this.#places.set(text, place);
      const row = await get(this.#transaction, 'sessions', sessionKey(key));
      place.row = unended(row, this.#time);
      place.ended = place.row === undefined ? row : undefined;
      place.values.next = place.row?.next ?? 0;
      place.values.size = place.row?.size ?? NO_SIZE;
    }
  }

  async #readInside({ id, kind, key, delta, operators, guard }: Change): Promise<void> {
    const place = key.sessionId === undefined ? undefined : this.#places.get(keyText(key));
    if (place?.row !== undefined) {
      const session = place.row.number;
      const values = place.values.read(this.#transaction, session, {
        delta: delta.session,
        operators: operators?.session,
        expected: guard?.keys?.session,
      });
      const event = kind === 'append' ? await get(this.#transaction, 'events', [session, id], 'id') : undefined;
      if (event !== undefined) {
        place.events.set(id, event);
      }
      await values;
    }
  }

  #target({ key }: Change): Target {
    const { appName, userId, sessionId } = key;
    const app = this.#scope(scopeKey(appName));
    const user = userId === undefined ? undefined : this.#scope(scopeKey(appName, userId));
    const place = sessionId === undefined ? undefined : this.#places.get(keyText(key));
    return new Target(this.#ids, app, user, place);
  }

  #apply(change: Change, { delta, results }: ResolvedChange, target: Target): Committed {
    const { id, key, time, event, digest } = change;
    const { app, user, place } = target;
    const report = { ...target.history(change), ...defined({ results }) };
    const origin = { time, by: writerOf(change) };
    const isNew = place !== undefined && place.row === undefined && !this.#replace(place);
    app.move(delta.app, callOf(change), isNew, origin);
    user?.move(delta.user, callOf(change), isNew, origin);
    const resolved = results && { results: JSON.stringify(results) };
    if (place === undefined) {
      this.#ids.updates.add(id, scopeKey(key.appName, key.userId), { ...resolved, ...defined({ digest }) });
      return { ...target.now, prev: null, ...report };
    }
    const columns = { ...resolved, ...(this.#hasLog && { pos: target.now.pos }) };
    place.hasMoved = true;
    place.values.apply(delta.session ?? {});
    if (place.row === undefined) {
      const row = this.#newSession(key as SessionKey, id, time);
      place.row = { ...row, ...endOf(change.expires, this.#time), ...defined({ digest }) };
      if (event !== undefined) {
        const { time, data } = event;
        place.added.push({ session: place.row.number, rev: 0, time, peak: time, data, ...columns });
        place.row = { ...place.row, first: 0, peak: event.time };
      }
      return { ...target.now, prev: null, ...target.end(change), ...report };
    }
    const rev = place.row.rev + 1;
    const eventTime = event?.time ?? time;
    const peak = Math.max(place.row.peak, eventTime);
    const data = event?.data ?? '';
    place.events.set(id, { data, ...columns });
    place.added.push({ session: place.row.number, rev, id, time: eventTime, peak, data, ...columns });
    place.row = { ...place.row, ...times(time), ...laterEnd(place.row, this.#time), rev, peak, last: id };
    return { ...target.now, prev: rev - 1, ...target.end(change), ...report };
  }

  /** Takes a session that has ended out of its place. Says whether there was one. */
  #replace(place: Place): boolean {
    const { ended } = place;
    if (ended === undefined) {
      return false;
    }
    this.#ids.creations.add(ended.created, [], defined({ digest: ended.digest }));
    this.#replaced.push(ended);
    place.ended = undefined;
    return true;
  }

  #newSession({ appName, userId, sessionId }: SessionKey, created: string, time: number): SessionRow {
    this.#lastSession += 1;
    return {
      app: toOrdered(appName),
      user: toOrdered(userId),
      id: toOrdered(sessionId),
      number: this.#lastSession,
      created,
      ...times(time),
      rev: 0,
      peak: -Infinity,
      next: 0,
      size: NO_SIZE,
      fence: 0,
    };
  }
}

/** A time and its opposite. Neither is -0, which is another key than 0 in some browsers. */
function times(time: number): Pick<SessionRow, 'time' | 'back'> {
  return { time: time + 0, back: 0 - time };
}
