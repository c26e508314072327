// The refusals of a store, and that nothing is written then.

import { APP, KEY, answer, change, eventsOf, keyOf, set, step, storeCase } from '../build/index.js';
import { STORED_SCOPES } from '../../model/scope.js';
import type { Guard } from '../../store/contract.js';
import type { StoreCase, StoreStep } from '../case.js';

const ofApp = { key: { appName: APP } };
const begin: readonly StoreStep[] = [
  step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
  step.commit(change.append('e1', {}, { time: 2_000 }), answer.appended(1, 1, 1)),
];
/** Everything is as it was after `begin`. */
const unchanged: readonly StoreStep[] = [
  step.sessionHas({
    time: 2_000,
    pos: { app: 1, user: 1 },
    state: { app: { a: 1 }, user: { u: 1 }, session: { s: 1 } },
    events: eventsOf('e1'),
  }),
  step.list([answer.row({ rev: 1, time: 2_000, state: { s: 1 } })], {}, { app: { a: 1 }, users: { user: { u: 1 } } }),
  step.appHas(1, { a: 1 }),
  step.userHas(1, { u: 1 }),
];

/** An append that its guard refuses. */
function conflict(guard: Guard, actual?: number): StoreStep {
  const outcome = actual === undefined ? { throws: 'conflict' as const } : { throws: 'conflict' as const, actual };
  return step.commit(change.append('e2', change.EVERYTHING, { guard, time: 3_000 }), outcome);
}

const missingCases: readonly StoreCase[] = [
  storeCase(
    'a session that is there is not created by another change',
    ...begin,
    step.commit(change.create('d', change.EVERYTHING, { time: 3_000 }), { throws: 'exists' }),
    step.commit(change.create('e1', change.EVERYTHING, { time: 3_000 }), { throws: 'exists' }),
    ...unchanged,
  ),
  storeCase(
    'a session that is not there is not appended to',
    step.commit(change.append('e1', change.EVERYTHING), { throws: 'not-found' }),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { created: 'c' } }), { throws: 'not-found' }),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { rev: 0 } }), { throws: 'not-found' }),
    step.load(null),
    step.list([]),
    step.appHas(0, {}),
    step.userHas(0, {}),
    ...begin,
    ...[keyOf('other'), keyOf('session', 'other'), keyOf('session', 'user', 'other')].map((key) =>
      step.commit(change.append('e2', change.EVERYTHING, { key }), { throws: 'not-found' }),
    ),
    ...unchanged,
  ),
  storeCase(
    'an append that is meant for an earlier session under this key is not found',
    step.commit(change.create('b', { session: set('old', 1) }), answer.made()),
    step.commit(change.append('e1', {}, { guard: { created: 'b' } }), answer.appended(1)),
    { remove: KEY },
    ...begin,
    step.commit(change.append('e2', change.EVERYTHING, { guard: { created: 'b' } }), { throws: 'not-found' }),
    step.commit(change.append('e2', change.EVERYTHING, { guard: { created: 'b', rev: 7 } }), { throws: 'not-found' }),
    step.commit(change.append('e2', change.EVERYTHING, { guard: { created: '' } }), { throws: 'not-found' }),
    step.commit(change.append('e2', change.EVERYTHING, { guard: { created: 'e1' } }), { throws: 'not-found' }),
    ...unchanged,
    step.commit(change.append('e2', {}, { guard: { created: 'c' } }), answer.appended(2, 1, 1)),
  ),
];

