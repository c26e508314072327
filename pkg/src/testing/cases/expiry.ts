// The ends of sessions: one that has expired is not there, whether it was removed or not.

import {
  APP,
  KEY,
  USER,
  answer,
  caseThatNeeds,
  change,
  dataOf,
  eventsOf,
  featureCase,
  keyOf,
  set,
  step,
  storeCase,
} from '../build/index.js';
import type { Expiry } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';
import type { StoreCase, StoreStep } from '../case.js';

/** A year that no clock comes to while a case runs, in milliseconds since the epoch. */
const FAR = 9_000_000_000_000;
/** A time that has passed on every clock. */
const PAST = 1_000_000;
/** Eleven days, in milliseconds. */
const LONG = 1_000_000_000;
/** Long enough for some calls, and short enough to wait for. */
const SHORT = 1_500;

const notFound = { throws: 'not-found' } as const;

/** Creates a session that ends so. */
function createEnding(
  id: string,
  expires: Expiry,
  end: Parameters<typeof answer.ending>[1],
  {
    key = KEY,
    delta = {},
    pos = [0, 0],
  }: {
    readonly key?: SessionKey;
    readonly delta?: Parameters<typeof change.create>[1];
    readonly pos?: readonly [app: number, user: number];
  } = {},
): StoreStep {
  return step.commit(change.create(id, delta, { key, expires }), answer.ending(answer.made(...pos), end));
}

/** Creates the usual session, which has expired by then. */
const createExpired = (id = 'c', more: Parameters<typeof createEnding>[3] = {}): StoreStep =>
  createEnding(id, { at: PAST }, PAST, more);

