// The marks of a store, by which an earlier copy of it is not taken for what it was: marks, last events, ids.

import {
  APP,
  KEY,
  USER,
  answer,
  beginningOf,
  change,
  dataOf,
  featureCase,
  keyOf,
  set,
  step,
  times,
} from '../build/index.js';
import type { Known, StoredEvent, Values } from '../../store/contract.js';
import type { LoadScopeStep, StoreCase, StoreStep } from '../case.js';

const marksCase = (name: string, ...steps: readonly StoreStep[]): StoreCase => featureCase('marks', name, ...steps);

/** The events that `append` has made, from the first revision, with their ids. */
function known(...ids: readonly string[]): StoredEvent[] {
  return ids.map((id, index) => ({ rev: index + 1, data: dataOf(id), id }));
}

/** Reads the values of the app, and what brought it there. */
function appIsAt(pos: number, state: Values, mark: string): LoadScopeStep {
  return { loadScope: { app: APP }, answer: { pos, state, mark } };
}

/** Reads the values of the user, and what brought it there. */
function userIsAt(pos: number, state: Values, mark: string): LoadScopeStep {
  return { loadScope: { app: APP, user: USER }, answer: { pos, state, mark } };
}

export const marksCases: readonly StoreCase[] = [
  marksCase(
    'a change leaves its mark on the scopes that it touches, and only there',
    step.commit(change.create('c', { app: set('a', 1) }), { ...answer.made(1), before: {} }),
    appIsAt(1, { a: 1 }, 'c'),
    step.commit(change.append('e1', { user: set('u', 1) }), { ...answer.appended(1, 1, 1), before: { app: 'c' } }),
    userIsAt(1, { u: 1 }, 'e1'),
    appIsAt(1, { a: 1 }, 'c'),
    step.commit(change.append('e2'), { ...answer.appended(2, 1, 1), before: { session: 'e1', app: 'c', user: 'e1' } }),
    step.commit(change.update('u1', { app: set('a', 2), user: {} }), {
      ...answer.made(2, 1),
      before: { app: 'c', user: 'e1' },
    }),
    appIsAt(2, { a: 2 }, 'u1'),
    userIsAt(1, { u: 1 }, 'e1'),
    step.commit(change.create('d', {}, { key: keyOf('other') }), {
      ...answer.made(2, 1),
      before: { app: 'u1', user: 'e1' },
    }),
  ),
  marksCase(
    'a mark is the call, where a change has one: an id of an event is unique in its session only',
    step.commit(change.create(), answer.made()),
    step.commit(change.append('e1', { app: set('a', 1) }, { call: 'call 1' }), answer.appended(1, 1)),
    appIsAt(1, { a: 1 }, 'call 1'),
    step.commit(change.append('e2', {}, { call: 'call 2' }), {
      ...answer.appended(2, 1),
      before: { session: 'e1', app: 'call 1' },
    }),
  ),
  marksCase(
    'a duplicate tells what the session and the scopes are at now',
    step.commit(change.create('c', { user: set('u', 1) }), answer.made(0, 1)),
    step.commit(change.append('e1', { app: set('a', 1) }), answer.appended(1, 1, 1)),
    step.commit(change.append('e2'), answer.appended(2, 1, 1)),
    step.commit(change.update('u1', { app: set('a', 2) }), answer.made(2, 1)),
    step.commit(change.append('e1', { app: set('a', 1) }), {
      ...answer.appendedBefore('e1', 2, 2, 1),
      before: { session: 'e2', app: 'u1', user: 'c' },
    }),
    step.commit(change.create('c', { user: set('u', 1) }), {
      ...answer.again(2, 2, 1),
      before: { session: 'e2', app: 'u1', user: 'c' },
    }),
    step.commit(change.update('u1', { app: set('a', 2) }), {
      ...answer.updatedBefore(2, 1),
      before: { app: 'u1', user: 'c' },
    }),
  ),
  marksCase(
    'a loaded session tells the id of its last event, the ids of all, and the marks of its scopes',
    step.commit(change.begin('c', { app: set('a', 1) }), answer.made(1)),
    step.sessionHas({ pos: { app: 1 }, state: { app: { a: 1 } }, marks: { app: 'c' } }),
    step.commit(change.append('e1', { user: set('u', 1) }), answer.appended(1, 1, 1)),
    step.commit(change.append('e2'), answer.appended(2, 1, 1)),
    step.sessionHas({
      rev: 2,
      pos: { app: 1, user: 1 },
      state: { app: { a: 1 }, user: { u: 1 } },
      last: 'e2',
      marks: { app: 'c', user: 'e1' },
      events: known('e1', 'e2'),
    }),
    step.sessionHas(
      {
        rev: 2,
        pos: { app: 1, user: 1 },
        state: { app: { a: 1 }, user: { u: 1 } },
        last: 'e2',
        events: [beginningOf('c'), ...known('e1')],
      },
      { events: { from: 0, to: 1 } },
    ),
    step.sessionHas(
      {
        rev: 2,
        pos: { app: 1, user: 1 },
        state: { app: { a: 1 }, user: { u: 1 } },
        last: 'e2',
        events: [],
      },
      { events: { last: 0 } },
    ),
  ),
  marksCase(
    'values under another mark are not those that are known, whatever their position',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    step.sessionHas(
      { pos: { app: 1, user: 1 }, state: { app: undefined, user: undefined } },
      {
        known: { pos: { app: 1, user: 1 }, marks: { app: 'c', user: 'c' } },
      },
    ),
    step.sessionHas(
      { pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: undefined } },
      {
        known: { pos: { app: 1, user: 1 }, marks: { app: 'x', user: 'c' } },
      },
    ),
    step.sessionHas(
      { pos: { app: 1, user: 1 }, state: { app: undefined, user: { u: 1 } } },
      {
        known: { pos: { app: 1, user: 1 }, marks: { user: 'x' } },
      },
    ),
    step.sessionHas(
      { pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 1 } }, changed: null },
      {
        known: { pos: { app: 5, user: 7 }, marks: { app: 'c', user: 'c' } },
      },
    ),
  ),
  marksCase(
    'a session whose last known event is another one, or lies ahead, has diverged from what is known',
    step.commit(change.create('c', { session: set('s', 1) }), answer.made()),
    step.commit(change.append('e1', { session: set('s', 2) }), answer.appended(1)),
    step.commit(change.append('e2', { session: set('s', 3) }), answer.appended(2)),
    step.sessionHas(
      { rev: 2, state: { session: undefined }, events: [] },
      {
        known: { created: 'c', rev: 2, last: 'e2' },
        events: { from: 3 },
      },
    ),
    step.sessionHas(
      { rev: 2, state: { session: { s: 3 } }, diverged: true, events: [] },
      {
        known: { created: 'c', rev: 2, last: 'x' },
        events: { from: 3 },
      },
    ),
    step.sessionHas(
      { rev: 2, state: { session: { s: 3 } }, events: known('e1', 'e2').slice(1) },
      {
        known: { created: 'c', rev: 1, last: 'e1' },
        events: { from: 2 },
      },
    ),
    step.sessionHas(
      { rev: 2, state: { session: { s: 3 } }, diverged: true, events: known('e1', 'e2').slice(1) },
      { known: { created: 'c', rev: 1, last: 'e2' }, events: { from: 2 } },
    ),
    step.sessionHas(
      { rev: 2, state: { session: { s: 3 } }, diverged: true, events: [] },
      {
        known: { created: 'c', rev: 3, last: 'e3' },
        events: { from: 4 },
      },
    ),
    step.sessionHas(
      { rev: 2, state: { session: { s: 3 } }, events: [] },
      {
        known: { created: 'x', rev: 2, last: 'x' },
        events: { from: 3 },
      },
    ),
  ),
  marksCase(
    'an event that is known is looked for at its revision of its session, wherever others have events',
    step.commit(change.create('c0', {}, { key: keyOf('before') }), answer.made()),
    ...['e0', 'e1', 'e2'].map((id, index) =>
      step.commit(change.append(id, {}, { key: keyOf('before') }), answer.appended(index + 1)),
    ),
    step.commit(change.create('c', { session: set('s', 1) }), answer.made()),
    ...['e1', 'e2', 'e3'].map((id, index) => step.commit(change.append(id), answer.appended(index + 1))),
    ...[
      [1, 'e1'],
      [2, 'e2'],
      [3, 'e3'],
    ].map(([rev, last]) =>
      step.sessionHas(
        { rev: 3, state: { session: rev === 3 ? undefined : { s: 1 } }, events: [] },
        {
          known: { created: 'c', rev, last } as Known,
          events: { last: 0 },
        },
      ),
    ),
    ...[
      [1, 'e0'],
      [1, 'e2'],
      [2, 'e1'],
      [2, 'e3'],
      [3, 'e2'],
      [3, 'e0'],
    ].map(([rev, last]) =>
      step.sessionHas(
        { rev: 3, state: { session: { s: 1 } }, diverged: true, events: [] },
        {
          known: { created: 'c', rev, last } as Known,
          events: { last: 0 },
        },
      ),
    ),
  ),
  marksCase(
    'changes that go together tell what each of them found',
    step.commit(change.create('c1', {}, { key: keyOf('one') }), answer.made()),
    step.commit(change.create('c2', {}, { key: keyOf('two') }), answer.made()),
    {
      commitMany: [
        change.append('e1', { app: set('a', 1) }, { key: keyOf('one') }),
        change.append('e1', { app: set('a', 2) }, { key: keyOf('two'), call: 'call' }),
        change.update('u', { user: set('u', 1) }),
      ],
      outcomes: [
        { ...answer.appended(1, 1), before: {} },
        { ...answer.appended(1, 2), before: { app: 'e1' } },
        { ...answer.made(2, 1), before: { app: 'call' } },
      ],
    },
    appIsAt(2, { a: 2 }, 'call'),
  ),
  marksCase(
    'removing the values of a scope leaves no mark',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    { removeScope: { app: APP } },
    step.commit(change.append('e1'), { ...answer.appended(1, 2), before: {} }),
    step.sessionHas({ rev: 1, pos: { app: 2 }, state: {}, marks: {}, events: known('e1') }),
  ),
  marksCase(
    'marks are there when the storage is opened again',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1', { user: set('u', 2) }, { call: 'call' }), answer.appended(1, 1, 2)),
    { reopen: 'check' },
    appIsAt(1, { a: 1 }, 'c'),
    userIsAt(2, { u: 2 }, 'call'),
    step.commit(change.append('e2'), {
      ...answer.appended(2, 1, 2),
      before: { session: 'e1', app: 'c', user: 'call' },
    }),
  ),
  marksCase(
    'the last of many events is the one that is told',
    step.commit(change.create(), answer.made()),
    ...times(40, (index) => step.commit(change.append(`e${index + 1}`), answer.appended(index + 1))),
    step.sessionHas(
      { rev: 40, last: 'e40', events: known(...times(40, (index) => `e${index + 1}`)).slice(38) },
      { events: { last: 2 } },
    ),
    step.commit(change.append('e41'), { ...answer.appended(41), before: { session: 'e40' } }),
    { remove: KEY },
    step.commit(change.create('d'), answer.made()),
    step.commit(change.append('e1'), { ...answer.appended(1), before: {} }),
  ),
];
