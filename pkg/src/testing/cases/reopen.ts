// The storage keeps its content when it is opened again.

import {
  APP,
  HOME,
  KEY,
  answer,
  beginningOf,
  change,
  eventsOf,
  keyOf,
  set,
  step,
  storeCase,
  times,
} from '../build/index.js';
import { EVENT_TEXTS, inByteOrder, TEXTS, VALUES } from '../edge-values.js';
import type { Values } from '../../store/contract.js';
import type { StoreCase, StoreStep } from '../case.js';

const ofApp = { key: { appName: APP } };

const values: Values = Object.fromEntries(VALUES.map((value, index) => [`v${index}`, value]));
const names: Values = Object.fromEntries(TEXTS.map((text, index) => [text, index]));
const MEGABYTE = 'y'.repeat(1_000_000);

export const reopenCases: readonly StoreCase[] = [
  storeCase(
    'what was written is there when the storage is opened again, in whatever way',
    step.commit(
      change.create('c', {
        app: { set: { b: 1, a: 2 } },
        user: { set: { z: 1, y: 2 } },
        session: { set: { n: 1, m: 2 } },
      }),
      answer.made(1, 1),
    ),
    step.commit(
      change.append('e1', { app: set('b', 3), session: { unset: ['n'] } }, { time: 2_000.5 }),
      answer.appended(1, 2, 1),
    ),
    step.commit(
      change.append('e2', { user: { unset: ['z'] }, session: set('n', 4) }, { time: -3 }),
      answer.appended(2, 2, 2),
    ),
    step.commit(change.update('p', { user: set('z', 5) }), answer.made(2, 3)),
    step.commit(change.create('d', {}, { key: keyOf('removed') }), answer.made(2, 3)),
    { remove: keyOf('removed') },
    ...(['create', 'upgrade', 'check', 'create', 'check'] as const).flatMap((migrate): StoreStep[] => [
      { reopen: migrate },
      step.sessionHas({
        time: -3,
        pos: { app: 2, user: 3 },
        state: { app: { b: 3, a: 2 }, user: { y: 2, z: 5 }, session: { m: 2, n: 4 } },
        events: eventsOf('e1', 'e2'),
      }),
      step.load(null, {}, keyOf('removed')),
      step.list(
        [answer.row({ rev: 2, time: -3, state: { m: 2, n: 4 } })],
        {},
        { app: { b: 3, a: 2 }, users: { user: { y: 2, z: 5 } } },
      ),
      step.appHas(2, { b: 3, a: 2 }),
      step.userHas(3, { y: 2, z: 5 }),
    ]),
  ),
  storeCase(
    'what a session began with is there when the storage is opened again',
    step.commit(change.begin('c', { session: set('s', 1) }, { time: 20 }), answer.made()),
    step.commit(change.create('d', {}, { key: keyOf('without') }), answer.made()),
    { reopen: 'create' },
    step.commit(change.begin('c', { session: set('s', 1) }, { time: 20 }), answer.again(0)),
    step.commit(change.append('e1', {}, { time: 10 }), answer.appended(1)),
    ...(['upgrade', 'check'] as const).flatMap((migrate): StoreStep[] => [
      { reopen: migrate },
      step.sessionHas({ time: 10, state: { session: { s: 1 } }, events: eventsOf('e1') }),
      ...[
        { from: 0, last: 2 },
        { from: 0, since: 10 },
      ].map((window) =>
        step.sessionHas(
          { time: 10, state: { session: { s: 1 } }, events: [beginningOf(), ...eventsOf('e1')] },
          { events: window },
        ),
      ),
      step.sessionHas(
        { rev: 1, time: 10, state: { session: { s: 1 } }, events: [beginningOf()] },
        {
          events: { from: 0, since: 15 },
        },
      ),
      step.sessionHas({ created: 'd' }, { events: { from: 0 } }, keyOf('without')),
    ]),
    { remove: KEY },
    { reopen: 'create' },
    step.commit(change.create('f'), answer.made()),
    step.sessionHas({ created: 'f' }, { events: { from: 0 } }),
  ),
  storeCase(
    'storage that was opened and not written to can be opened again',
    { reopen: 'create' },
    step.list([]),
    { reopen: 'upgrade' },
    { reopen: 'check' },
    step.load(null),
    step.commit(change.create(), answer.made()),
    { reopen: 'check' },
    step.sessionHas(),
  ),
  storeCase(
    'duplicates are known when the storage is opened again',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    step.commit(change.append('e1', { session: set('n', 1) }), answer.appended(1, 1)),
    step.commit(change.append('e2', { session: set('n', 2) }), answer.appended(2, 1)),
    step.commit(change.update('p', { user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.update('q', { app: set('a', 2) }, ofApp), answer.made(2)),
    { reopen: 'create' },
    step.commit(change.create('c', { app: set('a', 1) }), answer.again(2, 2, 1)),
    step.commit(
      change.append('e1', { session: set('n', 1) }, { guard: { rev: 0, created: 'c' } }),
      answer.appendedBefore('e1', 2, 2, 1),
    ),
    step.commit(change.update('p', { user: set('u', 9) }), answer.updatedBefore(2, 1)),
    step.commit(change.update('q', { app: set('a', 9) }, ofApp), answer.updatedBefore(2)),
    step.sessionHas({
      pos: { app: 2, user: 1 },
      state: { app: { a: 2 }, user: { u: 1 }, session: { n: 2 } },
      events: eventsOf('e1', 'e2'),
    }),
  ),
  storeCase(
    'writing goes on where it was when the storage is opened again',
    step.commit(
      change.create('c', { app: { set: { x: 1, y: 2 } }, session: { set: { x: 1, y: 2 } } }),
      answer.made(1),
    ),
    step.commit(change.append('e1', { user: set('u', 1) }), answer.appended(1, 1, 1)),
    { reopen: 'create' },
    step.commit(change.append('e2', {}, { guard: { created: 'earlier' } }), { throws: 'not-found' }),
    step.commit(change.append('e2', {}, { guard: { rev: 0 } }), { throws: 'conflict', actual: 1 }),
    step.commit(change.append('e2', {}, { guard: { pos: { app: 0 } } }), { throws: 'conflict' }),
    step.commit(change.append('e2', {}, { guard: { keys: { session: set('x', 2) } } }), { throws: 'conflict' }),
    step.commit(change.create('d'), { throws: 'exists' }),
    step.commit(
      change.append(
        'e2',
        { app: { set: { z: 3, x: 4 } }, user: { unset: ['u'] }, session: { set: { z: 3, x: 4 }, unset: ['y'] } },
        { guard: { created: 'c', rev: 1, pos: { app: 1, user: 1 }, keys: { session: set('x', 1) } } },
      ),
      answer.appended(2, 2, 2),
    ),
    { reopen: 'create' },
    step.commit(change.append('e3', { session: set('y', 5) }), answer.appended(3, 2, 2)),
    step.sessionHas({
      pos: { app: 2, user: 2 },
      state: { app: { x: 4, y: 2, z: 3 }, session: { x: 4, z: 3, y: 5 } },
      events: eventsOf('e1', 'e2', 'e3'),
    }),
    { remove: KEY },
    { reopen: 'create' },
    step.load(null),
    step.commit(change.append('e4'), { throws: 'not-found' }),
    step.commit(change.create('d'), answer.made(2, 2)),
    { reopen: 'create' },
    step.sessionHas({ created: 'd', pos: { app: 2, user: 2 }, state: { app: { x: 4, y: 2, z: 3 } } }),
    step.commit(change.append('e1'), answer.appended(1, 2, 2)),
  ),
  storeCase(
    'a deleted scope stays deleted, at its position, when the storage is opened again',
    step.commit(change.update('p', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    { removeScope: { app: APP, user: HOME.userId } },
    { reopen: 'create' },
    step.userHas(2, {}),
    step.appHas(1, { a: 1 }),
    { removeScope: { app: APP } },
    { reopen: 'create' },
    step.appHas(2, {}),
    step.commit(change.update('q', { app: set('b', 1), user: set('v', 1) }), answer.made(3, 3)),
    { reopen: 'create' },
    step.appHas(3, { b: 1 }),
  ),
  storeCase(
    'changes that were written many at once are there when the storage is opened again',
    {
      commitMany: times(30, (index) =>
        change.create(`c${index}`, { app: set('n', index) }, { key: keyOf(`s${index + 10}`) }),
      ),
      outcomes: times(30, (index) => answer.made(index + 1)),
    },
    {
      commitMany: [
        change.append('e1', {}, { key: keyOf('none') }),
        change.append('e1', {}, { key: keyOf('s10'), time: 500 }),
      ],
      outcomes: [{ throws: 'not-found' }, answer.appended(1, 30)],
    },
    { reopen: 'create' },
    step.list(
      [
        answer.row({ key: keyOf('s10'), created: 'c0', rev: 1, time: 500 }),
        ...times(29, (index) => answer.row({ key: keyOf(`s${index + 11}`), created: `c${index + 1}` })),
      ],
      {},
      { app: { n: 29 } },
    ),
  ),
  storeCase(
    'strange names, values and events are the same when the storage is opened again',
    step.commit(
      change.create('c', { app: { set: values }, user: { set: names }, session: { set: { ...values } } }),
      answer.made(1, 1),
    ),
    ...EVENT_TEXTS.map((data, index) =>
      step.commit(
        change.append(`e${index}`, {}, { event: { id: `e${index}`, time: 1_000, data } }),
        answer.appended(index + 1, 1, 1),
      ),
    ),
    step.commit(
      change.append(
        'big',
        { session: set('big', MEGABYTE) },
        { event: { id: 'big', time: 1_000, data: JSON.stringify(MEGABYTE) } },
      ),
      answer.appended(EVENT_TEXTS.length + 1, 1, 1),
    ),
    { reopen: 'create' },
    step.sessionHas({
      pos: { app: 1, user: 1 },
      state: { app: values, user: names, session: { ...values, big: MEGABYTE } },
      events: [...EVENT_TEXTS, JSON.stringify(MEGABYTE)].map((data, index) => ({ rev: index + 1, data })),
    }),
  ),
  storeCase(
    'sessions and users with strange ids are all there, in order, when the storage is opened again',
    ...TEXTS.map((text, index) =>
      step.commit(change.create(`c${index}`, {}, { key: keyOf(text, 'user', 'one') }), answer.made()),
    ),
    ...TEXTS.map((text, index) =>
      step.commit(
        change.create(`d${index}`, { user: set('n', index) }, { key: keyOf('s', text, 'two') }),
        answer.made(0, 1),
      ),
    ),
    { reopen: 'create' },
    step.list(
      inByteOrder(TEXTS).map((text) =>
        answer.row({ key: keyOf(text, 'user', 'one'), created: `c${TEXTS.indexOf(text)}` }),
      ),
      { app: 'one' },
    ),
    step.list(
      inByteOrder(TEXTS).map((text) =>
        answer.row({
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
