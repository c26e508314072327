// The scope of a delta, the way it is merged, and its effect on the positions.

import {
  APP,
  HOME,
  KEY,
  USER,
  answer,
  caseThatNeeds,
  change,
  eventsOf,
  keyOf,
  set,
  step,
  storeCase,
} from '../build/index.js';
import type { Change } from '../../store/contract.js';
import type { StoreCase } from '../case.js';

const ofApp = { key: { appName: APP } };
/** The same delta in every scope. */
const all = (delta: Change['delta']['app'] & object): Change['delta'] => ({ app: delta, user: delta, session: delta });

const routingCases: readonly StoreCase[] = [
  storeCase(
    'app values reach all users of the app, user values all sessions of the user in this app, session values only their session',
    step.commit(
      change.create('c1', { app: set('a', 1), user: set('u', 2), session: set('s', 3) }, { key: keyOf('one') }),
      answer.made(1, 1),
    ),
    step.commit(change.create('c2', {}, { key: keyOf('two') }), answer.made(1, 1)),
    step.commit(change.create('c3', {}, { key: keyOf('one', 'other') }), answer.made(1, 0)),
    step.commit(change.create('c4', {}, { key: keyOf('one', USER, 'elsewhere') }), answer.made(0, 0)),
    step.sessionHas(
      { created: 'c1', pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 2 }, session: { s: 3 } } },
      {},
      keyOf('one'),
    ),
    step.sessionHas(
      { created: 'c2', pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 2 } } },
      {},
      keyOf('two'),
    ),
    step.sessionHas({ created: 'c3', pos: { app: 1 }, state: { app: { a: 1 } } }, {}, keyOf('one', 'other')),
    step.sessionHas({ created: 'c4' }, {}, keyOf('one', USER, 'elsewhere')),
    step.appHas(0, {}, 'elsewhere'),
    step.userHas(0, {}, USER, 'elsewhere'),
    step.userHas(0, {}, 'other'),
  ),
  storeCase(
    'the same name may be in every scope',
    step.commit(change.create('c', { app: set('x', 1), user: set('x', 2), session: set('x', 3) }), answer.made(1, 1)),
    step.sessionHas({ pos: { app: 1, user: 1 }, state: { app: { x: 1 }, user: { x: 2 }, session: { x: 3 } } }),
    step.commit(change.append('e1', { user: { unset: ['x'] } }), answer.appended(1, 1, 2)),
    step.sessionHas({ pos: { app: 1, user: 2 }, state: { app: { x: 1 }, session: { x: 3 } }, events: eventsOf('e1') }),
    step.commit(change.append('e2', { session: { unset: ['x'] } }), answer.appended(2, 1, 2)),
    step.sessionHas({ pos: { app: 1, user: 2 }, state: { app: { x: 1 } }, events: eventsOf('e1', 'e2') }),
  ),
  storeCase(
    'an update writes app and user state without any session',
    step.commit(change.update('p1', { app: set('a', 1), user: set('u', 2) }), answer.made(1, 1)),
    step.commit(change.update('p2', { app: set('b', 3) }, ofApp), answer.made(2, 0)),
    step.commit(change.update('p3', { user: set('v', 4) }), answer.made(2, 2)),
    step.appHas(2, { a: 1, b: 3 }),
    step.userHas(2, { u: 2, v: 4 }),
    step.load(null),
    step.list([], {}, { app: { a: 1, b: 3 } }),
    step.commit(change.create(), answer.made(2, 2)),
    step.sessionHas({ pos: { app: 2, user: 2 }, state: { app: { a: 1, b: 3 }, user: { u: 2, v: 4 } } }),
  ),
  storeCase(
    'the user whose name is empty is a user, and the app whose name is empty an app',
    step.commit(
      change.update('p1', { app: set('a', 1), user: set('u', 2) }, { key: { appName: '', userId: '' } }),
      answer.made(1, 1),
    ),
    step.commit(change.update('p2', { app: set('b', 3) }, { key: { appName: '' } }), answer.made(2, 0)),
    step.appHas(2, { a: 1, b: 3 }, ''),
    step.userHas(1, { u: 2 }, '', ''),
    step.commit(change.create('c', { session: set('s', 4) }, { key: keyOf('', '', '') }), answer.made(2, 1)),
    step.commit(change.create('d', {}, { key: keyOf('', 'other', '') }), answer.made(2, 0)),
    step.sessionHas(
      { pos: { app: 2, user: 1 }, state: { app: { a: 1, b: 3 }, user: { u: 2 }, session: { s: 4 } } },
      {},
      keyOf('', '', ''),
    ),
    step.list(
      [answer.row({ key: keyOf('', '', ''), state: { s: 4 } })],
      { app: '', user: '' },
      { app: { a: 1, b: 3 }, users: { '': { u: 2 } } },
    ),
    step.userHas(0, {}, ''),
    step.appHas(0, {}),
    { remove: keyOf('', '', '') },
    step.load(null, {}, keyOf('', '', '')),
    step.sessionHas({ created: 'd', pos: { app: 2 }, state: { app: { a: 1, b: 3 } } }, {}, keyOf('', 'other', '')),
  ),
];

