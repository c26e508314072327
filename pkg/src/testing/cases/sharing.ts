// Storage may have several stores at once.

import { APP, HOME, KEY, answer, change, eventsOf, keyOf, set, step, storeCase, times } from '../build/index.js';
import type { OneStoreStep, StoreCase, StoreStep } from '../case.js';

const ofApp = { key: { appName: APP } };

/** The other store does it. */
function other<Step extends OneStoreStep>(step: Step): Step {
  return { ...step, by: 'another' };
}

const togetherCases: readonly StoreCase[] = [
  storeCase(
    'two stores on the same storage see what the other has written',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
    other(step.sessionHas({ pos: { app: 1, user: 1 }, state: { app: { a: 1 }, user: { u: 1 }, session: { s: 1 } } })),
    other(
      step.commit(
        change.append('e1', { app: set('b', 2), session: set('s', 2) }, { time: 2_000 }),
        answer.appended(1, 2, 1),
      ),
    ),
    step.sessionHas({
      time: 2_000,
      pos: { app: 2, user: 1 },
      state: { app: { a: 1, b: 2 }, user: { u: 1 }, session: { s: 2 } },
      events: eventsOf('e1'),
    }),
    step.list(
      [answer.row({ rev: 1, time: 2_000, state: { s: 2 } })],
      {},
      { app: { a: 1, b: 2 }, users: { user: { u: 1 } } },
    ),
    step.commit(change.append('e2', { user: { unset: ['u'] } }), answer.appended(2, 2, 2)),
    other(step.userHas(2, {})),
    other(step.commit(change.update('p', { app: { unset: ['a'] } }, ofApp), answer.made(3))),
    step.appHas(3, { b: 2 }),
    other(step.list([answer.row({ rev: 2, state: { s: 2 } })], {}, { app: { b: 2 } })),
    step.commit(change.append('e3'), answer.appended(3, 3, 2)),
    other(
      step.sessionHas({
        pos: { app: 3, user: 2 },
        state: { app: { b: 2 }, session: { s: 2 } },
        events: eventsOf('e1', 'e2', 'e3'),
      }),
    ),
    other({ remove: KEY }),
    step.load(null),
    step.list([], {}, { app: { b: 2 } }),
    step.commit(change.append('e4'), { throws: 'not-found' }),
  ),
  storeCase(
    'two stores on the same storage never overwrite what the other has merged',
    step.commit(change.create('c'), answer.made()),
    ...times(10, (index) => [
      step.commit(
        change.append(`a${index}`, {
          app: set(`a${index}`, 1),
          user: set('last', `a${index}`),
          session: set(`a${index}`, 1),
        }),
        answer.appended(2 * index + 1, 2 * index + 1, 2 * index + 1),
      ),
      other(
        step.commit(
          change.append(`b${index}`, {
            app: set(`b${index}`, 2),
            user: set('last', `b${index}`),
            session: set(`b${index}`, 2),
          }),
          answer.appended(2 * index + 2, 2 * index + 2, 2 * index + 2),
        ),
      ),
    ]).flat(),
    ...times(2, (index) => {
      const all = Object.fromEntries(
        times(
          10,
          (n) =>
            [
              [`a${n}`, 1],
              [`b${n}`, 2],
            ] as const,
        ).flat(),
      );
      const loadStep = step.sessionHas(
        { rev: 20, pos: { app: 20, user: 20 }, state: { app: all, user: { last: 'b9' }, session: all } },
        { events: { last: 0 } },
      );
      return index === 0 ? loadStep : other(loadStep);
    }),
  ),
  storeCase(
    'a guard sees what the other store has written',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1), session: set('s', 1) }), answer.made(1, 1)),
    other(
      step.commit(
        change.append('e1', { app: set('a', 2) }, { guard: { created: 'c', rev: 0, pos: { app: 1, user: 1 } } }),
        answer.appended(1, 2, 1),
      ),
    ),
    step.commit(change.append('e2', {}, { guard: { rev: 0 } }), { throws: 'conflict', actual: 1 }),
    step.commit(change.append('e2', {}, { guard: { pos: { app: 1 } } }), { throws: 'conflict' }),
    step.commit(change.append('e2', {}, { guard: { keys: { app: set('a', 1) } } }), { throws: 'conflict' }),
    step.commit(change.update('p', {}, { guard: { keys: { app: set('a', 1) } } }), { throws: 'conflict' }),
    step.commit(
      change.append(
        'e2',
        { session: { unset: ['s'] } },
        { guard: { rev: 1, pos: { app: 2 }, keys: { app: set('a', 2) } } },
      ),
      answer.appended(2, 2, 1),
    ),
    other(step.commit(change.append('e3', {}, { guard: { keys: { session: set('s', 1) } } }), { throws: 'conflict' })),
    other(step.commit(change.create('d'), { throws: 'exists' })),
    other({ remove: KEY }),
    other(step.commit(change.create('d'), answer.made(2, 1))),
    step.commit(change.append('e3', {}, { guard: { created: 'c' } }), { throws: 'not-found' }),
    step.commit(change.create('f'), { throws: 'exists' }),
    step.commit(change.append('e1', {}, { guard: { created: 'd', rev: 0 } }), answer.appended(1, 2, 1)),
    other(
      step.sessionHas({
        created: 'd',
        pos: { app: 2, user: 1 },
        state: { app: { a: 2 }, user: { u: 1 } },
        events: eventsOf('e1'),
      }),
    ),
  ),
  storeCase(
    'duplicates are known to the other store',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    other(step.commit(change.create('c', { app: set('a', 1) }), answer.again(0, 1))),
    other(step.commit(change.append('e1', { app: set('a', 2) }), answer.appended(1, 2))),
    step.commit(change.append('e1', { app: set('a', 2) }), answer.appendedBefore('e1', 1, 2)),
    step.commit(change.update('p', { user: set('u', 1) }), answer.made(2, 1)),
    other(step.commit(change.update('p', { user: set('u', 9) }), answer.updatedBefore(2, 1))),
    other(step.commit(change.update('q', { app: set('a', 3) }, ofApp), answer.made(3))),
    step.commit(change.update('q', { app: set('a', 9) }, ofApp), answer.updatedBefore(3)),
    step.sessionHas({ pos: { app: 3, user: 1 }, state: { app: { a: 3 }, user: { u: 1 } }, events: eventsOf('e1') }),
  ),
  storeCase(
    'what one knows is judged by what the other has written',
    step.commit(change.create('c', { app: set('a', 1), session: set('s', 1) }), answer.made(1)),
    step.load(
      { ...answer.loaded({ pos: { app: 1 } }), state: {} },
      { known: { created: 'c', rev: 0, pos: { app: 1, user: 0 } } },
    ),
    other(step.commit(change.append('e1', { app: set('a', 2) }), answer.appended(1, 2))),
    step.load(
      { ...answer.loaded({ pos: { app: 2 }, events: eventsOf('e1') }), state: { app: { a: 2 }, session: { s: 1 } } },
      { known: { created: 'c', rev: 0, pos: { app: 1, user: 0 } } },
    ),
  ),
  storeCase(
    'two stores that write at once lose nothing',
    step.commit(change.create(), answer.made()),
    {
      parallel: times(20, (index) => {
        const written = step.commit(
          change.append(`e${index}`, { app: set(`x${index}`, index), session: set(`x${index}`, index) }),
        );
        return index % 2 === 0 ? written : other(written);
      }),
      outcomes: times(20, (index) => answer.appended(index + 1, index + 1)),
    },
    ...times(2, (index) => {
      const all = Object.fromEntries(times(20, (n) => [`x${n}`, n]));
      const read: StoreStep = {
        ...step.sessionHas(
          { rev: 20, pos: { app: 20 }, state: { app: all, session: all } },
          {
            events: { last: 0 },
          },
        ),
        namesInAnyOrder: true,
      };
      return index === 0 ? read : other(read);
    }),
  ),
  storeCase(
    'of two stores that create a session, send one change, or expect one value at once, one writes',
    {
      parallel: [step.commit(change.create('c1')), other(step.commit(change.create('c2')))],
      outcomes: [answer.made(), { throws: 'exists' }],
    },
    {
      parallel: [
        step.commit(change.append('e1', { app: set('n', 1) })),
        other(step.commit(change.append('e1', { app: set('n', 1) }))),
      ],
      outcomes: [answer.appended(1, 1), answer.appendedBefore('e1', 1, 1)],
    },
    {
      parallel: [
        step.commit(change.update('p', { user: set('n', 1) })),
        other(step.commit(change.update('p', { user: set('n', 1) }))),
      ],
      outcomes: [answer.made(1, 1), answer.updatedBefore(1, 1)],
    },
    {
      parallel: [
        step.commit(change.append('e2', {}, { guard: { rev: 1 } })),
        other(step.commit(change.append('e3', {}, { guard: { rev: 1 } }))),
      ],
      outcomes: [answer.appended(2, 1, 1), { throws: 'conflict', actual: 2 }],
    },
  ),
  storeCase(
    'two stores that write many at once lose nothing',
    {
      parallel: times(2, (index) => {
        const written = {
          commitMany: times(20, (n) =>
            change.create(
              `c${index}-${n}`,
              { session: set('x', n) },
              { key: keyOf(`s${index}-${n + 10}`, `u${index}`) },
            ),
          ),
          outcomes: times(20, () => answer.made()),
        };
        return index === 0 ? written : other(written);
      }),
    },
    step.list(
      times(40, (n) =>
        answer.row({
          key: keyOf(`s${Math.floor(n / 20)}-${(n % 20) + 10}`, `u${Math.floor(n / 20)}`),
          created: `c${Math.floor(n / 20)}-${n % 20}`,
          state: { x: n % 20 },
        }),
      ),
    ),
  ),
];

/** The one who watches has read what it is to hear of: no other hint has to come. */
const watchCases: readonly StoreCase[] = [
  storeCase(
    'one who watches gets a hint when another appends',
    step.commit(change.create(), answer.made()),
    { watch: true },
    step.sessionHas(),
    { hinted: KEY, change: change.append('e', { session: set('x', 1) }) },
  ),
  storeCase('one who watches gets a hint when another updates a user', { watch: true }, step.userHas(0, {}), {
    hinted: HOME,
    change: change.update('p', { user: set('u', 1) }),
  }),
  storeCase('one who watches gets a hint when another updates an app', { watch: true }, step.appHas(0, {}), {
    hinted: { appName: APP },
    change: change.update('p', { app: set('a', 1) }, ofApp),
  }),
  storeCase(
    'one who has stopped watching gets no more hints',
    step.commit(change.create(), answer.made()),
    { watch: true },
    step.sessionHas(),
    { hinted: KEY, change: change.append('first') },
    { watch: false },
    other(step.commit(change.append('unseen'))),
    { watch: true },
    { hinted: KEY, change: change.append('second') },
  ),
];

export const sharingCases: readonly StoreCase[] = [...togetherCases, ...watchCases];
