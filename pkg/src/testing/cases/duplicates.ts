// The same change sent again.

import {
  APP,
  KEY,
  answer,
  beginningOf,
  change,
  dataOf,
  eventsOf,
  keyOf,
  set,
  step,
  storeCase,
} from '../build/index.js';
import type { Guard } from '../../store/contract.js';
import type { StoreCase } from '../case.js';

const ofApp = { key: { appName: APP } };
/** A guard for a state that no session has any more. */
const stale: Guard = {
  rev: 77,
  pos: { app: 77, user: 77 },
  keys: { app: set('a', 'other'), user: set('u', 'other'), session: set('s', 'other') },
};

export const duplicateCases: readonly StoreCase[] = [
  storeCase(
    'a creation that is sent again is a duplicate as long as the session lives, and writes nothing',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
    step.commit(
      change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }),
      answer.again(0, 1, 1),
    ),
    step.commit(
      change.append('e1', { app: set('a', 2), session: { unset: ['s'] } }, { time: 2_000 }),
      answer.appended(1, 2, 1),
    ),
    step.commit(change.append('e2', { user: set('u', 2) }, { time: 3_000 }), answer.appended(2, 2, 2)),
    step.commit(
      change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }),
      answer.again(2, 2, 2),
    ),
    step.sessionHas({
      time: 3_000,
      pos: { app: 2, user: 2 },
      state: { app: { a: 2 }, user: { u: 2 } },
      events: eventsOf('e1', 'e2'),
    }),
    step.list([answer.row({ rev: 2, time: 3_000 })], {}, { app: { a: 2 }, users: { user: { u: 2 } } }),
    { remove: KEY },
    step.commit(change.create('d', { app: set('a', 3) }), answer.made(3, 2)),
    step.sessionHas({ created: 'd', pos: { app: 3, user: 2 }, state: { app: { a: 3 }, user: { u: 2 } } }),
  ),
  storeCase(
    'what a session began with stays as it is, whatever its creation says when it is sent again',
    step.commit(change.begin('c', { session: set('s', 1) }), answer.made()),
    step.commit(change.begin('c', { session: set('s', 1) }), answer.again(0)),
    step.commit(change.begin('d', { session: set('s', 2) }), { throws: 'exists' }),
    step.commit(change.append('e1'), answer.appended(1)),
    step.commit(change.begin('c', {}, { event: { id: 'c', time: 9_000, data: '"other"' } }), answer.again(1)),
    step.commit(change.create('c'), answer.again(1)),
    step.sessionHas(
      { state: { session: { s: 1 } }, events: [beginningOf(), ...eventsOf('e1')] },
      {
        events: { from: 0 },
      },
    ),
    step.commit(change.create('d', {}, { key: keyOf('two') }), answer.made()),
    step.commit(change.begin('d', {}, { key: keyOf('two') }), answer.again(0)),
    step.sessionHas({ created: 'd' }, { events: { from: 0 } }, keyOf('two')),
  ),
  storeCase(
    'an event may have the id of the creation, and is not the one that the session began with',
    step.commit(change.begin('c'), answer.made()),
    step.commit(change.append('c'), answer.appended(1)),
    step.commit(change.append('c'), answer.appendedBefore('c', 1)),
    step.commit(change.begin('c'), answer.again(1)),
    step.sessionHas({ events: [beginningOf(), ...eventsOf('c')] }, { events: { from: 0 } }),
  ),
  storeCase(
    'an event that is sent again is a duplicate, is answered with the stored one and the revision of now, and writes nothing',
    step.commit(change.create('c', { session: set('n', 0) }), answer.made()),
    step.commit(
      change.append('e1', { app: set('a', 1), user: set('u', 1), session: set('n', 1) }),
      answer.appended(1, 1, 1),
    ),
    step.commit(
      change.append('e1', { app: set('a', 1), user: set('u', 1), session: set('n', 1) }),
      answer.appendedBefore('e1', 1, 1, 1),
    ),
    step.commit(
      change.append('e2', { app: set('a', 2), session: set('n', 2) }, { time: 2_000 }),
      answer.appended(2, 2, 1),
    ),
    step.commit(change.append('e3', { user: { unset: ['u'] } }, { time: 3_000 }), answer.appended(3, 2, 2)),
    step.commit(
      change.append('e1', { app: set('a', 1), user: set('u', 1), session: set('n', 1) }),
      answer.appendedBefore('e1', 3, 2, 2),
    ),
    step.commit(
      change.append('e2', { app: set('a', 2), session: set('n', 2) }, { time: 2_000 }),
      answer.appendedBefore('e2', 3, 2, 2),
    ),
    step.sessionHas({
      time: 3_000,
      pos: { app: 2, user: 2 },
      state: { app: { a: 2 }, session: { n: 2 } },
      events: eventsOf('e1', 'e2', 'e3'),
    }),
    step.list([answer.row({ rev: 3, time: 3_000, state: { n: 2 } })], {}, { app: { a: 2 } }),
  ),
  storeCase(
    'another event under an id that is there is answered with the one that is there',
    step.commit(change.create(), answer.made()),
    step.commit(change.append('e1', { session: set('x', 1) }), answer.appended(1)),
    step.commit(
      change.append(
        'e1',
        { session: set('x', 2) },
        { time: 9_000, event: { id: 'e1', time: 9_000, data: '"other"' } },
      ),
      answer.appendedBefore('e1', 1),
    ),
    step.sessionHas({ state: { session: { x: 1 } }, events: eventsOf('e1') }),
  ),
  storeCase(
    'an update that is sent again is a duplicate and writes nothing',
    step.commit(change.update('p1', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.update('p2', { app: set('b', 1) }, ofApp), answer.made(2, 0)),
    step.commit(change.update('p1', { app: set('a', 1), user: set('u', 1) }), answer.updatedBefore(2, 1)),
    step.commit(
      change.update('p3', { app: { set: { a: 3 }, unset: ['b'] }, user: { unset: ['u'] } }),
      answer.made(3, 2),
    ),
    step.commit(change.update('p1', { app: set('a', 1), user: set('u', 1) }), answer.updatedBefore(3, 2)),
    step.commit(change.update('p2', { app: set('b', 1) }, ofApp), answer.updatedBefore(3)),
    step.commit(
      change.update('p3', { app: { set: { a: 3 }, unset: ['b'] }, user: { unset: ['u'] } }),
      answer.updatedBefore(3, 2),
    ),
    step.appHas(3, { a: 3 }),
    step.userHas(2, {}),
  ),
  storeCase(
    'an update with nothing in it is remembered, too',
    step.commit(change.update('p', { user: {} }), answer.made()),
    step.commit(change.update('p', { user: {} }), answer.updatedBefore()),
    step.commit(change.update('q', { app: {} }, ofApp), answer.made()),
    step.commit(change.update('q', { app: {} }, ofApp), answer.updatedBefore()),
  ),
  storeCase(
    'a duplicate is a duplicate even when its guard does not hold any more',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1'), answer.appended(1, 1, 1)),
    step.commit(change.update('p', { user: set('v', 1) }), answer.made(1, 2)),
    step.commit(change.update('q', { app: set('b', 1) }, ofApp), answer.made(2, 0)),
    step.commit(
      change.create('c', {}, { guard: { pos: stale.pos ?? {}, keys: stale.keys ?? {} } }),
      answer.again(1, 2, 2),
    ),
    step.commit(change.append('e1', {}, { guard: stale }), answer.appendedBefore('e1', 1, 2, 2)),
    step.commit(change.append('e1', {}, { guard: { ...stale, created: 'c' } }), answer.appendedBefore('e1', 1, 2, 2)),
    step.commit(
      change.update('p', { user: set('v', 2) }, { guard: { pos: { user: 1 }, keys: { user: { unset: ['v'] } } } }),
      answer.updatedBefore(2, 2),
    ),
    step.commit(
      change.update(
        'q',
        { app: set('b', 2) },
        { ...ofApp, guard: { pos: { app: 1 }, keys: { app: { unset: ['b'] } } } },
      ),
      answer.updatedBefore(2),
    ),
    step.sessionHas({
      pos: { app: 2, user: 2 },
      state: { app: { a: 1, b: 1 }, user: { u: 1, v: 1 }, session: { s: 1 } },
      events: eventsOf('e1'),
    }),
  ),
  storeCase(
    'a duplicate for another session under the same key is not found',
    step.commit(change.create('c'), answer.made()),
    step.commit(change.append('e1'), answer.appended(1)),
    step.commit(change.append('e1', {}, { guard: { created: 'earlier' } }), { throws: 'not-found' }),
    { remove: KEY },
    step.commit(change.append('e1'), { throws: 'not-found' }),
    step.commit(change.create('d'), answer.made()),
    step.commit(change.append('e1', {}, { guard: { created: 'c' } }), { throws: 'not-found' }),
    step.commit(change.append('e1', {}, { guard: { created: 'd' } }), answer.appended(1)),
    step.sessionHas({ created: 'd', events: eventsOf('e1') }),
  ),
  storeCase(
    'one event id may be in several sessions, of this user, of others and of other apps',
    ...[KEY, keyOf('two'), keyOf('session', 'other'), keyOf('session', 'user', 'elsewhere')].flatMap((key, index) => [
      step.commit(change.create(`c${index}`, {}, { key }), answer.made()),
      step.commit(
        change.append('e1', { session: set('x', index) }, { key, event: { id: 'e1', time: 1_000, data: `${index}` } }),
        answer.appended(1),
      ),
    ]),
    ...[KEY, keyOf('two'), keyOf('session', 'other'), keyOf('session', 'user', 'elsewhere')].flatMap((key, index) => [
      step.commit(change.append('e1', {}, { key }), { ...answer.again(1), data: `${index}` }),
      step.sessionHas(
        {
          created: `c${index}`,
          state: { session: { x: index } },
          events: [{ rev: 1, data: `${index}` }],
        },
        {},
        key,
      ),
    ]),
  ),
  storeCase(
    'what was refused is not remembered: it is written when it can be',
    step.commit(change.append('e1', { app: set('a', 1) }), { throws: 'not-found' }),
    step.commit(change.create('c'), answer.made()),
    step.commit(change.append('e1', { app: set('a', 1) }, { guard: { rev: 1 } }), { throws: 'conflict', actual: 0 }),
    step.commit(change.append('e1', { app: set('a', 1) }, { guard: { keys: { app: set('b', 1) } } }), {
      throws: 'conflict',
    }),
    step.commit(change.append('e1', { app: set('a', 1) }), answer.appended(1, 1, 0)),
    step.commit(change.update('p', { user: set('u', 1) }, { guard: { pos: { user: 1 } } }), { throws: 'conflict' }),
    step.commit(change.update('p', { user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.create('d'), { throws: 'exists' }),
    { remove: KEY },
    step.commit(change.create('d'), answer.made(1, 1)),
    step.sessionHas({ created: 'd', pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 1 } } }),
  ),
  storeCase(
    'the hundredth event before the last is still known',
    step.commit(change.create(), answer.made()),
    ...Array.from({ length: 120 }, (_, index) =>
      step.commit(change.append(`e${index}`, { session: set('n', index) }), answer.appended(index + 1)),
    ),
    step.commit(change.append('e0'), answer.appendedBefore('e0', 120)),
    step.commit(change.append('e19'), answer.appendedBefore('e19', 120)),
    step.commit(change.append('e119'), answer.appendedBefore('e119', 120)),
    step.sessionHas(
      { rev: 120, state: { session: { n: 119 } }, events: [{ rev: 120, data: dataOf('e119') }] },
      { events: { last: 1 } },
    ),
  ),
];
