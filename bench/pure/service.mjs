/**
 * A service in plain JavaScript with the same design and the same checks: it shows the price of the WebAssembly
 * boundary. It has the measured operations and no more: no stores, no history, no `temp:` keys of invocations.
 */

import { admission } from './admission.mjs';
import { Invocation } from './invocation.mjs';
import { handleOf, refresh, viewOf } from './handle.mjs';
import { Order } from './order.mjs';
import { Scope } from './scope.mjs';

const { REQUESTS, admitCreation, admitEvent, checkConfig, checkCount, checkKey, checkList } = admission;
const { checkObject, checkRequest, checkSession, extractTempKeys, freezeEvent, isRepeated } = admission;

/** The same calls as `SessionService`, as far as they are measured. */
export class PureSessionService {
  #apps = new Map();

  async createSession(request) {
    const { key, state } = admitCreation(request);
    const { delta, deleted } = state;
    const { appName, userId } = key;
    const app = child(this.#apps, appName, () => ({ scope: new Scope(), users: new Map(), order: new Order() }));
    const user = child(app.users, userId, () => ({ scope: new Scope(), sessions: new Map(), order: new Order() }));
    if (user.sessions.has(key.sessionId)) {
      throw new Error(`session "${key.sessionId}" exists`);
    }
    const record = {
      key,
      scopes: [new Scope(), app.scope, user.scope],
      orders: [app.order, user.order],
      events: [],
      ids: new Map(),
      revision: 0,
      updateTime: Date.now(),
      list: undefined,
      merged: undefined,
      creation: Object.freeze(delta),
    };
    write(record, delta, deleted);
    user.sessions.set(key.sessionId, record);
    record.orders.forEach((order) => order.add(record));
    return handleOf(record);
  }

  async getSession(request) {
    checkRequest(request, REQUESTS.getSession);
    const record = this.#find(checkKey(request));
    const config = checkConfig(request.config);
    return record && handleOf(record, { last: config?.numRecentEvents });
  }

  async listSessions(request) {
    checkRequest(request, REQUESTS.listSessions);
    const { appName, userId, descending, limit = Infinity, offset, cursor } = checkList(request);
    const app = this.#apps.get(appName);
    const order = (userId === undefined ? app : app?.users.get(userId))?.order ?? new Order();
    const { length } = order;
    const begin = Math.min(length, cursor === undefined ? offset : placeAfter(order, cursor, descending));
    const end = Math.min(length, begin + limit);
    const records = descending ? order.slice(length - end, length - begin).reverse() : order.slice(begin, end);
    const last = end === length ? undefined : records.at(-1);
    return {
      sessions: records.map((record) => handleOf(record, { last: 0 })),
      totalItems: length,
      cursor: last && `${last.updateTime} ${last.key.sessionId}`,
    };
  }

  async deleteSession(request) {
    checkRequest(request, REQUESTS.deleteSession);
    const key = checkKey(request);
    const record = this.#find(key);
    if (record !== undefined) {
      record.orders.forEach((order) => order.remove(record));
      this.#apps.get(key.appName).users.get(key.userId).sessions.delete(key.sessionId);
    }
  }

  async appendEvent(request) {
    checkRequest(request, REQUESTS.appendEvent);
    const { session, event, expectedRevision } = request;
    checkSession(session);
    checkObject(event, 'event');
    checkCount(expectedRevision, 'expectedRevision');
    const draft = admitEvent(event, Date.now, {});
    const view = viewOf(session);
    const { record } = view;
    const place = record.ids.get(draft.id);
    if (place !== undefined) {
      const stored = record.events[place];
      if (isRepeated(draft, freezeEvent(draft), stored)) return stored;
      throw new Error(`event "${draft.id}" exists`);
    }
    const hasTemp = write(record, draft.delta, draft.deleted);
    if (hasTemp) extractTempKeys(draft);
    const stored = freezeEvent(draft);
    record.orders.forEach((order) => order.remove(record));
    record.ids.set(stored.id, record.events.length);
    record.events.push(stored);
    record.revision += 1;
    record.updateTime = stored.timestamp;
    record.orders.forEach((order) => order.add(record));
    refresh(view);
    return stored;
  }

  invocation(session, { author = 'user' } = {}) {
    return new Invocation(this, session, author);
  }

  #find({ appName, userId, sessionId }) {
    return this.#apps.get(appName)?.users.get(userId)?.sessions.get(sessionId);
  }
}

/** Writes a delta to the scopes of its keys. Says whether there are keys that are not stored. */
function write({ scopes }, delta, deleted) {
  let hasTemp = false;
  let [session, app, user] = [undefined, undefined, undefined];
  for (const key of Object.keys(delta)) {
    if (key.startsWith('app:')) (app ??= []).push([key, delta[key]]);
    else if (key.startsWith('user:')) (user ??= []).push([key, delta[key]]);
    else if (key.startsWith('temp:')) hasTemp = true;
    else (session ??= []).push([key, delta[key]]);
  }
  if (session !== undefined) scopes[0].write(session, deleted);
  if (app !== undefined) scopes[1].write(app, deleted);
  if (user !== undefined) scopes[2].write(user, deleted);
  return hasTemp;
}

/** The number of records before the first one after a cursor. */
function placeAfter(order, cursor, descending) {
  const [, time, sessionId] = /^(\S+) (.*)$/su.exec(cursor);
  const { place, isHere } = order.placeOf({ updateTime: Number(time), key: { sessionId } });
  return descending ? order.length - place : place + Number(isHere);
}

function child(map, key, make) {
  let inner = map.get(key);
  if (inner === undefined) {
    inner = make();
    map.set(key, inner);
  }
  return inner;
}
