// Operators of changes that are sent again, that go together, and that others see.

import {
  APP,
  answer,
  change,
  compareAndSet,
  dataOf,
  featureCase,
  increment,
  keyOf,
  push,
  set,
  setOnce,
  step,
  storeCase,
  times,
  withOperators,
  withResults,
} from '../build/index.js';
import type { Change, ScopedOperators, ScopedValues } from '../../store/contract.js';
import type { StoreCase } from '../case.js';

const append = (id: string, operators: ScopedOperators, delta: Change['delta'] = {}, more = {}): Change =>
  withOperators(change.append(id, delta, more), operators);
const update = (id: string, operators: ScopedOperators, delta: Change['delta'] = {}, more = {}): Change =>
  withOperators(change.update(id, delta, more), operators);

/** Adds to the app's counter. */
const count = (by: number): ScopedOperators => ({ app: { n: increment(by) } });
const counted = (n: number) => ({ app: { n } });
const ofApp = (id: string, operators: ScopedOperators, more = {}): Change =>
  update(id, operators, {}, { key: { appName: APP }, ...more });

/** An update by each operator, of an app's and a user's values; without the one that meets a stored value. */
const NEW: ScopedOperators = { app: { n: increment(1), once: setOnce(null) }, user: { list: push('x') } };
const EVERY_NEW = update('u1', NEW);
const EVERY = update('u1', { ...NEW, app: { ...NEW.app, v: compareAndSet('old', 'new') } });
const EVERY_RESULT: ScopedValues = { app: { n: 1, once: null, v: 'new' }, user: { list: ['x'] } };

