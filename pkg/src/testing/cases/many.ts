// Many changes at once.

import {
  APP,
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
import type { Change, Committed } from '../../store/contract.js';
import type { Outcome, StoreCase, StoreStep } from '../case.js';

const ofApp = { key: { appName: APP } };

/** Commits many, each to its outcome. */
function commitMany(...pairs: readonly (readonly [Change, Outcome])[]): StoreStep {
  return { commitMany: pairs.map(([change]) => change), outcomes: pairs.map(([, outcome]) => outcome) };
}

const sessions = times(3, (index) =>
  step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made()),
);
const sessionIds = times(100, (index) => `s${index}`);
const hundred = (make: (index: number) => Change, outcome: (index: number) => Committed): StoreStep =>
  commitMany(...times(100, (index) => [make(index), outcome(index)] as const));

export const manyCases: readonly StoreCase[] = [
  storeCase('no changes at once are none', commitMany(), step.list([])),
  storeCase(
    'one change at once is one',
    commitMany([change.create('c', { session: set('x', 1) }), answer.made()]),
    step.sessionHas({ state: { session: { x: 1 } } }),
  ),
  storeCase(
    'many changes are written as if one after the other',
    ...sessions,
    commitMany(
      [
        change.append(
          'e1',
          { app: set('a', 1), user: set('u', 1), session: set('s', 1) },
          { key: keyOf('s0'), time: 2_000 },
        ),
        answer.appended(1, 1, 1),
      ],
      [
        change.append('e1', { app: set('a', 2), session: set('s', 2) }, { key: keyOf('s2'), time: 3_000 }),
        answer.appended(1, 2, 1),
      ],
      [change.update('p1', { app: set('b', 3) }, ofApp), answer.made(3, 0)],
      [change.create('c3', { user: set('v', 4) }, { key: keyOf('s3') }), answer.made(3, 2)],
      [change.append('e1', {}, { key: keyOf('s1') }), answer.appended(1, 3, 2)],
      [change.update('p2', { app: { set: { a: 5 } }, user: { unset: ['u'] } }), answer.made(4, 3)],
    ),
    step.list(
      [
        answer.row({ key: keyOf('s1'), created: 'c1', rev: 1 }),
        answer.row({ key: keyOf('s3'), created: 'c3' }),
        answer.row({ key: keyOf('s0'), created: 'c0', rev: 1, time: 2_000, state: { s: 1 } }),
        answer.row({ key: keyOf('s2'), created: 'c2', rev: 1, time: 3_000, state: { s: 2 } }),
      ],
      {},
      { app: { a: 5, b: 3 }, users: { user: { v: 4 } } },
    ),
    step.appHas(4, { a: 5, b: 3 }),
    step.userHas(3, { v: 4 }),
    step.sessionHas(
      {
        created: 'c2',
        time: 3_000,
        pos: { app: 4, user: 3 },
        state: { app: { a: 5, b: 3 }, user: { v: 4 }, session: { s: 2 } },
        events: eventsOf('e1'),
      },
      {},
      keyOf('s2'),
    ),
  ),
  storeCase(
    'one that is refused does not keep the others from being written',
    ...sessions,
    commitMany(
      [change.append('e1', { app: set('a', 1) }, { key: keyOf('s0') }), answer.appended(1, 1, 0)],
      [
        change.append('e1', { app: set('a', 2), user: set('u', 2), session: set('s', 2) }, { key: keyOf('none') }),
        { throws: 'not-found' },
      ],
      [
        change.append(
          'e1',
          { app: set('a', 3), user: set('u', 3), session: set('s', 3) },
          { key: keyOf('s1'), guard: { rev: 5 } },
        ),
        { throws: 'conflict', actual: 0 },
      ],
      [change.create('other', { app: set('a', 4), session: set('s', 4) }, { key: keyOf('s2') }), { throws: 'exists' }],
      [
        change.update('p1', { app: set('a', 5), user: set('u', 5) }, { guard: { keys: { app: set('a', 77) } } }),
        { throws: 'conflict' },
      ],
      [change.update('p2', { app: set('b', 6) }), answer.made(2, 0)],
    ),
    step.appHas(2, { a: 1, b: 6 }),
    step.userHas(0, {}),
    step.list(
      [
        answer.row({ key: keyOf('s0'), created: 'c0', rev: 1 }),
        answer.row({ key: keyOf('s1'), created: 'c1' }),
        answer.row({ key: keyOf('s2'), created: 'c2' }),
      ],
      {},
      { app: { a: 1, b: 6 } },
    ),
  ),
  storeCase(
    'what sessions began with is kept of each that is made among many',
    step.commit(change.begin('c0', {}, { key: keyOf('s0') }), answer.made()),
    commitMany(
      [change.begin('c1', { app: set('a', 1), session: set('s', 1) }, { key: keyOf('s1') }), answer.made(1)],
      [change.begin('other', { app: set('a', 2) }, { key: keyOf('s0') }), { throws: 'exists' }],
      [change.begin('c2', {}, { key: keyOf('s2'), guard: { pos: { app: 7 } } }), { throws: 'conflict' }],
      [change.create('c3', {}, { key: keyOf('s3') }), answer.made(1)],
      [change.begin('c4', {}, { key: keyOf('s4'), time: 2_000, guard: { rev: 0 } }), answer.made(1)],
    ),
    commitMany(
      [change.append('e1', {}, { key: keyOf('s1') }), answer.appended(1, 1)],
      [change.append('e1', {}, { key: keyOf('s3') }), answer.appended(1, 1)],
      [change.begin('c4', {}, { key: keyOf('s4') }), answer.again(0, 1)],
      [change.begin('c0', {}, { key: keyOf('s0') }), answer.again(0, 1)],
    ),
    ...[
      { id: 's0', has: { created: 'c0', events: [beginningOf('c0')] } },
      {
        id: 's1',
        has: { created: 'c1', events: [beginningOf('c1'), ...eventsOf('e1')], state: { session: { s: 1 } } },
      },
      { id: 's3', has: { created: 'c3', events: eventsOf('e1') } },
      { id: 's4', has: { created: 'c4', events: [beginningOf('c4')], time: 2_000 } },
    ].map(({ id, has: { state = {}, ...has } }) =>
      step.sessionHas(
        { ...has, pos: { app: 1 }, state: { app: { a: 1 }, ...state } },
        { events: { from: 0 } },
        keyOf(id),
      ),
    ),
    step.load(null, {}, keyOf('s2')),
  ),
  storeCase(
    'when all are refused, nothing is written',
    ...sessions,
    commitMany(
      [change.append('e1', { app: set('a', 1) }, { key: keyOf('none') }), { throws: 'not-found' }],
      [change.create('other', { app: set('a', 4) }, { key: keyOf('s2') }), { throws: 'exists' }],
    ),
    step.appHas(0, {}),
    step.list(times(3, (index) => answer.row({ key: keyOf(`s${index}`), created: `c${index}` }))),
  ),
  storeCase(
    'a guard sees what the changes before it have done',
    ...sessions,
    commitMany(
      [
        change.append(
          'e1',
          { app: set('n', 1) },
          { key: keyOf('s0'), guard: { pos: { app: 0 }, keys: { app: { unset: ['n'] } } } },
        ),
        answer.appended(1, 1),
      ],
      [
        change.append('e1', { app: set('n', 9) }, { key: keyOf('s1'), guard: { pos: { app: 0 } } }),
        { throws: 'conflict' },
      ],
      [
        change.append(
          'e1',
          { app: set('n', 2) },
          { key: keyOf('s2'), guard: { pos: { app: 1 }, keys: { app: set('n', 1) } } },
        ),
        answer.appended(1, 2),
      ],
      [change.update('p1', { app: set('n', 9) }, { guard: { keys: { app: set('n', 1) } } }), { throws: 'conflict' }],
      [change.update('p2', { app: set('n', 3) }, { guard: { keys: { app: set('n', 2) } } }), answer.made(3)],
    ),
    step.appHas(3, { n: 3 }),
  ),
  storeCase(
    'several updates of one scope are all made, in their order',
    commitMany(
      [change.update('p1', { user: { set: { b: 1, a: 1 } } }), answer.made(0, 1)],
      [change.update('p2', { user: { set: { a: 2, c: 2 } } }), answer.made(0, 2)],
      [change.update('p3', { user: { unset: ['b'] } }), answer.made(0, 3)],
      [change.update('p4', { user: { set: { b: 4 } } }), answer.made(0, 4)],
      [change.update('p5', { app: set('x', 5) }, ofApp), answer.made(1, 0)],
      [change.update('p6', { app: set('x', 6) }, { key: { appName: 'elsewhere' } }), answer.made(1, 0)],
      [
        change.update('p7', { app: set('x', 7), user: set('x', 7) }, { key: { appName: APP, userId: 'other' } }),
        answer.made(2, 1),
      ],
    ),
    step.userHas(4, { a: 2, c: 2, b: 4 }),
    step.appHas(2, { x: 7 }),
    step.appHas(1, { x: 6 }, 'elsewhere'),
    step.userHas(1, { x: 7 }, 'other'),
  ),
  storeCase(
    'duplicates are found among many, those of the same call included',
    ...sessions,
    step.commit(change.append('e1', { app: set('a', 1) }, { key: keyOf('s0') }), answer.appended(1, 1)),
    step.commit(change.update('p1', { user: set('u', 1) }), answer.made(1, 1)),
    commitMany(
      [
        change.append('e1', { app: set('a', 1) }, { key: keyOf('s0'), guard: { rev: 0 } }),
        answer.appendedBefore('e1', 1, 1, 1),
      ],
      [change.append('e1', { app: set('a', 2) }, { key: keyOf('s1') }), answer.appended(1, 2, 1)],
      [change.update('p1', { user: set('u', 1) }), answer.updatedBefore(2, 1)],
      [change.update('p2', { user: set('u', 2) }), answer.made(2, 2)],
      [change.update('p2', { user: set('u', 2) }), answer.updatedBefore(2, 2)],
      [change.create('c2', { app: set('a', 3) }, { key: keyOf('s2') }), answer.again(0, 2, 2)],
    ),
    step.appHas(2, { a: 2 }),
    step.userHas(2, { u: 2 }),
    step.sessionHas(
      {
        created: 'c0',
        pos: { app: 2, user: 2 },
        state: { app: { a: 2 }, user: { u: 2 } },
        events: eventsOf('e1'),
      },
      {},
      keyOf('s0'),
    ),
  ),
  storeCase(
    'what was written among many is known when it is sent alone, and the other way round',
    commitMany(
      [change.create('c', { session: set('x', 1) }), answer.made()],
      [change.update('p', { app: set('a', 1) }), answer.made(1)],
    ),
    step.commit(change.create('c'), answer.again(0, 1)),
    step.commit(change.update('p', {}), answer.updatedBefore(1)),
    commitMany([change.append('e1'), answer.appended(1, 1)]),
    step.commit(change.append('e1'), answer.appendedBefore('e1', 1, 1)),
    step.commit(change.append('e2'), answer.appended(2, 1)),
    commitMany([change.append('e2', {}, { guard: { created: 'c' } }), answer.appendedBefore('e2', 2, 1)]),
    { remove: KEY },
    commitMany([change.append('e3'), { throws: 'not-found' }]),
  ),
  storeCase(
    'a hundred changes at once are all made',
    hundred(
      (index) =>
        change.create(`c${index}`, { app: set(`a${index}`, index) }, { key: keyOf(`s${index}`, `u${index % 3}`) }),
      (index) => answer.made(index + 1, 0),
    ),
    hundred(
      (index) =>
        change.append(
          'e1',
          { user: set('n', index), session: set('n', index) },
          { key: keyOf(`s${index}`, `u${index % 3}`), time: 2_000 },
        ),
      (index) => answer.appended(1, 100, Math.floor(index / 3) + 1),
    ),
    step.list(
      [...sessionIds].sort().map((id) => {
        const index = Number(id.slice(1));
        return answer.row({
          key: keyOf(id, `u${index % 3}`),
          created: `c${index}`,
          rev: 1,
          time: 2_000,
          state: { n: index },
        });
      }),
      {},
      {
        app: Object.fromEntries(times(100, (index) => [`a${index}`, index])),
        users: { u0: { n: 99 }, u1: { n: 97 }, u2: { n: 98 } },
      },
    ),
    hundred(
      (index) => change.append('e1', {}, { key: keyOf(`s${index}`, `u${index % 3}`) }),
      (index) => answer.appendedBefore('e1', 1, 100, index % 3 === 0 ? 34 : 33),
    ),
  ),
];