const endCases: readonly StoreCase[] = [
  storeCase(
    'a session that ends at a time says so wherever it is read or written, and appends do not move its end',
    createEnding('c', { at: FAR }, FAR, { delta: { session: set('s', 1) } }),
    step.sessionHas({ expires: FAR, state: { session: { s: 1 } } }),
    step.commit(change.append('e1', { session: set('s', 2) }), answer.ending(answer.appended(1), FAR)),
    step.sessionHas({ expires: FAR, state: { session: { s: 2 } }, events: eventsOf('e1') }),
    step.list([answer.row({ rev: 1, expires: FAR, state: { s: 2 } })]),
    step.commit(change.append('e1', { session: set('s', 2) }), answer.ending(answer.appendedBefore('e1', 1), FAR)),
    step.commit(
      change.create('c', { session: set('s', 1) }, { expires: { at: FAR } }),
      answer.ending(answer.again(1), FAR),
    ),
    step.owners([USER]),
  ),
  storeCase(
    'a session that has no end says none, whatever ends beside it',
    createEnding('c', { at: FAR }, FAR),
    step.commit(change.create('d', {}, { key: keyOf('other') }), answer.made()),
    step.commit(change.append('e1', {}, { key: keyOf('other') }), answer.appended(1)),
    step.sessionHas({ created: 'd', events: eventsOf('e1') }, {}, keyOf('other')),
    step.list([answer.row({ key: keyOf('other'), created: 'd', rev: 1 }), answer.row({ expires: FAR })]),
    step.commit(change.update('p', { user: set('u', 1) }), answer.made(0, 1)),
  ),
  storeCase(
    'a session that lives for a time ends so many milliseconds later, and each append moves its end',
    createEnding('c', { ttl: LONG }, 'some'),
    createEnding('d', { ttl: 2 * LONG }, { after: LONG }, { key: keyOf('other') }),
    step.sessionHas({ created: 'd', expires: 'same' }, {}, keyOf('other')),
    { wait: 30 },
    step.commit(change.append('e1', {}, { key: keyOf('other') }), answer.ending(answer.appended(1), { after: 25 })),
    step.commit(
      change.append('e1', {}, { key: keyOf('other') }),
      answer.ending(answer.appendedBefore('e1', 1), 'same'),
    ),
    step.commit(
      change.create('d', {}, { key: keyOf('other'), expires: { ttl: 2 * LONG } }),
      answer.ending(answer.again(1), 'same'),
    ),
    step.list(
      [answer.row({ key: keyOf('other'), created: 'd', rev: 1, expires: 'same' })],
      { limit: 1 },
      { total: 2 },
    ),
    { wait: 30 },
    step.commit(change.append('e2', {}, { key: keyOf('other') }), answer.ending(answer.appended(2), { after: 25 })),
    step.sessionHas({ created: 'd', expires: 'same', events: eventsOf('e1', 'e2') }, {}, keyOf('other')),
  ),
  storeCase(
    'nothing but an append moves the end of a session',
    createEnding('c', { ttl: LONG }, 'some'),
    { wait: 30 },
    step.commit(change.update('p', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { rev: 7 } }), { throws: 'conflict', actual: 0 }),
    step.commit(change.create('x', change.EVERYTHING), { throws: 'exists' }),
    step.sessionHas({ expires: 'same', pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 1 } } }),
    step.list([answer.row({ expires: 'same' })], {}, { app: { a: 1 }, users: { [USER]: { u: 1 } } }),
  ),
  storeCase(
    'neither a lease nor a look moves the end of a session',
    createEnding('c', { ttl: LONG }, 'some'),
    { wait: 30 },
    step.lease({ holder: 'one', ttl: LONG }, { fence: 1 }),
    step.readLease({ fence: 1, holder: 'one' }),
    step.sessionHas({ expires: 'same' }),
  ),
  storeCase(
    'the end of a session, and how it moves, are there when the storage is opened again',
    createEnding('c', { at: FAR }, FAR),
    createExpired('x', { key: keyOf('gone') }),
    createEnding('d', { ttl: LONG }, 'some', { key: keyOf('other') }),
    { reopen: 'check' },
    step.sessionHas({ created: 'd', expires: 'same' }, {}, keyOf('other')),
    { wait: 30 },
    step.commit(change.append('e1', {}, { key: keyOf('other') }), answer.ending(answer.appended(1), { after: 25 })),
    step.commit(change.append('e1'), answer.ending(answer.appended(1), FAR)),
    step.load(null, {}, keyOf('gone')),
    step.list([
      answer.row({ key: keyOf('other'), created: 'd', rev: 1, expires: 'some' }),
      answer.row({ rev: 1, expires: FAR }),
    ]),
  ),
  storeCase(
    'the other store knows the end of a session, and moves it',
    createEnding('c', { at: FAR }, FAR),
    createExpired('x', { key: keyOf('gone') }),
    createEnding('d', { ttl: LONG }, 'some', { key: keyOf('other') }),
    { ...step.load(null, {}, keyOf('gone')), by: 'another' },
    { ...step.sessionHas({ expires: FAR }), by: 'another' },
    { ...step.sessionHas({ created: 'd', expires: 'some' }, {}, keyOf('other')), by: 'another' },
    { wait: 30 },
    {
      ...step.commit(
        change.append('e1', {}, { key: keyOf('other') }),
        answer.ending(answer.appended(1), { after: 25 }),
      ),
      by: 'another',
    },
    step.sessionHas({ created: 'd', expires: 'same', events: eventsOf('e1') }, {}, keyOf('other')),
  ),
];

/** Nothing of the usual session is there. */
const isGone: readonly StoreStep[] = [
  step.load(null),
  step.load(null, { known: { created: 'c', rev: 0, pos: { app: 1, user: 1 } } }),
  step.list([], {}, { app: { a: 1 } }),
  step.list([], { user: USER }, { app: { a: 1 } }),
  step.owners([]),
];

