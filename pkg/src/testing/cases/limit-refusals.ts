// The refusals of changes that exceed a limit: which one comes first, what they count, and that nothing is written.

import {
  APP,
  KEY,
  answer,
  change,
  dataOf,
  eventsOf,
  featureCase,
  keyOf,
  set,
  step,
  storeCase,
  times,
} from '../build/index.js';
import type { StoreCase } from '../case.js';

const refusalCases: readonly StoreCase[] = [
  storeCase(
    'a session begins with no more than it is allowed, and what is refused is not there',
    step.commit(
      change.create(
        'c',
        { app: set('a', 1), user: set('u', 1), session: { set: { s: 1, t: 2 } } },
        { limits: { keys: 1 } },
      ),
      answer.beyond('keys', 2, 1, 'session'),
    ),
    step.load(null),
    step.appHas(0, {}),
    step.userHas(0, {}),
    step.commit(
      change.create(
        'c',
        { app: set('a', 1), user: set('u', 1), session: { set: { s: 1, t: 2 } } },
        { limits: { keys: 2, events: 0 } },
      ),
      answer.made(1, 1),
    ),
    // A session is counted by itself: one that is removed leaves nothing behind.
    { remove: KEY },
    step.commit(
      change.create('d', { session: { set: { s: 1, t: 2 } } }, { limits: { keys: 2, state: 4 } }),
      answer.made(1, 1),
    ),
  ),
  storeCase(
    'an update of app and user is limited as an append is',
    step.commit(
      change.update('p', { app: set('a', 1), user: set('u', 1) }, { limits: { keys: 0 } }),
      answer.beyond('keys', 1, 0, 'app'),
    ),
    step.commit(
      change.update('p', { user: set('u', 1) }, { limits: { state: 1 } }),
      answer.beyond('state', 2, 1, 'user'),
    ),
    step.commit(
      change.appUpdate('p', { app: set('a', 1) }, { limits: { state: 1, events: 0 } }),
      answer.beyond('state', 2, 1, 'app'),
    ),
    step.appHas(0, {}),
    step.userHas(0, {}),
    step.commit(
      change.update('p', { app: set('a', 1), user: set('u', 1) }, { limits: { keys: 1, state: 2, events: 0 } }),
      answer.made(1, 1),
    ),
    step.commit(change.update('q', { app: set('b', 1) }, { limits: { keys: 1 } }), answer.beyond('keys', 2, 1, 'app')),
    // The limit is that of each scope by itself: another app, and another user, begin anew.
    step.commit(
      change.update('q', { user: set('b', 1) }, { key: { appName: APP, userId: 'other' }, limits: { keys: 1 } }),
      answer.made(1, 1),
    ),
    step.commit(
      change.appUpdate('r', { app: set('b', 1) }, { key: { appName: 'other' }, limits: { keys: 1 } }),
      answer.made(1),
    ),
  ),
  storeCase(
    'values that were deleted all at once do not count any more',
    step.commit(
      change.update('p', { app: { set: { a: 1, b: 1 } }, user: { set: { u: 1, v: 1 } } }),
      answer.made(1, 1),
    ),
    { removeScope: { app: APP } },
    { removeScope: { app: APP, user: 'user' } },
    step.commit(
      change.update('q', { app: set('c', 1), user: set('w', 1) }, { limits: { keys: 1, state: 2 } }),
      answer.made(3, 3),
    ),
    step.commit(change.update('r', { app: set('a', 1) }, { limits: { keys: 1 } }), answer.beyond('keys', 2, 1, 'app')),
    step.commit(
      change.update('r', { app: set('a', 1) }, { limits: { state: 3 } }),
      answer.beyond('state', 4, 3, 'app'),
    ),
  ),
  storeCase(
    'the events of a session are limited, without that of its creation',
    step.commit(change.begin(), answer.made()),
    step.commit(change.append('e1', {}, { limits: { events: 0 } }), answer.beyond('events', 1, 0)),
    step.commit(change.append('e1', {}, { limits: { events: 2 } }), answer.appended(1)),
    step.commit(change.append('e2', {}, { limits: { events: 2 } }), answer.appended(2)),
    step.commit(change.append('e3', change.EVERYTHING, { limits: { events: 2 } }), answer.beyond('events', 3, 2)),
    step.commit(change.append('e2', {}, { limits: { events: 2 } }), answer.appendedBefore('e2', 2)),
    step.sessionHas({ events: eventsOf('e1', 'e2') }),
    step.commit(change.append('e3'), answer.appended(3)),
    step.commit(change.append('e4', {}, { limits: { events: 1 } }), answer.beyond('events', 4, 1)),
    step.commit(change.append('e4', {}, { limits: { events: 4 } }), answer.appended(4)),
  ),
  storeCase(
    'the values of a delta are not compared with the limit of values',
    step.commit(change.create('c', { session: set('s', 'long') }, { limits: { value: 1 } }), answer.made()),
    step.commit(change.append('e1', { session: set('s', 'longer') }, { limits: { value: 1 } }), answer.appended(1)),
  ),
  storeCase(
    'limits that nothing comes near change nothing',
    step.commit(
      change.create(
        'c',
        { app: set('a', 1), session: set('s', 'x') },
        { limits: { value: 1e9, keys: 1e6, state: 1e9, events: 1e7 } },
      ),
      answer.made(1),
    ),
    step.commit(change.append('e1', {}, { limits: {} }), answer.appended(1, 1)),
    step.sessionHas({ pos: { app: 1 }, state: { app: { a: 1 }, session: { s: 'x' } }, events: eventsOf('e1') }),
  ),
  storeCase(
    'the limits of a change that was made do not matter when it is sent again',
    step.commit(change.create('c', { app: set('a', 1), session: set('s', 1) }), answer.made(1)),
    step.commit(change.append('e1', { session: set('t', 1) }), answer.appended(1, 1)),
    step.commit(change.update('p', { app: set('b', 1) }), answer.made(2)),
    step.commit(change.create('c', { session: set('s', 1) }, { limits: { keys: 0 } }), answer.again(1, 2)),
    step.commit(change.append('e1', { session: set('t', 1) }, { limits: { keys: 0, events: 0 } }), {
      ...answer.again(1, 2),
      data: dataOf('e1'),
    }),
    step.commit(change.update('p', { app: set('b', 1) }, { limits: { keys: 0 } }), answer.updatedBefore(2)),
  ),
  storeCase(
    'the whole guard comes before the limits',
    step.commit(change.create('c', { session: set('s', 1) }), answer.made()),
    ...[{ rev: 7 }, { pos: { app: 7 } }, { keys: { session: set('s', 2) } }].map((guard) =>
      step.commit(change.append('e1', change.EVERYTHING, { guard, limits: { events: 0, keys: 0 } }), {
        throws: 'conflict',
      }),
    ),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { created: 'x' }, limits: { events: 0 } }), {
      throws: 'not-found',
    }),
    step.commit(change.append('e1', change.EVERYTHING, { key: keyOf('other'), limits: { events: 0 } }), {
      throws: 'not-found',
    }),
    step.commit(change.create('d', change.EVERYTHING, { limits: { keys: 0 } }), { throws: 'exists' }),
    step.sessionHas({ state: { session: { s: 1 } } }),
  ),
  storeCase(
    'the first limit that is exceeded is the answer: events, then the app, the user and the session, names before bytes',
    step.commit(change.create(), answer.made()),
    ...(
      [
        [{ events: 0, keys: 0, state: 0 }, change.EVERYTHING, answer.beyond('events', 1, 0)],
        [{ events: 1, keys: 0, state: 0 }, change.EVERYTHING, answer.beyond('keys', 1, 0, 'app')],
        [{ state: 0 }, change.EVERYTHING, answer.beyond('state', 4, 0, 'app')],
        [
          { keys: 1, state: 4 },
          { app: set('a', 1), user: { set: { u: 1, v: 1 } }, session: set('s', 1000) },
          answer.beyond('keys', 2, 1, 'user'),
        ],
        [
          { keys: 1, state: 4 },
          { app: set('a', 1), user: set('u', 1000), session: { set: { s: 1, t: 1 } } },
          answer.beyond('state', 5, 4, 'user'),
        ],
        [
          { keys: 1, state: 4 },
          { app: set('a', 1), user: set('u', 1), session: { set: { s: 1, t: 1000 } } },
          answer.beyond('keys', 2, 1, 'session'),
        ],
        [
          { keys: 1, state: 4 },
          { app: set('a', 1), user: set('u', 1), session: set('s', 1000) },
          answer.beyond('state', 5, 4, 'session'),
        ],
      ] as const
    ).map(([limits, delta, refused]) => step.commit(change.append('e1', delta, { limits }), refused)),
    step.sessionHas(),
  ),
  storeCase(
    'what a store has counted is there when the storage is opened again',
    step.commit(
      change.create('c', { app: { set: { a: 1, b: 1 } }, user: set('u', 'ä'), session: set('s', 1) }),
      answer.made(1, 1),
    ),
    step.commit(change.append('e1'), answer.appended(1, 1, 1)),
    { reopen: 'check' },
    step.commit(
      change.append('e2', { app: set('c', 1) }, { limits: { keys: 2 } }),
      answer.beyond('keys', 3, 2, 'app'),
    ),
    step.commit(
      change.append('e2', { user: set('v', 1) }, { limits: { state: 6 } }),
      answer.beyond('state', 7, 6, 'user'),
    ),
    step.commit(
      change.append('e2', { session: set('t', 1) }, { limits: { state: 3 } }),
      answer.beyond('state', 4, 3, 'session'),
    ),
    step.commit(change.append('e2', {}, { limits: { events: 1 } }), answer.beyond('events', 2, 1)),
    step.commit(
      change.append(
        'e2',
        { app: set('c', 1), user: set('v', 1), session: set('t', 1) },
        { limits: { keys: 3, state: 7, events: 2 } },
      ),
      answer.appended(2, 2, 2),
    ),
  ),
  storeCase(
    'what another store has written counts',
    step.commit(change.create('c', { session: set('s', 1) }), answer.made()),
    {
      commit: change.append('e1', { app: set('a', 1), session: set('t', 1) }),
      outcome: answer.appended(1, 1),
      by: 'another',
    },
    step.commit(
      change.append('e2', { app: set('b', 1) }, { limits: { keys: 1 } }),
      answer.beyond('keys', 2, 1, 'app'),
    ),
    step.commit(
      change.append('e2', { session: set('u', 1) }, { limits: { state: 5 } }),
      answer.beyond('state', 6, 5, 'session'),
    ),
    step.commit(change.append('e2', {}, { limits: { events: 1 } }), answer.beyond('events', 2, 1)),
    step.commit(
      change.append('e2', { app: set('b', 1), session: set('u', 1) }, { limits: { keys: 3, state: 6, events: 2 } }),
      answer.appended(2, 2),
    ),
  ),
  featureCase(
    'calls',
    'a call that was refused by a limit is not written by an earlier try that arrives after it',
    step.commit(change.create(), answer.made()),
    step.commit(
      change.append('e1', change.EVERYTHING, { attempt: 2, limits: { keys: 0 } }),
      answer.beyond('keys', 1, 0, 'app'),
    ),
    step.commit(change.append('e1', change.EVERYTHING), { throws: 'conflict' }),
    step.commit(change.append('e1', change.EVERYTHING, { attempt: 3 }), { throws: 'conflict' }),
    step.sessionHas(),
    // A first try leaves nothing behind.
    step.commit(change.append('e2', change.EVERYTHING, { limits: { keys: 0 } }), answer.beyond('keys', 1, 0, 'app')),
    step.commit(change.append('e2'), answer.appended(1)),
    step.commit(
      change.appUpdate('p', { app: set('a', 1) }, { attempt: 2, limits: { state: 1 } }),
      answer.beyond('state', 2, 1, 'app'),
    ),
    step.commit(change.appUpdate('p', { app: set('a', 1) }), { throws: 'conflict' }),
    step.commit(change.create('d', {}, { key: keyOf('d'), attempt: 2 }), answer.made()),
    step.commit(
      change.create('f', { session: set('s', 1) }, { key: keyOf('f'), attempt: 2, limits: { keys: 0 } }),
      answer.beyond('keys', 1, 0, 'session'),
    ),
    step.commit(change.create('f', { session: set('s', 1) }, { key: keyOf('f') }), { throws: 'conflict' }),
    step.load(null, {}, keyOf('f')),
  ),
];

