// What was written stays when the storage is opened again.

import {
  again,
  append,
  appended,
  appendedBefore,
  appHas,
  APP,
  begin,
  beginningOf,
  commit,
  create,
  eventsOf,
  HOME,
  keyOf,
  KEY,
  list,
  load,
  loaded,
  made,
  row,
  set,
  storeCase,
  times,
  update,
  updatedBefore,
  userHas,
} from '../build.js';
import { EVENT_TEXTS, inByteOrder, TEXTS, VALUES } from '../strange.js';
import type { Values } from '../../store/contract.js';
import type { StoreCase, StoreStep } from '../case.js';

const ofApp = { key: { appName: APP } };

const values: Values = Object.fromEntries(VALUES.map((value, index) => [`v${index}`, value]));
const names: Values = Object.fromEntries(TEXTS.map((text, index) => [text, index]));
const MEGABYTE = 'y'.repeat(1_000_000);

export const reopenCases: readonly StoreCase[] = [
  storeCase(
    'what was written is there when the storage is opened again, in whatever way',
    commit(
      create('c', { app: { set: { b: 1, a: 2 } }, user: { set: { z: 1, y: 2 } }, session: { set: { n: 1, m: 2 } } }),
      made(1, 1),
    ),
    commit(append('e1', { app: set('b', 3), session: { unset: ['n'] } }, { time: 2_000.5 }), appended(1, 2, 1)),
    commit(append('e2', { user: { unset: ['z'] }, session: set('n', 4) }, { time: -3 }), appended(2, 2, 2)),
    commit(update('p', { user: set('z', 5) }), made(2, 3)),
    commit(create('d', {}, { key: keyOf('removed') }), made(2, 3)),
    { remove: keyOf('removed') },
    ...(['create', 'upgrade', 'check', 'create', 'check'] as const).flatMap((migrate): StoreStep[] => [
      { reopen: migrate },
      load(
        loaded({
          time: -3,
          pos: { app: 2, user: 3 },
          state: { app: { b: 3, a: 2 }, user: { y: 2, z: 5 }, session: { m: 2, n: 4 } },
          events: eventsOf('e1', 'e2'),
        }),
      ),
      load(null, {}, keyOf('removed')),
      list(
        [row({ rev: 2, time: -3, state: { m: 2, n: 4 } })],
        {},
        { app: { b: 3, a: 2 }, users: { user: { y: 2, z: 5 } } },
      ),
      appHas(2, { b: 3, a: 2 }),
      userHas(3, { y: 2, z: 5 }),
    ]),
  ),
  storeCase(
    'what a session began with is there when the storage is opened again',
    commit(begin('c', { session: set('s', 1) }, { time: 20 }), made()),
    commit(create('d', {}, { key: keyOf('without') }), made()),
    { reopen: 'create' },
    commit(begin('c', { session: set('s', 1) }, { time: 20 }), again(0)),
    commit(append('e1', {}, { time: 10 }), appended(1)),
    ...(['upgrade', 'check'] as const).flatMap((migrate): StoreStep[] => [
      { reopen: migrate },
      load(loaded({ time: 10, state: { session: { s: 1 } }, events: eventsOf('e1') })),
      ...[
        { from: 0, last: 2 },
        { from: 0, since: 10 },
      ].map((window) =>
        load(loaded({ time: 10, state: { session: { s: 1 } }, events: [beginningOf(), ...eventsOf('e1')] }), {
          events: window,
        }),
      ),
      load(loaded({ rev: 1, time: 10, state: { session: { s: 1 } }, events: [beginningOf()] }), {
        events: { from: 0, since: 15 },
      }),
      load(loaded({ created: 'd' }), { events: { from: 0 } }, keyOf('without')),
    ]),
    { remove: KEY },
    { reopen: 'create' },
    commit(create('f'), made()),
    load(loaded({ created: 'f' }), { events: { from: 0 } }),
  ),
  storeCase(
    'storage that was opened and not written to can be opened again',
    { reopen: 'create' },
    list([]),
    { reopen: 'upgrade' },
    { reopen: 'check' },
    load(null),
    commit(create(), made()),
    { reopen: 'check' },
    load(loaded()),
  ),
  storeCase(
    'duplicates are known when the storage is opened again',
    commit(create('c', { app: set('a', 1) }), made(1)),
    commit(append('e1', { session: set('n', 1) }), appended(1, 1)),
    commit(append('e2', { session: set('n', 2) }), appended(2, 1)),
    commit(update('p', { user: set('u', 1) }), made(1, 1)),
    commit(update('q', { app: set('a', 2) }, ofApp), made(2)),
    { reopen: 'create' },
    commit(create('c', { app: set('a', 1) }), again(2, 2, 1)),
    commit(append('e1', { session: set('n', 1) }, { guard: { rev: 0, created: 'c' } }), appendedBefore('e1', 2, 2, 1)),
    commit(update('p', { user: set('u', 9) }), updatedBefore(2, 1)),
    commit(update('q', { app: set('a', 9) }, ofApp), updatedBefore(2)),
    load(
      loaded({
        pos: { app: 2, user: 1 },
        state: { app: { a: 2 }, user: { u: 1 }, session: { n: 2 } },
        events: eventsOf('e1', 'e2'),
      }),
    ),
  ),
  storeCase(
    'writing goes on where it was when the storage is opened again',
    commit(create('c', { app: { set: { x: 1, y: 2 } }, session: { set: { x: 1, y: 2 } } }), made(1)),
    commit(append('e1', { user: set('u', 1) }), appended(1, 1, 1)),
    { reopen: 'create' },
    commit(append('e2', {}, { guard: { created: 'earlier' } }), { throws: 'not-found' }),
    commit(append('e2', {}, { guard: { rev: 0 } }), { throws: 'conflict', actual: 1 }),
    commit(append('e2', {}, { guard: { pos: { app: 0 } } }), { throws: 'conflict' }),
    commit(append('e2', {}, { guard: { keys: { session: set('x', 2) } } }), { throws: 'conflict' }),
    commit(create('d'), { throws: 'exists' }),
    commit(
      append(
        'e2',
        { app: { set: { z: 3, x: 4 } }, user: { unset: ['u'] }, session: { set: { z: 3, x: 4 }, unset: ['y'] } },
        {
          guard: { created: 'c', rev: 1, pos: { app: 1, user: 1 }, keys: { session: set('x', 1) } },
        },
      ),
      appended(2, 2, 2),
    ),
    { reopen: 'create' },
    commit(append('e3', { session: set('y', 5) }), appended(3, 2, 2)),
    load(
      loaded({
        pos: { app: 2, user: 2 },
        state: { app: { x: 4, y: 2, z: 3 }, session: { x: 4, z: 3, y: 5 } },
        events: eventsOf('e1', 'e2', 'e3'),
      }),
    ),
    { remove: KEY },
    { reopen: 'create' },
    load(null),
    commit(append('e4'), { throws: 'not-found' }),
    commit(create('d'), made(2, 2)),
    { reopen: 'create' },
    load(loaded({ created: 'd', pos: { app: 2, user: 2 }, state: { app: { x: 4, y: 2, z: 3 } } })),
    commit(append('e1'), appended(1, 2, 2)),
  ),
  storeCase(
    'a deleted scope stays deleted, at its position, when the storage is opened again',
    commit(update('p', { app: set('a', 1), user: set('u', 1) }), made(1, 1)),
    { removeScope: { app: APP, user: HOME.userId } },
    { reopen: 'create' },
    userHas(2, {}),
    appHas(1, { a: 1 }),
    { removeScope: { app: APP } },
    { reopen: 'create' },
    appHas(2, {}),
    commit(update('q', { app: set('b', 1), user: set('v', 1) }), made(3, 3)),
    { reopen: 'create' },
    appHas(3, { b: 1 }),
  ),
  storeCase(
    'changes that were written many at once are there when the storage is opened again',
    {
      commitMany: times(30, (index) =>
        create(`c${index}`, { app: set('n', index) }, { key: keyOf(`s${index + 10}`) }),
      ),
      outcomes: times(30, (index) => made(index + 1)),
    },
    {
      commitMany: [append('e1', {}, { key: keyOf('none') }), append('e1', {}, { key: keyOf('s10'), time: 500 })],
      outcomes: [{ throws: 'not-found' }, appended(1, 30)],
    },
    { reopen: 'create' },
    list(
      [
        row({ key: keyOf('s10'), created: 'c0', rev: 1, time: 500 }),
        ...times(29, (index) => row({ key: keyOf(`s${index + 11}`), created: `c${index + 1}` })),
      ],
      {},
      { app: { n: 29 } },
    ),
  ),
  storeCase(
    'strange names, values and events are the same when the storage is opened again',
    commit(create('c', { app: { set: values }, user: { set: names }, session: { set: { ...values } } }), made(1, 1)),
    ...EVENT_TEXTS.map((data, index) =>
      commit(append(`e${index}`, {}, { event: { id: `e${index}`, time: 1_000, data } }), appended(index + 1, 1, 1)),
    ),
    commit(
      append(
        'big',
        { session: set('big', MEGABYTE) },
        { event: { id: 'big', time: 1_000, data: JSON.stringify(MEGABYTE) } },
      ),
      appended(EVENT_TEXTS.length + 1, 1, 1),
    ),
    { reopen: 'create' },
    load(
      loaded({
        pos: { app: 1, user: 1 },
        state: { app: values, user: names, session: { ...values, big: MEGABYTE } },
        events: [...EVENT_TEXTS, JSON.stringify(MEGABYTE)].map((data, index) => ({ rev: index + 1, data })),
      }),
    ),
  ),
  storeCase(
    'sessions and users with strange ids are all there, in order, when the storage is opened again',
    ...TEXTS.map((text, index) => commit(create(`c${index}`, {}, { key: keyOf(text, 'user', 'one') }), made())),
    ...TEXTS.map((text, index) =>
      commit(create(`d${index}`, { user: set('n', index) }, { key: keyOf('s', text, 'two') }), made(0, 1)),
    ),
    { reopen: 'create' },
    list(
      inByteOrder(TEXTS).map((text) => row({ key: keyOf(text, 'user', 'one'), created: `c${TEXTS.indexOf(text)}` })),
      { app: 'one' },
    ),
    list(
      inByteOrder(TEXTS).map((text) =>
        row({
          key: keyOf('s', text, 'two'),
          created: `d${TEXTS.indexOf(text)}`,
        }),
      ),
      { app: 'two' },
      {
        users: Object.fromEntries(TEXTS.map((text, index) => [text, { n: index }])),
      },
    ),
  ),
];