const goneCases: readonly StoreCase[] = [
  storeCase(
    'a session whose time has passed is not there, and the values of its app and its user are',
    createExpired('c', { delta: { app: set('a', 1), user: set('u', 1), session: set('s', 1) }, pos: [1, 1] }),
    ...isGone,
    step.appHas(1, { a: 1 }),
    step.userHas(1, { u: 1 }),
  ),
  storeCase(
    'nothing is appended to a session that has expired',
    createExpired(),
    step.commit(change.append('e1', change.EVERYTHING), notFound),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { created: 'c' } }), notFound),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { rev: 0 } }), notFound),
    step.appHas(0, {}),
    step.userHas(0, {}),
    step.load(null),
  ),
  storeCase(
    'a session that has expired is not brought back by its creation that is sent again',
    createExpired('c', { delta: { app: set('a', 1) }, pos: [1, 0] }),
    step.commit(change.create('c', { app: set('a', 2) }, { expires: { at: PAST } }), answer.again(0, 1)),
    step.commit(change.create('c', { app: set('a', 2) }, { expires: { at: FAR } }), answer.again(0, 1)),
    step.commit(change.create('c', { app: set('a', 2) }), answer.again(0, 1)),
    step.load(null),
    step.appHas(1, { a: 1 }),
  ),
  storeCase(
    'a session is created anew under the key of one that has expired: revision 0, no events, no values',
    createExpired('c', { delta: { app: set('a', 1), session: set('s', 1) }, pos: [1, 0] }),
    createEnding('d', { at: FAR }, FAR, { delta: { session: set('t', 2) }, pos: [1, 0] }),
    step.sessionHas({ created: 'd', expires: FAR, pos: { app: 1 }, state: { app: { a: 1 }, session: { t: 2 } } }),
    step.commit(change.create('c', {}, { expires: { at: PAST } }), answer.again(0, 1)),
    step.commit(change.append('e1', {}, { guard: { created: 'c' } }), notFound),
    step.commit(
      change.append('e1', {}, { guard: { created: 'd', rev: 0 } }),
      answer.ending(answer.appended(1, 1), FAR),
    ),
    step.list([answer.row({ created: 'd', rev: 1, expires: FAR, state: { t: 2 } })], {}, { app: { a: 1 } }),
    step.owners([USER]),
    { remove: KEY },
    step.commit(change.create('f'), answer.made(1)),
    step.sessionHas({ created: 'f', pos: { app: 1 }, state: { app: { a: 1 } } }),
  ),
  featureCase(
    'digests',
    'the creation of a session that has expired still has its digest',
    step.commit(change.create('c', {}, { digest: 'one', expires: { at: PAST } }), answer.ending(answer.made(), PAST)),
    step.commit(
      change.create('c', {}, { digest: 'two', expires: { at: PAST } }),
      answer.withDigest(answer.again(0), 'one'),
    ),
    step.commit(change.create('d'), answer.made()),
    step.commit(
      change.create('c', {}, { digest: 'two', expires: { at: PAST } }),
      answer.withDigest(answer.again(0), 'one'),
    ),
  ),
  caseThatNeeds(
    'limits',
    'a session is counted from nothing under the key of one that has expired',
    createExpired('c', { delta: { session: { set: { a: 1, b: 2, c: 3 } } } }),
    step.commit(change.create('d', { session: set('s', 1) }, { limits: { keys: 1, state: 2 } }), answer.made()),
    step.commit(change.append('e1', { session: set('t', 1) }, { limits: { keys: 1 } }), {
      throws: 'limit',
      exceeded: 'keys',
      size: 2,
      limit: 1,
      scope: 'session',
    }),
  ),
  storeCase(
    'a session that has expired is not leased, and has no lease',
    createExpired(),
    step.readLease(null),
    step.lease({ holder: 'one', ttl: LONG }, notFound),
    step.lease({ holder: 'one', ttl: LONG, created: 'c' }, notFound),
  ),
  featureCase(
    'removals',
    'a session that has expired is removed with any token, which is no error',
    createExpired(),
    { remove: KEY, created: 'c', fence: 7 },
    { remove: KEY, fence: 7 },
    { remove: KEY },
    step.load(null),
    step.commit(change.create('d'), answer.made()),
    { remove: KEY, created: 'c' },
    step.sessionHas({ created: 'd' }),
  ),
  storeCase(
    'lists, their pages and totals, and owners leave out what has expired',
    ...['a', 'b', 'c', 'd', 'e'].map((id, index) =>
      index % 2 === 1
        ? createExpired(id, { key: keyOf(id) })
        : step.commit(change.create(id, {}, { key: keyOf(id) }), answer.made()),
    ),
    createExpired('f', { key: keyOf('a', 'other') }),
    step.list(['a', 'c', 'e'].map((id) => answer.row({ key: keyOf(id), created: id }))),
    step.list([answer.row({ key: keyOf('a'), created: 'a' })], { limit: 1 }, { total: 3 }),
    step.list([answer.row({ key: keyOf('c'), created: 'c' })], { limit: 1, offset: 1 }, { total: 3 }),
    step.list(
      [answer.row({ key: keyOf('e'), created: 'e' })],
      { limit: 2, after: { time: 1_000, sessionId: 'd', userId: USER } },
      { total: 3 },
    ),
    step.list(
      [answer.row({ key: keyOf('e'), created: 'e' })],
      { user: USER, descending: true, offset: 2 },
      { total: 3 },
    ),
    step.list([], { user: 'other' }),
    step.owners([USER], 'a'),
    step.owners([], 'b'),
  ),
  storeCase(
    'among changes that go together those for what has expired meet no session',
    createExpired('c0', { key: keyOf('s0') }),
    createExpired('c1', { key: keyOf('s1') }),
    createExpired('c2', { key: keyOf('s2') }),
    createEnding('c3', { at: FAR }, FAR, { key: keyOf('s3') }),
    {
      commitMany: [
        change.append('e1', change.EVERYTHING, { key: keyOf('s0') }),
        change.create('d1', { session: set('s', 1) }, { key: keyOf('s1') }),
        change.create('c2', {}, { key: keyOf('s2') }),
        change.append('e1', {}, { key: keyOf('s3') }),
        change.create('c4', {}, { key: keyOf('s4'), expires: { at: PAST } }),
      ],
      outcomes: [
        notFound,
        answer.made(),
        answer.again(0),
        answer.ending(answer.appended(1), FAR),
        answer.ending(answer.made(), PAST),
      ],
    },
    step.list([
      answer.row({ key: keyOf('s1'), created: 'd1', state: { s: 1 } }),
      answer.row({ key: keyOf('s3'), created: 'c3', rev: 1, expires: FAR }),
    ]),
    step.load(null, {}, keyOf('s4')),
  ),
  storeCase(
    'a call for a session that has expired is refused for good when another try of it may be on its way',
    createExpired(),
    step.commit(change.append('e1', {}, { attempt: 2 }), notFound),
    step.commit(change.create('d'), answer.made()),
    step.commit(change.append('e1'), { throws: 'conflict' }),
    step.sessionHas({ created: 'd' }),
  ),
];