const mergingCases: readonly StoreCase[] = [
  storeCase(
    'a delta is merged name by name: what it does not name stays',
    step.commit(change.create('c', all({ set: { a: 1, b: 2 } })), answer.made(1, 1)),
    step.commit(change.append('e1', all({ set: { b: 3, c: 4 } })), answer.appended(1, 2, 2)),
    step.commit(change.append('e2', all({ unset: ['a'] })), answer.appended(2, 3, 3)),
    step.commit(change.append('e3', all({ set: { d: 5 }, unset: ['c'] })), answer.appended(3, 4, 4)),
    step.sessionHas({
      pos: { app: 4, user: 4 },
      state: { app: { b: 3, d: 5 }, user: { b: 3, d: 5 }, session: { b: 3, d: 5 } },
      events: eventsOf('e1', 'e2', 'e3'),
    }),
    step.list(
      [answer.row({ rev: 3, state: { b: 3, d: 5 } })],
      {},
      { app: { b: 3, d: 5 }, users: { user: { b: 3, d: 5 } } },
    ),
    step.appHas(4, { b: 3, d: 5 }),
    step.userHas(4, { b: 3, d: 5 }),
  ),
  storeCase(
    'a value is replaced whole, never merged',
    step.commit(change.create('c', all(set('x', { a: 1, b: { c: 2 } }))), answer.made(1, 1)),
    step.commit(change.append('e1', all(set('x', { b: { d: 3 } }))), answer.appended(1, 2, 2)),
    step.sessionHas({
      pos: { app: 2, user: 2 },
      state: { app: { x: { b: { d: 3 } } }, user: { x: { b: { d: 3 } } }, session: { x: { b: { d: 3 } } } },
      events: eventsOf('e1'),
    }),
    step.commit(change.append('e2', all(set('x', [1]))), answer.appended(2, 3, 3)),
    step.commit(change.append('e3', all(set('x', null))), answer.appended(3, 4, 4)),
    step.sessionHas({
      pos: { app: 4, user: 4 },
      state: { app: { x: null }, user: { x: null }, session: { x: null } },
      events: eventsOf('e1', 'e2', 'e3'),
    }),
  ),
  caseThatNeeds(
    'texts',
    'a name that one change both deletes and sets is set, and goes to the end',
    step.commit(change.create('c', all({ set: { a: 1, b: 2, c: 3 } })), answer.made(1, 1)),
    step.commit(change.append('e1', all({ set: { a: 4, x: 5 }, unset: ['a', 'x', 'c'] })), answer.appended(1, 2, 2)),
    step.appHas(2, { b: 2, a: 4, x: 5 }),
    step.userHas(2, { b: 2, a: 4, x: 5 }),
    step.sessionHas({
      pos: { app: 2, user: 2 },
      state: { app: { b: 2, a: 4, x: 5 }, user: { b: 2, a: 4, x: 5 }, session: { b: 2, a: 4, x: 5 } },
      events: eventsOf('e1'),
    }),
  ),
  caseThatNeeds(
    'texts',
    'names keep the order in which they were written: one that is there keeps its place, one that was deleted goes to the end',
    step.commit(change.create('c', all({ set: { m: 1, z: 2, a: 3 } })), answer.made(1, 1)),
    step.commit(change.append('e1', all({ set: { y: 4, z: 5, b: 6 } })), answer.appended(1, 2, 2)),
    step.appHas(2, { m: 1, z: 5, a: 3, y: 4, b: 6 }),
    step.commit(change.append('e2', all({ unset: ['z', 'm'] })), answer.appended(2, 3, 3)),
    step.commit(change.append('e3', all({ set: { a: 7, m: 8 } })), answer.appended(3, 4, 4)),
    step.commit(change.append('e4', all({ set: { z: 9, c: 10 } })), answer.appended(4, 5, 5)),
    step.sessionHas({
      pos: { app: 5, user: 5 },
      state: {
        app: { a: 7, y: 4, b: 6, m: 8, z: 9, c: 10 },
        user: { a: 7, y: 4, b: 6, m: 8, z: 9, c: 10 },
        session: { a: 7, y: 4, b: 6, m: 8, z: 9, c: 10 },
      },
      events: eventsOf('e1', 'e2', 'e3', 'e4'),
    }),
    step.list(
      [answer.row({ rev: 4, state: { a: 7, y: 4, b: 6, m: 8, z: 9, c: 10 } })],
      {},
      { app: { a: 7, y: 4, b: 6, m: 8, z: 9, c: 10 }, users: { user: { a: 7, y: 4, b: 6, m: 8, z: 9, c: 10 } } },
    ),
    step.appHas(5, { a: 7, y: 4, b: 6, m: 8, z: 9, c: 10 }),
    step.userHas(5, { a: 7, y: 4, b: 6, m: 8, z: 9, c: 10 }),
    step.commit(change.append('e5', all({ unset: ['a', 'y', 'b', 'm', 'z', 'c'] })), answer.appended(5, 6, 6)),
    step.commit(change.append('e6', all({ set: { z: 1, y: 2, a: 3 } })), answer.appended(6, 7, 7)),
    step.appHas(7, { z: 1, y: 2, a: 3 }),
    step.userHas(7, { z: 1, y: 2, a: 3 }),
    step.list(
      [answer.row({ rev: 6, state: { z: 1, y: 2, a: 3 } })],
      {},
      { app: { z: 1, y: 2, a: 3 }, users: { user: { z: 1, y: 2, a: 3 } } },
    ),
  ),
  storeCase(
    'the creation of a session may delete names of its app and its user',
    step.commit(
      change.update('p', { app: { set: { a: 1, b: 2 } }, user: { set: { c: 3, d: 4 } } }),
      answer.made(1, 1),
    ),
    step.commit(
      change.create('c', { app: { unset: ['a'] }, user: { unset: ['d'], set: { e: 5 } } }),
      answer.made(2, 2),
    ),
    step.sessionHas({ pos: { app: 2, user: 2 }, state: { app: { b: 2 }, user: { c: 3, e: 5 } } }),
  ),
];

