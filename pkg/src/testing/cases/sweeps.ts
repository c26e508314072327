// Sweeps, which remove what has expired, and count it beforehand.

import { APP, KEY, USER, answer, change, featureCase, keyOf, set, step, storeCase, times } from '../build/index.js';
import type { SweepQuery, Swept } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';
import type { StoreCase, StoreStep } from '../case.js';

/** A year that no clock comes to while a case runs, in milliseconds since the epoch. */
const FAR = 9_000_000_000_000;
/** Eleven days, in milliseconds. */
const LONG = 1_000_000_000;
const ENDED = { throws: 'not-found' } as const;

/** Creates a session that has expired at this time: small numbers have passed on every clock. */
function createExpired(id: string, at: number, key: SessionKey = keyOf(id), delta = {}): StoreStep {
  return step.commit(change.create(id, delta, { key, expires: { at } }));
}

/** The creation of a session that was removed is sent again, and is known. */
function known(id: string, key: SessionKey = keyOf(id)): StoreStep {
  return step.commit(change.create(id, {}, { key }), answer.again(0));
}

/** Asks twice what a sweep would remove, and then sweeps: the answers are the same. */
function countedThenSwept(answer: Partial<Swept>, query: Partial<SweepQuery> = {}): StoreStep[] {
  return [...times(2, () => step.sweep(answer, { ...query, dry: true })), step.sweep(answer, query)];
}