const timedCases: readonly StoreCase[] = [
  storeCase(
    'a session goes with its events, its values and its lease when its time is over, and nothing brings it back',
    createEnding('c', { ttl: SHORT }, 'some', { delta: { app: set('a', 1), session: set('s', 1) }, pos: [1, 0] }),
    step.commit(change.append('e1', { session: set('t', 1) }), answer.ending(answer.appended(1, 1), 'some')),
    step.lease({ holder: 'one', ttl: LONG }, { fence: 1 }),
    { wait: SHORT + 50 },
    step.load(null),
    step.list([], {}, { app: { a: 1 } }),
    step.owners([]),
    step.readLease(null),
    step.lease({ holder: 'one', ttl: LONG, fence: 1 }, notFound),
    step.commit(change.append('e1', { session: set('t', 1) }), notFound),
    step.commit(change.append('e2', change.EVERYTHING, { guard: { fence: 1, created: 'c' } }), notFound),
    step.commit(change.create('c', {}, { expires: { ttl: SHORT } }), answer.again(0, 1)),
    step.commit(change.create('d', {}, { expires: { ttl: LONG } }), answer.ending(answer.made(1), 'some')),
    step.sessionHas({ created: 'd', expires: 'same', pos: { app: 1 }, state: { app: { a: 1 } } }),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { fence: 1 } }), { throws: 'fenced', actual: 0 }),
    step.lease({ holder: 'two', ttl: LONG }, { fence: 1 }),
    step.commit(change.append('e1'), answer.ending(answer.appended(1, 1), 'some')),
    step.sessionHas({
      created: 'd',
      expires: 'same',
      pos: { app: 1 },
      state: { app: { a: 1 } },
      events: eventsOf('e1'),
    }),
  ),
  storeCase(
    'a session that is written to in time lives on beyond its first end',
    createEnding('c', { ttl: 2 * SHORT }, 'some'),
    createEnding('d', { ttl: 2 * SHORT }, 'some', { key: keyOf('idle') }),
    { wait: SHORT },
    step.commit(change.append('e1'), answer.ending(answer.appended(1), 'some')),
    { wait: SHORT + 100 },
    step.load(null, {}, keyOf('idle')),
    step.sessionHas({ expires: 'same', events: eventsOf('e1') }),
    step.sweep({ sessions: 1, more: false }),
    step.sessionHas({ expires: 'same', events: eventsOf('e1') }),
    step.list([answer.row({ rev: 1, expires: 'same' })]),
    step.commit(change.append('e1'), answer.ending({ ...answer.again(1), data: dataOf('e1') }, 'same')),
    step.owners([USER], KEY.sessionId, APP),
  ),
];

export const expiryCases: readonly StoreCase[] = [...endCases, ...goneCases, ...timedCases];