const positionCases: readonly StoreCase[] = [
  caseThatNeeds(
    'revisions',
    'a position counts the changes that touch its scope, whatever they do, and one that has nothing for the scope does not',
    step.commit(change.create('c', { app: {}, user: { set: {} }, session: { unset: [] } }), answer.made(0, 0)),
    step.commit(change.append('e1', { app: { set: {}, unset: [] } }), answer.appended(1, 0, 0)),
    step.commit(change.append('e2', { app: { set: { a: 1, b: 2 }, unset: ['c'] } }), answer.appended(2, 1, 0)),
    step.commit(change.append('e3', { user: set('x', 1) }), answer.appended(3, 1, 1)),
    step.commit(change.append('e4', { user: set('x', 1) }), answer.appended(4, 1, 2)),
    step.commit(change.append('e5', { app: { unset: ['never there'] } }), answer.appended(5, 2, 2)),
    step.commit(change.append('e6', { session: set('x', 1) }), answer.appended(6, 2, 2)),
    step.commit(change.append('e7'), answer.appended(7, 2, 2)),
    step.commit(change.update('p1', { app: {}, user: { unset: [] } }), answer.made(2, 2)),
    step.commit(change.update('p2', { app: { unset: ['a'] }, user: { unset: ['x'] } }), answer.made(3, 3)),
    step.commit(change.update('p3', { app: {} }, ofApp), answer.made(3, 0)),
    step.commit(change.update('p4', { app: set('a', 1) }, ofApp), answer.made(4, 0)),
    step.appHas(4, { b: 2, a: 1 }),
    step.userHas(3, {}),
    step.sessionHas({
      pos: { app: 4, user: 3 },
      state: { app: { b: 2, a: 1 }, session: { x: 1 } },
      events: eventsOf('e1', 'e2', 'e3', 'e4', 'e5', 'e6', 'e7'),
    }),
  ),
  caseThatNeeds(
    'revisions',
    'every app and every user has a position of its own',
    step.commit(change.update('p1', { app: set('a', 1), user: set('x', 1) }), answer.made(1, 1)),
    step.commit(
      change.update('p2', { app: set('a', 2), user: set('x', 2) }, { key: { appName: APP, userId: 'other' } }),
      answer.made(2, 1),
    ),
    step.commit(
      change.update(
        'p3',
        { app: set('a', 3), user: set('x', 3) },
        { key: { appName: 'elsewhere', userId: HOME.userId } },
      ),
      answer.made(1, 1),
    ),
    step.commit(
      change.update('p4', { user: set('x', 4) }, { key: { appName: APP, userId: 'other' } }),
      answer.made(2, 2),
    ),
    step.commit(change.update('p5', { user: set('x', 5) }), answer.made(2, 2)),
    step.commit(change.create('c', {}, { key: keyOf('session', 'third') }), answer.made(2, 0)),
    step.sessionHas({ pos: { app: 2 }, state: { app: { a: 2 } } }, {}, keyOf('session', 'third')),
    step.userHas(2, { x: 5 }),
    step.userHas(2, { x: 4 }, 'other'),
    step.userHas(1, { x: 3 }, HOME.userId, 'elsewhere'),
    step.appHas(1, { a: 3 }, 'elsewhere'),
  ),
  caseThatNeeds(
    'revisions',
    'positions stay when all names and all sessions are gone, and go on from there',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1', { app: { unset: ['a'] }, user: { unset: ['u'] } }), answer.appended(1, 2, 2)),
    { remove: KEY },
    step.appHas(2, {}),
    step.userHas(2, {}),
    step.commit(change.create('d'), answer.made(2, 2)),
    step.commit(change.append('e1', { app: set('b', 1), user: set('v', 1) }), answer.appended(1, 3, 3)),
    step.sessionHas({
      created: 'd',
      pos: { app: 3, user: 3 },
      state: { app: { b: 1 }, user: { v: 1 } },
      events: eventsOf('e1'),
    }),
  ),
];