const manyCases: readonly StoreCase[] = [
  storeCase(
    'among changes that go together each is held to its own limits, and to what those before it have written',
    ...times(4, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      commitMany: [
        change.append(
          'e1',
          { app: set('a', 1), session: set('s', 1) },
          { key: keyOf('s0'), limits: { keys: 1, state: 2 } },
        ),
        change.append('e1', { app: set('b', 1) }, { key: keyOf('s1'), limits: { keys: 1 } }),
        change.append('e1', { app: set('b', 1) }, { key: keyOf('s2') }),
        change.append('e1', { app: set('c', 1) }, { key: keyOf('s3'), limits: { keys: 3, state: 5 } }),
        change.update('p', { app: { unset: ['a'] }, user: set('u', 1) }, { limits: { keys: 1 } }),
        change.create('c4', { session: set('s', 1) }, { key: keyOf('s4'), limits: { keys: 0 } }),
        change.create('c5', { app: set('d', 1) }, { key: keyOf('s5'), limits: { keys: 2, state: 4 } }),
      ],
      outcomes: [
        answer.appended(1, 1),
        answer.beyond('keys', 2, 1, 'app'),
        answer.appended(1, 2),
        answer.beyond('state', 6, 5, 'app'),
        answer.made(3, 1),
        answer.beyond('keys', 1, 0, 'session'),
        answer.made(4, 1),
      ],
    },
    {
      commitMany: [
        change.append('e1', { app: set('a', 1) }, { key: keyOf('s0'), limits: { events: 0, keys: 0 } }),
        change.append('e1', {}, { key: keyOf('s1'), limits: { events: 1 } }),
        change.append('e2', {}, { key: keyOf('s2'), limits: { events: 1 } }),
      ],
      outcomes: [answer.appendedBefore('e1', 1, 4, 1), answer.appended(1, 4, 1), answer.beyond('events', 2, 1)],
    },
    step.appHas(4, { b: 1, d: 1 }),
  ),
  storeCase(
    'of many that write at once as many are refused as are too many',
    {
      parallel: times(8, (index) =>
        step.commit(change.appUpdate(`p${index}`, { app: set(`a${index}`, 1) }, { limits: { keys: 3 } })),
      ),
      outcomes: [...[1, 2, 3].map((pos) => answer.made(pos)), ...times(5, () => answer.beyond('keys', 4, 3, 'app'))],
    },
    step.commit(
      change.appUpdate('q', { app: set('b', 1) }, { limits: { state: 10 } }),
      answer.beyond('state', 11, 10, 'app'),
    ),
  ),
];

export const limitRefusalCases: readonly StoreCase[] = [...refusalCases, ...manyCases];