const expiredCases: readonly StoreCase[] = [
  storeCase(
    'a sweep of storage where nothing has expired removes nothing',
    step.sweep({ more: false }),
    step.sweep({ more: false }, { app: APP, userTtl: 1 }),
    step.commit(change.create('c', { session: set('s', 1) }), answer.made()),
    step.commit(change.create('d', {}, { key: keyOf('d'), expires: { at: FAR } }), answer.ending(answer.made(), FAR)),
    step.commit(
      change.create('f', {}, { key: keyOf('f'), expires: { ttl: LONG } }),
      answer.ending(answer.made(), 'some'),
    ),
    step.sweep({ more: false }),
    step.list([
      answer.row({ key: keyOf('d'), created: 'd', expires: FAR }),
      answer.row({ key: keyOf('f'), created: 'f', expires: 'some' }),
      answer.row({ state: { s: 1 } }),
    ]),
  ),
  storeCase(
    'a sweep removes what has expired, tells how much, and finds nothing afterwards',
    ...times(3, (index) => createExpired(`c${index}`, 1_000 + index)),
    step.commit(
      change.create('d', { session: set('s', 1) }, { expires: { at: FAR } }),
      answer.ending(answer.made(), FAR),
    ),
    step.sweep({ sessions: 3, more: false }),
    step.sweep({ more: false }),
    step.sessionHas({ created: 'd', expires: FAR, state: { session: { s: 1 } } }),
    step.list([answer.row({ created: 'd', expires: FAR, state: { s: 1 } })]),
  ),
  storeCase(
    'a session that was swept away is gone as one that was removed: its creation is known, its key is free',
    createExpired('c', 1_000, KEY, { app: set('a', 1), user: set('u', 1), session: set('s', 1) }),
    step.sweep({ sessions: 1 }),
    step.load(null),
    step.owners([]),
    step.commit(change.append('e1'), ENDED),
    step.commit(change.create('c', { app: set('a', 2) }), answer.again(0, 1, 1)),
    step.appHas(1, { a: 1 }),
    step.userHas(1, { u: 1 }),
    step.commit(change.create('d'), answer.made(1, 1)),
    step.sweep({ more: false }),
    step.sessionHas({ created: 'd', pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 1 } } }),
  ),
  storeCase(
    'a sweep removes no more than its limit, those that expired first before the others, and says that there may be more',
    // One session for each app, as a sweep of an app tells which ones are left. Creations are in another order.
    ...[4, 1, 3, 5, 2].map((end, index) =>
      createExpired(`c${end}`, end * 1_000, keyOf(`s${9 - index}`, USER, `app ${end}`)),
    ),
    createExpired('x', 6_000, keyOf('x', USER, 'app 1')),
    step.sweep({ sessions: 2, more: true }, { limit: 2 }),
    step.sweep({ more: false }, { limit: 3, app: 'app 2' }),
    step.sweep({ sessions: 1, more: true }, { limit: 1 }),
    step.sweep({ more: false }, { app: 'app 3' }),
    step.sweep({ sessions: 1, more: false }, { app: 'app 4' }),
    step.sweep({ sessions: 1, more: false }, { app: 'app 1' }),
    step.sweep({ sessions: 1, more: false }, { limit: 2 }),
    step.sweep({ more: false }, { limit: 1 }),
  ),
  storeCase(
    'a sweep of one app leaves the others alone',
    createExpired('c1', 1_000, keyOf('one')),
    createExpired('c2', 2_000, keyOf('two', USER, 'other')),
    createExpired('c3', 3_000, keyOf('three', USER, 'APP')),
    step.sweep({ more: false }, { app: 'none' }),
    step.sweep({ sessions: 1, more: false }, { app: APP }),
    step.sweep({ more: false }, { app: APP }),
    step.sweep({ sessions: 2, more: false }),
    known('c1', keyOf('one')),
    known('c2', keyOf('two', USER, 'other')),
  ),
  storeCase(
    'a sweep passes over a session that was created anew under the key of one that has expired',
    createExpired('c', 1_000, KEY),
    step.commit(change.create('d', {}, { expires: { at: FAR } }), answer.ending(answer.made(), FAR)),
    createExpired('x', 1_000, keyOf('other')),
    step.commit(change.create('y', {}, { key: keyOf('other') }), answer.made()),
    step.sweep({ more: false }),
    step.list([answer.row({ key: keyOf('other'), created: 'y' }), answer.row({ created: 'd', expires: FAR })]),
  ),
  storeCase(
    'a session that has expired and is removed is deleted: a sweep finds nothing of it',
    createExpired('c', 1_000, KEY),
    createExpired('d', 1_000, keyOf('d')),
    { remove: KEY, created: 'other' },
    { remove: KEY, created: 'c' },
    { remove: keyOf('d') },
    step.sweep({ more: false }),
    known('c', KEY),
    known('d'),
  ),
  featureCase(
    'removals',
    'a session that has expired and is removed at any token is deleted: a sweep finds nothing of it',
    createExpired('c', 1_000, KEY),
    createExpired('d', 1_000, keyOf('d')),
    { remove: KEY, created: 'c', fence: 7 },
    { remove: keyOf('d'), fence: 7 },
    step.sweep({ more: false }),
    known('c', KEY),
    known('d'),
  ),
  storeCase(
    'sweeps that run at once remove each session once, and leave those that live',
    ...times(6, (index) => createExpired(`c${index}`, 1_000 + index)),
    step.commit(change.create('d'), answer.made()),
    {
      parallel: [...times(4, (index) => step.commit(change.append(`e${index}`))), step.sweep({ sessions: 6 })],
      outcomes: times(4, (index) => answer.appended(index + 1)),
    },
    step.sweep({ more: false }),
    step.list([answer.row({ created: 'd', rev: 4 })]),
  ),
  storeCase(
    'what one store has swept away is gone for the other one',
    createExpired('c1', 1_000, keyOf('one')),
    createExpired('c2', 2_000, keyOf('two')),
    step.sweep({ sessions: 1, more: true }, { limit: 1 }, { by: 'another' }),
    step.sweep({ sessions: 1, more: false }),
    step.sweep({ more: false }, {}, { by: 'another' }),
    known('c1', keyOf('one')),
    { ...step.commit(change.create('c2', {}, { key: keyOf('two') }), answer.again(0)), by: 'another' },
  ),
  storeCase(
    'what has expired, and what was swept away, is so when the storage is opened again',
    createExpired('c1', 1_000, keyOf('one')),
    createExpired('c2', 2_000, keyOf('two')),
    step.sweep({ sessions: 1 }, { limit: 1 }),
    { reopen: 'check' },
    known('c1', keyOf('one')),
    step.load(null, {}, keyOf('two')),
    step.sweep({ sessions: 1, more: false }),
    { reopen: 'check' },
    step.sweep({ more: false }),
    known('c2', keyOf('two')),
    step.list([]),
  ),
];