export const operatorBatchCases: readonly StoreCase[] = [
  storeCase(
    'an append that is sent again counts once, and is answered with what its operators came to',
    step.commit(change.create(), answer.made()),
    step.commit(
      append('e1', { ...count(1), session: { list: push('x') } }),
      withResults(answer.appended(1, 1), { ...counted(1), session: { list: ['x'] } }),
    ),
    step.commit(append('e2', count(10)), withResults(answer.appended(2, 2), counted(11))),
    step.commit(
      append('e1', { ...count(1), session: { list: push('x') } }),
      withResults(answer.appendedBefore('e1', 2, 2), { ...counted(1), session: { list: ['x'] } }),
    ),
    step.commit(
      append('e1', { ...count(1), session: { list: push('x') } }, {}, { attempt: 2, guard: { rev: 0 } }),
      withResults(answer.appendedBefore('e1', 2, 2), { ...counted(1), session: { list: ['x'] } }),
    ),
    step.appHas(2, { n: 11 }),
  ),
  storeCase(
    'a duplicate is one also where its operators fit no more',
    step.commit(change.create('c', { app: set('v', 'old') }), answer.made(1)),
    step.commit(
      append('e1', { app: { v: compareAndSet('old', 'new') } }),
      withResults(answer.appended(1, 2), { app: { v: 'new' } }),
    ),
    step.commit(
      append('e1', { app: { v: compareAndSet('old', 'new') } }),
      withResults(answer.appendedBefore('e1', 1, 2), { app: { v: 'new' } }),
    ),
    step.commit(append('e2', { app: { v: compareAndSet('old', 'new') } }), {
      throws: 'conflict',
      key: 'v',
      scope: 'app',
    }),
  ),
  storeCase(
    'a duplicate without operators has no results',
    step.commit(change.create(), answer.made()),
    step.commit(change.append('e1', { app: set('n', 1) }), answer.appended(1, 1)),
    step.commit(append('e2', count(1)), withResults(answer.appended(2, 2), counted(2))),
    step.commit(change.append('e1', { app: set('n', 1) }), answer.appendedBefore('e1', 2, 2)),
  ),
  storeCase(
    'an update, or a creation, that is sent again counts once',
    step.commit(update('u1', count(1)), withResults(answer.made(1), counted(1))),
    step.commit(update('u1', count(1)), withResults(answer.updatedBefore(1), counted(1))),
    step.commit(update('u1', count(1), {}, { attempt: 2 }), withResults(answer.updatedBefore(1), counted(1))),
    step.commit(
      withOperators(change.create(), { ...count(1), session: { n: increment(5) } }),
      withResults(answer.made(2), { ...counted(2), session: { n: 5 } }),
    ),
    step.commit(withOperators(change.create(), { ...count(1), session: { n: increment(5) } }), answer.again(0, 2)),
    step.appHas(2, { n: 2 }),
    step.sessionHas({ pos: { app: 2 }, state: { app: { n: 2 }, session: { n: 5 } } }),
  ),
  storeCase(
    'an update that is sent again is answered with what its operators came to, whoever has written since',
    step.commit(change.create('c', { app: set('v', 'old') }), answer.made(1)),
    step.commit(EVERY, withResults(answer.made(2, 1), EVERY_RESULT)),
    step.commit(ofApp('u2', count(1)), withResults(answer.made(3), counted(2))),
    step.commit(append('e1', { ...count(1), user: { list: push('y') } }), {
      ...withResults(answer.appended(1, 4, 2), { ...counted(3), user: { list: ['x', 'y'] } }),
    }),
    step.commit(change.update('u3', { app: { set: { v: 'newer' }, unset: ['n', 'once'] } }), answer.made(5, 2)),
    step.commit({ ...EVERY, attempt: 2 }, withResults(answer.updatedBefore(5, 2), EVERY_RESULT)),
    step.commit(ofApp('u2', count(1)), withResults(answer.updatedBefore(5), counted(2))),
    step.commit(
      change.update('u3', { app: { set: { v: 'newer' }, unset: ['n', 'once'] } }),
      answer.updatedBefore(5, 2),
    ),
    step.appHas(5, { v: 'newer' }),
    step.userHas(2, { list: ['x', 'y'] }),
  ),
  storeCase(
    'an update that is sent again is answered so when the storage was opened again, and among others',
    step.commit(EVERY_NEW, withResults(answer.made(1, 1), { ...EVERY_RESULT, app: { n: 1, once: null } })),
    step.commit(ofApp('u2', count(4)), withResults(answer.made(2), counted(5))),
    { reopen: 'check' },
    step.commit(
      { ...EVERY_NEW, attempt: 2 },
      { ...withResults(answer.updatedBefore(2, 1), { ...EVERY_RESULT, app: { n: 1, once: null } }) },
    ),
    step.commit(ofApp('u2', count(4)), withResults(answer.updatedBefore(2), counted(5))),
  ),
  storeCase(
    'operators of changes that go together see each other, and what deltas between them do',
    ...times(4, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      commitMany: [
        append('e1', count(1), {}, { key: keyOf('s0') }),
        append('e1', count(2), {}, { key: keyOf('s1') }),
        change.update('u1', { app: set('n', 100) }, { key: { appName: APP } }),
        append('e1', count(3), {}, { key: keyOf('s2') }),
        update('u2', count(4), {}, { key: { appName: APP } }),
        change.update('u3', { app: { unset: ['n'] } }),
        withOperators(change.create('c4', {}, { key: keyOf('s4') }), count(5)),
      ],
      outcomes: [
        withResults(answer.appended(1, 1), counted(1)),
        withResults(answer.appended(1, 2), counted(3)),
        answer.made(3),
        withResults(answer.appended(1, 4), counted(103)),
        withResults(answer.made(5), counted(107)),
        answer.made(6),
        withResults(answer.made(7), counted(5)),
      ],
    },
    step.appHas(7, { n: 5 }),
    step.sessionHas(
      {
        created: 'c1',
        pos: { app: 7 },
        state: { app: { n: 5 } },
        events: [{ rev: 1, data: dataOf('e1'), results: counted(3) }],
      },
      {},
      keyOf('s1'),
    ),
  ),
  storeCase(
    'of changes that go together and set a value once, or compare it, one does',
    ...times(3, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      commitMany: times(3, (index) => append('e1', { user: { v: setOnce(index) } }, {}, { key: keyOf(`s${index}`) })),
      outcomes: times(3, (index) => withResults(answer.appended(1, 0, index + 1), { user: { v: 0 } })),
    },
    {
      commitMany: times(3, (index) =>
        append('e2', { user: { v: compareAndSet(0, 10 + index) } }, change.EVERYTHING, { key: keyOf(`s${index}`) }),
      ),
      outcomes: [
        withResults(answer.appended(2, 1, 4), { user: { v: 10 } }),
        { throws: 'conflict', key: 'v', scope: 'user' },
        { throws: 'conflict', key: 'v', scope: 'user' },
      ],
    },
    step.userHas(4, { v: 10, new: 1 }),
    step.appHas(1, { new: 1 }),
    step.sessionHas(
      {
        created: 'c1',
        pos: { app: 1, user: 4 },
        state: { app: { new: 1 }, user: { v: 10, new: 1 } },
        events: [{ rev: 1, data: dataOf('e1'), results: { user: { v: 0 } } }],
      },
      {},
      keyOf('s1'),
    ),
  ),
  storeCase(
    'one whose operator does not fit does not keep the others from being written',
    ...times(3, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      commitMany: [
        append('e1', { app: { list: push(1) } }, {}, { key: keyOf('s0') }),
        append('e1', { app: { list: increment(1), n: increment(1) } }, change.EVERYTHING, { key: keyOf('s1') }),
        update('u1', { user: { n: increment(1) }, app: { list: push(2) } }),
        append('e1', { app: { list: push(3) }, session: { n: increment(1) } }, {}, { key: keyOf('s2') }),
      ],
      outcomes: [
        withResults(answer.appended(1, 1), { app: { list: [1] } }),
        { throws: 'rejected', key: 'list', scope: 'app' },
        withResults(answer.made(2, 1), { app: { list: [1, 2] }, user: { n: 1 } }),
        withResults(answer.appended(1, 3, 1), { app: { list: [1, 2, 3] }, session: { n: 1 } }),
      ],
    },
    step.appHas(3, { list: [1, 2, 3] }),
    step.userHas(1, { n: 1 }),
  ),
  storeCase(
    'guards of changes that go together see what operators before them came to',
    ...times(2, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      commitMany: [
        append('e1', count(0.1), {}, { key: keyOf('s0') }),
        update('u1', count(0.2), {}, { guard: { keys: { app: set('n', 0.1) }, pos: { app: 1 } } }),
        append('e1', count(1), {}, { key: keyOf('s1'), guard: { keys: { app: set('n', 0.1) } } }),
        change.update('u2', { app: set('m', 1) }, { guard: { keys: { app: set('n', 0.1 + 0.2) } } }),
      ],
      outcomes: [
        withResults(answer.appended(1, 1), counted(0.1)),
        withResults(answer.made(2), counted(0.1 + 0.2)),
        { throws: 'conflict' },
        answer.made(3),
      ],
    },
  ),
  storeCase(
    'duplicates with operators are found among many, those of the same call included',
    step.commit(change.create(), answer.made()),
    step.commit(append('e1', count(1)), withResults(answer.appended(1, 1), counted(1))),
    {
      commitMany: [update('u1', count(1)), append('e1', count(1)), update('u1', count(1)), update('u2', count(1))],
      outcomes: [
        withResults(answer.made(2), counted(2)),
        withResults(answer.appendedBefore('e1', 1, 2), counted(1)),
        withResults(answer.updatedBefore(2), counted(2)),
        withResults(answer.made(3), counted(3)),
      ],
    },
    step.appHas(3, { n: 3 }),
  ),
  storeCase(
    'of increments that are made at once none is lost',
    ...times(8, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      parallel: times(8, (index) => step.commit(append('e1', count(1), {}, { key: keyOf(`s${index}`) }))),
      outcomes: times(8, (index) => withResults(answer.appended(1, index + 1), counted(index + 1))),
    },
    step.appHas(8, { n: 8 }),
  ),
  storeCase(
    'of increments that two stores make at once none is lost',
    ...times(8, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      parallel: times(8, (index) => ({
        ...step.commit(append('e1', count(1), {}, { key: keyOf(`s${index}`) })),
        ...(index % 2 === 0 && { by: 'another' as const }),
      })),
      outcomes: times(8, (index) => withResults(answer.appended(1, index + 1), counted(index + 1))),
    },
    step.appHas(8, { n: 8 }),
    { loadScope: { app: APP }, answer: { pos: 8, state: { n: 8 } }, by: 'another' },
  ),
  featureCase(
    'marks',
    'a change with operators leaves its mark, also where they change nothing',
    step.commit(change.create('c', { app: set('v', 1) }), answer.made(1)),
    step.commit(
      append('e1', { app: { v: setOnce(2) }, user: { n: increment(1) } }, {}, { call: 'call 1' }),
      withResults(answer.appended(1, 2, 1), { app: { v: 1 }, user: { n: 1 } }),
    ),
    { loadScope: { app: APP }, answer: { pos: 2, state: { v: 1 }, mark: 'call 1' } },
    step.sessionHas({
      pos: { app: 2, user: 1 },
      state: { app: { v: 1 }, user: { n: 1 } },
      marks: { app: 'call 1', user: 'call 1' },
      events: [{ rev: 1, data: dataOf('e1'), results: { app: { v: 1 }, user: { n: 1 } } }],
    }),
  ),
  featureCase(
    'changed',
    'what operators came to is told to others, and not to the change itself',
    step.commit(change.create('c', { app: { set: { n: 1, v: 1 } } }), answer.made(1)),
    step.commit(
      update('u1', { app: { n: increment(1), born: push('x') } }, { app: { unset: ['v'] } }),
      withResults(answer.made(2), { app: { n: 2, born: ['x'] } }),
    ),
    step.commit(append('e1', count(5), {}, { known: { pos: { app: 1 }, marks: { app: 'c' } } }), {
      ...withResults(answer.appended(1, 3), counted(7)),
      changed: { app: { set: { n: 2, born: ['x'] }, unset: ['v', 'born'] } },
    }),
    step.sessionHas(
      {
        rev: 1,
        pos: { app: 3 },
        state: { app: undefined },
        changed: { app: { set: { n: 7, born: ['x'] }, unset: ['v', 'born'] } },
        events: [],
      },
      { known: { pos: { app: 1 }, marks: { app: 'c' } }, events: { last: 0 } },
    ),
  ),
  featureCase(
    'changed',
    'changes that go together are told what operators before them came to',
    step.commit(change.create('c', { app: set('n', 1) }), answer.made(1)),
    {
      commitMany: [
        update('u1', count(1)),
        append('e1', count(1), {}, { known: { pos: { app: 1 }, marks: { app: 'c' } } }),
        change.update('u2', {}, { known: { pos: { app: 1 }, marks: { app: 'c' } } }),
      ],
      outcomes: [
        withResults(answer.made(2), counted(2)),
        { ...withResults(answer.appended(1, 3), counted(3)), changed: { app: { set: { n: 2 }, unset: [] } } },
        { ...answer.made(3), changed: { app: { set: { n: 3 }, unset: [] } } },
      ],
    },
  ),
  featureCase(
    'calls',
    'a call whose operator did not fit is not written by an earlier try that arrives after it',
    step.commit(change.create('c', { app: { set: { v: 'other', n: 'text' } } }), answer.made(1)),
    step.commit(append('e1', { app: { v: compareAndSet('old', 'new') } }, {}, { attempt: 2 }), {
      throws: 'conflict',
      key: 'v',
      scope: 'app',
    }),
    step.commit(append('e2', count(1), {}, { attempt: 2 }), { throws: 'rejected', key: 'n', scope: 'app' }),
    step.commit(append('e3', count(1)), { throws: 'rejected', key: 'n', scope: 'app' }),
    step.commit(change.update('u1', { app: { set: { v: 'old', n: 1 } } }), answer.made(2)),
    step.commit(append('e1', { app: { v: compareAndSet('old', 'new') } }), { throws: 'conflict' }),
    step.commit(append('e2', count(1)), { throws: 'conflict' }),
    // A first try leaves nothing behind.
    step.commit(append('e3', count(1)), withResults(answer.appended(1, 3), counted(2))),
    step.appHas(3, { v: 'old', n: 2 }),
  ),
];