const removeScopeCases: readonly StoreCase[] = [
  storeCase(
    'the values of a user are deleted in one change of this scope; sessions, the app and other users stay',
    step.commit(change.create('c', all({ set: { a: 1, b: 2, c: 3 } })), answer.made(1, 1)),
    step.commit(change.append('e1', { user: set('d', 4) }), answer.appended(1, 1, 2)),
    step.commit(
      change.update('p', { user: set('x', 1) }, { key: { appName: APP, userId: 'other' } }),
      answer.made(1, 1),
    ),
    { removeScope: { app: APP, user: HOME.userId } },
    step.userHas(3, {}),
    step.appHas(1, { a: 1, b: 2, c: 3 }),
    step.userHas(1, { x: 1 }, 'other'),
    step.sessionHas({
      pos: { app: 1, user: 3 },
      state: { app: { a: 1, b: 2, c: 3 }, session: { a: 1, b: 2, c: 3 } },
      events: eventsOf('e1'),
    }),
    step.commit(change.append('e2', { user: { set: { c: 5, a: 6 } } }), answer.appended(2, 1, 4)),
    step.userHas(4, { c: 5, a: 6 }),
  ),
  storeCase(
    'the values of an app are deleted in one change of this scope; sessions, users and other apps stay',
    step.commit(change.create('c', all({ set: { a: 1, b: 2 } })), answer.made(1, 1)),
    step.commit(change.update('p', { app: set('x', 1) }, { key: { appName: 'elsewhere' } }), answer.made(1, 0)),
    { removeScope: { app: APP } },
    step.appHas(2, {}),
    step.userHas(1, { a: 1, b: 2 }),
    step.appHas(1, { x: 1 }, 'elsewhere'),
    step.sessionHas({ pos: { app: 2, user: 1 }, state: { user: { a: 1, b: 2 }, session: { a: 1, b: 2 } } }),
    step.list([answer.row({ state: { a: 1, b: 2 } })], {}, { users: { user: { a: 1, b: 2 } } }),
    step.commit(change.append('e1', { app: set('b', 3) }), answer.appended(1, 3, 1)),
    step.appHas(3, { b: 3 }),
  ),
  storeCase(
    'a scope that was never written to may be deleted',
    { removeScope: { app: APP } },
    { removeScope: { app: APP, user: HOME.userId } },
    step.load(null),
    step.list([]),
    step.commit(change.create()),
  ),
  storeCase(
    'an update is still known after its scope was deleted',
    step.commit(change.update('p1', { user: set('u', 1) }), answer.made(0, 1)),
    step.commit(change.update('p2', { app: set('a', 1) }, ofApp), answer.made(1, 0)),
    { removeScope: { app: APP } },
    { removeScope: { app: APP, user: HOME.userId } },
    step.commit(change.update('p1', { user: set('u', 1) }), {
      rev: 0,
      prev: null,
      pos: { app: 2, user: 2 },
      duplicate: true,
    }),
    step.commit(change.update('p2', { app: set('a', 1) }, ofApp), {
      rev: 0,
      prev: null,
      pos: { app: 2, user: 0 },
      duplicate: true,
    }),
    step.appHas(2, {}),
    step.userHas(2, {}),
  ),
];

export const scopeCases: readonly StoreCase[] = [
  ...routingCases,
  ...mergingCases,
  ...positionCases,
  ...removeScopeCases,
];