const other = { appName: APP, userId: 'other' };

const userCases: readonly StoreCase[] = [
  storeCase(
    'the values of a user without sessions go when they are old enough, as one change; those of the app stay',
    step.commit(change.update('p', { app: set('a', 1), user: { set: { u: 1, v: 2 } } }), answer.made(1, 1)),
    { wait: 30 },
    step.sweep({ more: false }),
    step.sweep({ more: false }, { userTtl: LONG }),
    step.userHas(1, { u: 1, v: 2 }),
    step.sweep({ users: 1, more: false }, { userTtl: 10 }),
    step.userHas(2, {}),
    step.appHas(1, { a: 1 }),
    step.sweep({ more: false }, { userTtl: 10 }),
    step.userHas(2, {}),
    step.commit(change.update('p', { user: set('u', 1) }), answer.updatedBefore(1, 2)),
    step.commit(change.update('q', { user: set('u', 3) }), answer.made(1, 3)),
    step.userHas(3, { u: 3 }),
  ),
  storeCase(
    'a user with a session keeps all values, and one whose sessions have expired does not',
    step.commit(change.create('c', { user: set('u', 1) }), answer.made(0, 1)),
    step.commit(
      change.create('d', { user: set('u', 1) }, { key: keyOf('d', 'ending'), expires: { at: FAR } }),
      answer.ending(answer.made(0, 1), FAR),
    ),
    createExpired('x', 1_000, keyOf('x', 'gone'), { user: set('u', 1) }),
    step.commit(change.create('y', { user: set('u', 1) }, { key: keyOf('y', 'removed') }), answer.made(0, 1)),
    { remove: keyOf('y', 'removed') },
    { wait: 30 },
    step.sweep({ sessions: 1, users: 2, more: false }, { userTtl: 10 }),
    step.userHas(1, { u: 1 }),
    step.userHas(1, { u: 1 }, 'ending'),
    step.userHas(2, {}, 'gone'),
    step.userHas(2, {}, 'removed'),
    step.list(
      [answer.row({ key: keyOf('d', 'ending'), created: 'd', expires: FAR }), answer.row()],
      {},
      { users: { ending: { u: 1 }, [USER]: { u: 1 } } },
    ),
  ),
  storeCase(
    'the age of the values of a user is that of the last change',
    step.commit(change.update('p', { user: set('u', 1) }), answer.made(0, 1)),
    step.commit(change.update('q', { user: set('u', 1) }, { key: other }), answer.made(0, 1)),
    { wait: 1_500 },
    step.commit(change.update('r', { user: set('v', 1) }, { key: other }), answer.made(0, 2)),
    step.sweep({ users: 1, more: false }, { userTtl: 1_200 }),
    step.userHas(2, {}),
    step.userHas(2, { u: 1, v: 1 }, 'other'),
  ),
  storeCase(
    'a sweep removes no more users than its limit, and those of one app alone where it is told so',
    ...times(3, (index) =>
      step.commit(
        change.update(`p${index}`, { user: set('u', 1) }, { key: { appName: APP, userId: `u${index}` } }),
        answer.made(0, 1),
      ),
    ),
    step.commit(
      change.update('q', { user: set('u', 1) }, { key: { appName: 'second', userId: USER } }),
      answer.made(0, 1),
    ),
    { wait: 30 },
    step.sweep({ users: 1, more: false }, { userTtl: 10, app: 'second' }),
    step.userHas(2, {}, USER, 'second'),
    step.sweep({ users: 2, more: true }, { userTtl: 10, limit: 2 }),
    step.sweep({ users: 1, more: false }, { userTtl: 10, limit: 2 }),
    step.sweep({ more: false }, { userTtl: 10 }),
  ),
  storeCase(
    'sessions and users together are no more than the limit',
    createExpired('c1', 1_000, keyOf('one', 'u1')),
    createExpired('c2', 1_000, keyOf('two', 'u2')),
    step.commit(change.update('p', { user: set('u', 1) }), answer.made(0, 1)),
    { wait: 30 },
    step.sweep({ sessions: 2, users: 1, more: false }, { userTtl: 10, limit: 4 }),
    step.sweep({ more: false }, { userTtl: 10, limit: 3 }),
  ),
  storeCase(
    'the values of a user that a sweep has removed are so in the log, too',
    step.commit(change.update('p', { user: { set: { u: 1, v: 2 } } }), answer.made(0, 1)),
    { wait: 30 },
    step.sweep({ users: 1 }, { userTtl: 10 }),
    step.userLog(2, [
      {
        pos: 1,
        time: 1_000,
        writes: [
          { name: 'u', to: 1 },
          { name: 'v', to: 2 },
        ],
      },
      {
        pos: 2,
        time: null,
        writes: [
          { name: 'u', from: 1 },
          { name: 'v', from: 2 },
        ],
      },
    ]),
  ),
];