const guardCases: readonly StoreCase[] = [
  storeCase(
    'a revision that is not the expected one is a conflict, which tells the actual one',
    ...begin,
    conflict({ rev: 0 }, 1),
    conflict({ rev: 2 }, 1),
    conflict({ created: 'c', rev: 10 }, 1),
    ...unchanged,
    step.commit(change.append('e2', {}, { guard: { rev: 1 } }), answer.appended(2, 1, 1)),
    step.commit(change.append('e3', {}, { guard: { rev: 1 } }), { throws: 'conflict', actual: 2 }),
    step.commit(change.append('e3', {}, { guard: { rev: 2, created: 'c' } }), answer.appended(3, 1, 1)),
    step.commit(change.create('d', {}, { key: keyOf('new') }), answer.made(1, 1)),
    step.commit(change.append('e1', {}, { key: keyOf('new'), guard: { rev: 1 } }), { throws: 'conflict', actual: 0 }),
    step.commit(change.append('e1', {}, { key: keyOf('new'), guard: { rev: 0 } }), answer.appended(1, 1, 1)),
  ),
  storeCase(
    'a position that is not the expected one is a conflict',
    ...begin,
    conflict({ pos: { app: 0 } }),
    conflict({ pos: { app: 2 } }),
    conflict({ pos: { user: 0 } }),
    conflict({ pos: { user: 2 } }),
    conflict({ pos: { app: 1, user: 0 } }),
    conflict({ pos: { app: 0, user: 1 } }),
    step.commit(
      change.update(
        'p',
        { app: change.EVERYTHING.app ?? {}, user: change.EVERYTHING.user ?? {} },
        { guard: { pos: { user: 0 } } },
      ),
      { throws: 'conflict' },
    ),
    step.commit(change.update('p', { app: change.EVERYTHING.app ?? {} }, { ...ofApp, guard: { pos: { app: 2 } } }), {
      throws: 'conflict',
    }),
    step.commit(change.create('d', change.EVERYTHING, { key: keyOf('new'), guard: { pos: { app: 0 } } }), {
      throws: 'conflict',
    }),
    ...unchanged,
    step.commit(change.append('e2', {}, { guard: { pos: {} } }), answer.appended(2, 1, 1)),
    step.commit(
      change.append('e3', { app: set('a', 2) }, { guard: { pos: { app: 1, user: 1 } } }),
      answer.appended(3, 2, 1),
    ),
    step.commit(change.append('e4', {}, { guard: { pos: { app: 1 } } }), { throws: 'conflict' }),
    step.commit(change.update('p', { user: set('u', 2) }, { guard: { pos: { app: 2, user: 1 } } }), answer.made(2, 2)),
    step.commit(change.update('q', { app: set('a', 3) }, { ...ofApp, guard: { pos: { app: 2 } } }), answer.made(3, 0)),
    step.commit(change.create('d', {}, { key: keyOf('new'), guard: { pos: { app: 3, user: 2 } } }), answer.made(3, 2)),
    step.commit(change.create('f', {}, { key: keyOf('new', 'nobody'), guard: { pos: { user: 1 } } }), {
      throws: 'conflict',
    }),
    step.commit(
      change.create('f', {}, { key: keyOf('new', 'nobody'), guard: { pos: { user: 0 } } }),
      answer.made(3, 0),
    ),
  ),
  storeCase(
    'names that do not have the expected values are a conflict, whatever the scope',
    ...begin,
    ...(['a', 'u', 's'] as const).flatMap((name, index) => {
      const scope = STORED_SCOPES[index] ?? 'app';
      return [
        conflict({ keys: { [scope]: set(name, 2) } }),
        conflict({ keys: { [scope]: { unset: [name] } } }),
        conflict({ keys: { [scope]: set('absent', 1) } }),
        conflict({ keys: { [scope]: { set: { [name]: 1, absent: 1 } } } }),
        conflict({ keys: { [scope]: { set: { absent: 1, [name]: 1 } } } }),
        conflict({ keys: { [scope]: { unset: ['absent', name] } } }),
        conflict({ keys: { [scope]: { set: { [name]: 1 }, unset: ['absent', name] } } }),
      ];
    }),
    ...unchanged,
    step.commit(
      change.append(
        'e2',
        {},
        {
          guard: {
            keys: {
              app: { set: { a: 1 }, unset: ['u', 's'] },
              user: { set: { u: 1 }, unset: ['a'] },
              session: { set: { s: 1 }, unset: ['u'] },
            },
          },
        },
      ),
      answer.appended(2, 1, 1),
    ),
    step.commit(change.append('e3', {}, { guard: { keys: {} } }), answer.appended(3, 1, 1)),
    step.commit(
      change.append('e4', {}, { guard: { keys: { app: {}, user: { set: {} }, session: { unset: [] } } } }),
      answer.appended(4, 1, 1),
    ),
    step.commit(change.append('e5', {}, { guard: {} }), answer.appended(5, 1, 1)),
  ),
  storeCase(
    'all parts of a guard have to hold',
    ...begin,
    conflict({
      created: 'c',
      rev: 1,
      pos: { app: 1, user: 1 },
      keys: { app: set('a', 1), user: set('u', 1), session: set('s', 2) },
    }),
    conflict({
      created: 'c',
      rev: 1,
      pos: { app: 1, user: 1 },
      keys: { app: set('a', 1), user: set('u', 2), session: set('s', 1) },
    }),
    conflict({
      created: 'c',
      rev: 1,
      pos: { app: 1, user: 1 },
      keys: { app: set('a', 2), user: set('u', 1), session: set('s', 1) },
    }),
    conflict({ created: 'c', rev: 1, pos: { app: 1, user: 2 }, keys: { app: set('a', 1) } }),
    conflict({ created: 'c', rev: 2, pos: { app: 1, user: 1 }, keys: { app: set('a', 1) } }, 1),
    ...unchanged,
    step.commit(
      change.append(
        'e2',
        {},
        {
          guard: {
            created: 'c',
            rev: 1,
            pos: { app: 1, user: 1 },
            keys: { app: set('a', 1), user: set('u', 1), session: set('s', 1) },
          },
        },
      ),
      answer.appended(2, 1, 1),
    ),
  ),
  storeCase(
    'a guard is about what is there before the change',
    step.commit(change.create('c', { session: set('n', 1) }), answer.made()),
    step.commit(change.append('e1', { session: set('n', 2) }, { guard: { keys: { session: set('n', 2) } } }), {
      throws: 'conflict',
    }),
    step.commit(
      change.append('e1', { session: { unset: ['n'] } }, { guard: { keys: { session: { unset: ['n'] } } } }),
      { throws: 'conflict' },
    ),
    step.commit(
      change.append('e1', { session: set('n', 2) }, { guard: { keys: { session: set('n', 1) } } }),
      answer.appended(1),
    ),
    step.commit(
      change.append('e2', { session: { unset: ['n'] } }, { guard: { keys: { session: set('n', 2) } } }),
      answer.appended(2),
    ),
    step.commit(
      change.append('e3', { session: set('n', 3) }, { guard: { keys: { session: { unset: ['n'] } } } }),
      answer.appended(3),
    ),
    step.sessionHas({ state: { session: { n: 3 } }, events: eventsOf('e1', 'e2', 'e3') }),
  ),
  storeCase(
    'updates and creations have guards, too',
    step.commit(
      change.update(
        'p1',
        { app: set('a', 1), user: set('u', 1) },
        { guard: { keys: { app: { unset: ['a'] }, user: { unset: ['u'] } } } },
      ),
      answer.made(1, 1),
    ),
    step.commit(
      change.update('p2', { app: set('a', 2), user: set('u', 2) }, { guard: { keys: { user: { unset: ['u'] } } } }),
      { throws: 'conflict' },
    ),
    step.commit(
      change.update('p2', { app: set('a', 2), user: set('u', 2) }, { guard: { keys: { app: set('a', 2) } } }),
      { throws: 'conflict' },
    ),
    step.commit(change.update('p2', { app: set('a', 2) }, { ...ofApp, guard: { keys: { app: set('u', 1) } } }), {
      throws: 'conflict',
    }),
    step.commit(
      change.create('c', { app: set('a', 2), user: set('u', 2) }, { guard: { keys: { user: set('u', 2) } } }),
      { throws: 'conflict' },
    ),
    step.commit(
      change.create('c', { app: set('a', 2), user: set('u', 2) }, { guard: { keys: { app: { unset: ['a'] } } } }),
      { throws: 'conflict' },
    ),
    step.load(null),
    step.list([], {}, { app: { a: 1 } }),
    step.appHas(1, { a: 1 }),
    step.userHas(1, { u: 1 }),
    step.commit(
      change.update(
        'p2',
        { app: set('a', 2) },
        { ...ofApp, guard: { keys: { app: { set: { a: 1 }, unset: ['u'] } } } },
      ),
      answer.made(2, 0),
    ),
    step.commit(
      change.create('c', { user: { unset: ['u'] } }, { guard: { keys: { app: set('a', 2), user: set('u', 1) } } }),
      answer.made(2, 2),
    ),
    step.sessionHas({ pos: { app: 2, user: 2 }, state: { app: { a: 2 } } }),
  ),
];

export const refusalCases: readonly StoreCase[] = [...missingCases, ...guardCases];