/** More than there is of anything: a count need not be cut into slices. */
const ALL = Number.MAX_SAFE_INTEGER;

const dryCases: readonly StoreCase[] = [
  storeCase(
    'a dry sweep of storage where nothing has expired counts nothing',
    step.sweep({ more: false }, { dry: true }),
    step.commit(change.create('c', { user: set('u', 1) }), answer.made(0, 1)),
    step.commit(
      change.create('d', {}, { key: keyOf('d'), expires: { ttl: LONG } }),
      answer.ending(answer.made(0, 1), 'some'),
    ),
    { wait: 30 },
    step.sweep({ more: false }, { dry: true, userTtl: 10, limit: ALL }),
    step.sweep({ more: false }, { dry: true, userTtl: 10, app: APP }),
  ),
  storeCase(
    'a dry sweep counts the sessions that have expired, as often as it is asked, and a sweep then removes them',
    ...times(3, (index) => createExpired(`c${index}`, 1_000 + index)),
    step.commit(
      change.create('d', { session: set('s', 1) }, { expires: { at: FAR } }),
      answer.ending(answer.made(), FAR),
    ),
    step.sweep({ sessions: 3, more: false }, { dry: true, limit: ALL }),
    ...countedThenSwept({ sessions: 3, more: false }),
    ...countedThenSwept({ more: false }),
    known('c0'),
    step.list([answer.row({ created: 'd', expires: FAR, state: { s: 1 } })]),
  ),
  storeCase(
    'a dry sweep of one app counts nothing of the others',
    createExpired('c1', 1_000, keyOf('one')),
    createExpired('c2', 2_000, keyOf('two')),
    createExpired('c3', 3_000, keyOf('three', USER, 'APP')),
    step.sweep({ more: false }, { dry: true, app: 'none' }),
    step.sweep({ sessions: 3, more: false }, { dry: true }),
    ...countedThenSwept({ sessions: 2, more: false }, { app: APP }),
    step.sweep({ more: false }, { dry: true, app: APP }),
    ...countedThenSwept({ sessions: 1, more: false }),
  ),
  storeCase(
    'a dry sweep counts no more than its limit, and says that there may be more',
    ...times(5, (index) => createExpired(`c${index}`, 1_000 + index)),
    ...countedThenSwept({ sessions: 2, more: true }, { limit: 2 }),
    ...countedThenSwept({ sessions: 1, more: true }, { limit: 1, app: APP }),
    ...countedThenSwept({ sessions: 2, more: false }, { limit: 3 }),
  ),
  storeCase(
    'what a dry sweep has counted is as it was: expired, and known, and its key is free',
    createExpired('c', 1_000, KEY, { app: set('a', 1), user: set('u', 1), session: set('s', 1) }),
    createExpired('x', 1_000, keyOf('other')),
    { wait: 30 },
    step.sweep({ sessions: 2, users: 1, more: false }, { dry: true, userTtl: 10 }),
    step.load(null),
    step.commit(change.append('e1'), ENDED),
    step.commit(change.create('c', { app: set('a', 2) }), answer.again(0, 1, 1)),
    step.appHas(1, { a: 1 }),
    step.userHas(1, { u: 1 }),
    step.commit(change.create('d'), answer.made(1, 1)),
    ...countedThenSwept({ sessions: 1, more: false }, { userTtl: 10 }),
    step.sessionHas({ created: 'd', pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 1 } } }),
  ),
  storeCase(
    'a dry sweep counts users without sessions whose values are old enough, and leaves the values',
    step.commit(change.update('p', { user: set('u', 1) }), answer.made(0, 1)),
    step.commit(change.update('q', { user: set('u', 1) }, { key: other }), answer.made(0, 1)),
    step.commit(change.create('y', { user: set('u', 1) }, { key: keyOf('y', 'busy') }), answer.made(0, 1)),
    { wait: 30 },
    step.sweep({ more: false }, { dry: true }),
    step.sweep({ more: false }, { dry: true, userTtl: LONG }),
    step.sweep({ users: 2, more: false }, { dry: true, userTtl: 10, limit: ALL }),
    step.userHas(1, { u: 1 }),
    ...countedThenSwept({ users: 1, more: true }, { userTtl: 10, limit: 1 }),
    ...countedThenSwept({ users: 1, more: false }, { userTtl: 10 }),
    step.userHas(2, {}),
    step.userHas(2, {}, 'other'),
    step.userHas(1, { u: 1 }, 'busy'),
  ),
  storeCase(
    'a dry sweep counts a user whose sessions have all expired, and none who has another session',
    createExpired('c1', 1_000, keyOf('one', 'gone'), { user: set('u', 1) }),
    createExpired('c2', 2_000, keyOf('two', 'gone')),
    createExpired('c3', 3_000, keyOf('three', 'busy'), { user: set('u', 1) }),
    step.commit(change.create('y', {}, { key: keyOf('y', 'busy') }), answer.made(0, 1)),
    createExpired('c4', 4_000, keyOf('four', 'without values')),
    createExpired('c5', 5_000, keyOf('five', 'gone', 'second'), { user: set('u', 1) }),
    { wait: 30 },
    step.sweep({ sessions: 5, more: false }, { dry: true }),
    ...countedThenSwept({ sessions: 1, users: 1, more: false }, { userTtl: 10, app: 'second' }),
    ...countedThenSwept({ sessions: 4, users: 1, more: false }, { userTtl: 10 }),
    step.userHas(2, {}, 'gone'),
    step.userHas(1, { u: 1 }, 'busy'),
  ),
  storeCase(
    'the sessions and users that a dry sweep counts are together no more than its limit',
    createExpired('c1', 1_000, keyOf('one', 'u1')),
    createExpired('c2', 1_000, keyOf('two', 'u2')),
    step.commit(change.update('p', { user: set('u', 1) }), answer.made(0, 1)),
    step.commit(change.update('q', { user: set('u', 1) }, { key: other }), answer.made(0, 1)),
    { wait: 30 },
    step.sweep({ sessions: 1, more: true }, { dry: true, userTtl: 10, limit: 1 }),
    ...countedThenSwept({ sessions: 2, users: 1, more: true }, { userTtl: 10, limit: 3 }),
    ...countedThenSwept({ users: 1, more: false }, { userTtl: 10, limit: 3 }),
  ),
  storeCase(
    'a dry sweep of one store counts what the other has created',
    createExpired('c1', 1_000, keyOf('one')),
    step.sweep({ sessions: 1, more: false }, { dry: true }, { by: 'another' }),
    createExpired('c2', 2_000, keyOf('two')),
    step.sweep({ sessions: 2, more: false }, { dry: true }, { by: 'another' }),
    step.sweep({ sessions: 2, more: false }),
    step.sweep({ more: false }, { dry: true }, { by: 'another' }),
  ),
  storeCase(
    'a dry sweep counts the same when the storage is opened again',
    createExpired('c1', 1_000, keyOf('one')),
    createExpired('c2', 2_000, keyOf('two')),
    step.sweep({ sessions: 2, more: false }, { dry: true }),
    { reopen: 'check' },
    ...countedThenSwept({ sessions: 2, more: false }),
    { reopen: 'check' },
    step.sweep({ more: false }, { dry: true }),
  ),
];

export const sweepCases: readonly StoreCase[] = [...expiredCases, ...userCases, ...dryCases];
