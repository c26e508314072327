// The changes of others to a scope: reported to a caller that says where it was, in place of all values.

import { defined } from '../../model/defined.js';
import { APP, HOME, answer, change, featureCase, set, step, times } from '../build/index.js';
import type { Known, Values } from '../../store/contract.js';
import type { StoreCase, StoreStep } from '../case.js';

const changedCase = (name: string, ...steps: readonly StoreStep[]): StoreCase =>
  featureCase('changed', name, ...steps);

/** The knowledge of a caller that has seen the app at a position. */
function app(pos: number, mark: string): Pick<Known, 'pos' | 'marks'> {
  return { pos: { app: pos }, marks: { app: mark } };
}

function ofApp(id: string, names: Values | undefined, unset: readonly string[] = []): StoreStep {
  return step.commit(
    change.update(
      id,
      { app: { ...defined({ set: names }), ...(unset.length > 0 && { unset }) } },
      { key: { appName: APP } },
    ),
  );
}

export const changedCases: readonly StoreCase[] = [
  changedCase(
    'a change tells what others have done since its caller was there: names set, names deleted',
    step.commit(change.create('c', { app: { set: { a: 1, b: 2, c: 3 } } }), answer.made(1)),
    ofApp('u1', { b: 20 }),
    ofApp('u2', { d: 4 }, ['a']),
    step.commit(change.append('e1', {}, { known: app(1, 'c') }), {
      ...answer.appended(1, 3),
      changed: { app: { set: { b: 20, d: 4 }, unset: ['a', 'd'] } },
    }),
    step.commit(change.append('e2', {}, { known: app(2, 'u1') }), {
      ...answer.appended(2, 3),
      changed: { app: { set: { d: 4 }, unset: ['a', 'd'] } },
    }),
  ),
  changedCase(
    'what the change itself does is not part of it',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    ofApp('u1', { a: 2 }),
    step.commit(change.append('e1', { app: { set: { a: 3, b: 3 } } }, { known: app(1, 'c') }), {
      ...answer.appended(1, 3),
      changed: { app: { set: { a: 2 }, unset: [] } },
    }),
    step.commit(change.append('e2', { app: { unset: ['a'] } }, { known: app(3, 'e1') }), {
      ...answer.appended(2, 4),
      changed: null,
    }),
  ),
  changedCase(
    'of several writes of one name the last one is told',
    step.commit(change.create('c', { app: { set: { a: 1, b: 1 } } }), answer.made(1)),
    ofApp('u1', { a: 2 }),
    ofApp('u2', undefined, ['a']),
    ofApp('u3', { x: 1 }),
    ofApp('u4', { a: 3 }),
    ofApp('u5', undefined, ['x']),
    ofApp('u6', { b: 2 }),
    ofApp('u7', undefined, ['b']),
    step.commit(change.append('e1', {}, { known: app(1, 'c') }), {
      ...answer.appended(1, 8),
      changed: { app: { set: { a: 3 }, unset: ['a', 'b', 'x'] } },
    }),
  ),
  changedCase(
    'names that came into being meanwhile are told in the order in which they did',
    step.commit(change.create('c', { app: { set: { a: 1, b: 2 } } }), answer.made(1)),
    ofApp('u1', { z: 1, y: 1 }),
    ofApp('u2', { x: 1, b: 3 }),
    ofApp('u3', { z: 2 }, ['a']),
    ofApp('u4', { a: 9, y: 2 }),
    step.commit(change.append('e1', {}, { known: app(1, 'c') }), {
      ...answer.appended(1, 5),
      changed: { app: { set: { b: 3, z: 2, y: 2, x: 1, a: 9 }, unset: ['z', 'y', 'x', 'a'] } },
    }),
  ),
  changedCase(
    'a caller that names another mark, or none, is told nothing: it has to load',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    ofApp('u1', { a: 2 }),
    ofApp('u2', { a: 3 }),
    step.commit(change.append('e1', {}, { known: app(1, 'x') }), { ...answer.appended(1, 3), changed: null }),
    step.commit(change.append('e2', {}, { known: app(2, 'c') }), { ...answer.appended(2, 3), changed: null }),
    step.commit(change.append('e3', {}, { known: { pos: { app: 1 } } }), { ...answer.appended(3, 3), changed: null }),
    step.commit(change.append('e4', {}, { known: app(7, 'u2') }), { ...answer.appended(4, 3), changed: null }),
    step.commit(change.append('e5', {}, { known: { marks: { app: 'c' } } }), {
      ...answer.appended(5, 3),
      changed: null,
    }),
    // The mark of now, which is not what the scope was at.
    step.commit(change.append('e6', {}, { known: app(2, 'u2') }), { ...answer.appended(6, 3), changed: null }),
    ...[app(1, 'x'), app(2, 'u2'), { pos: { app: 1 } }, { marks: { app: 'u2' } }].map((known) =>
      step.sessionHas(
        { rev: 6, pos: { app: 3 }, state: { app: { a: 3 } }, changed: null, events: [] },
        {
          known,
          events: { last: 0 },
        },
      ),
    ),
  ),
  changedCase(
    'a session is loaded with what has happened to its scopes in place of their values',
    step.commit(
      change.create('c', { app: { set: { a: 1, b: 1 } }, user: { set: { u: 1, v: 1 } } }),
      answer.made(1, 1),
    ),
    step.commit(change.update('u1', { app: set('a', 2), user: { unset: ['u'] } }), answer.made(2, 2)),
    step.commit(change.update('u2', { user: set('w', 2) }), answer.made(2, 3)),
    step.sessionHas(
      {
        pos: { app: 2, user: 3 },
        state: { app: undefined, user: undefined },
        changed: { app: { set: { a: 2 }, unset: [] }, user: { set: { w: 2 }, unset: ['u', 'w'] } },
      },
      { known: { pos: { app: 1, user: 1 }, marks: { app: 'c', user: 'c' } } },
    ),
    step.sessionHas(
      {
        pos: { app: 2, user: 3 },
        state: { app: undefined, user: undefined },
        changed: { user: { set: { w: 2 }, unset: ['w'] } },
      },
      { known: { pos: { app: 2, user: 2 }, marks: { app: 'u1', user: 'u1' } } },
    ),
    step.sessionHas(
      {
        pos: { app: 2, user: 3 },
        state: { app: { a: 2, b: 1 }, user: undefined },
        changed: { user: { set: { w: 2 }, unset: ['w'] } },
      },
      { known: { pos: { user: 2 }, marks: { user: 'u1' } } },
    ),
  ),
  changedCase(
    'updates and creations are told as well',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1', { app: set('a', 2), user: set('u', 2) }), answer.appended(1, 2, 2)),
    step.commit(
      change.update(
        'u1',
        { user: set('u', 3) },
        { known: { pos: { app: 1, user: 1 }, marks: { app: 'c', user: 'c' } } },
      ),
      { ...answer.made(2, 3), changed: { app: { set: { a: 2 }, unset: [] }, user: { set: { u: 2 }, unset: [] } } },
    ),
    step.commit(
      change.create(
        'd',
        {},
        { key: { ...HOME, sessionId: 'next' }, known: { pos: { app: 2, user: 2 }, marks: { app: 'e1', user: 'e1' } } },
      ),
      { ...answer.made(2, 3), changed: { user: { set: { u: 3 }, unset: [] } } },
    ),
  ),
  changedCase(
    'changes that go together are told what those before them have done',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    {
      commitMany: [
        change.append('e1', { app: set('a', 2) }, { known: app(1, 'c') }),
        change.update('u1', { app: set('b', 1) }, { known: app(1, 'c') }),
        change.update('u2', { app: { unset: ['a'] } }, { known: app(1, 'c') }),
      ],
      outcomes: [
        { ...answer.appended(1, 2), changed: null },
        { ...answer.made(3), changed: { app: { set: { a: 2 }, unset: [] } } },
        { ...answer.made(4), changed: { app: { set: { a: 2, b: 1 }, unset: ['b'] } } },
      ],
    },
  ),
  changedCase(
    'among changes that go together, too, a caller that names another mark is told nothing, wherever it says the scope is',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    {
      commitMany: [
        change.update('u1', { app: set('a', 2), user: set('u', 2) }),
        change.append('e1', {}, { known: { pos: { app: 1, user: 1 }, marks: { app: 'x', user: 'x' } } }),
        change.update('u2', {}, { known: { pos: { app: 1, user: 1 }, marks: { app: 'c', user: 'x' } } }),
        change.update('u3', {}, { known: { pos: { app: 1, user: 1 }, marks: { user: 'c' } } }),
      ],
      outcomes: [
        answer.made(2, 2),
        { ...answer.appended(1, 2, 2), changed: null },
        { ...answer.made(2, 2), changed: { app: { set: { a: 2 }, unset: [] } } },
        { ...answer.made(2, 2), changed: { user: { set: { u: 2 }, unset: [] } } },
      ],
    },
  ),
  changedCase(
    'names and values of every kind are told as they are',
    step.commit(
      change.create('c', { app: { set: JSON.parse('{"":1,"__proto__":2,"a\\u0000b":3,"é😀":4}') as Values } }),
      answer.made(1),
    ),
    ofApp(
      'u1',
      JSON.parse('{"__proto__":{"x":null},"a\\u0000b":"\\u0000\\ud800","constructor":[1.5,-0.5e-7]}') as Values,
      ['', 'é😀'],
    ),
    step.commit(change.append('e1', {}, { known: app(1, 'c') }), {
      ...answer.appended(1, 2),
      changed: {
        app: {
          set: JSON.parse(
            '{"__proto__":{"x":null},"a\\u0000b":"\\u0000\\ud800","constructor":[1.5,-0.5e-7]}',
          ) as Values,
          unset: ['', 'é😀', 'constructor'],
        },
      },
    }),
  ),
  changedCase(
    'hundreds of changes are told',
    step.commit(change.create('c', { app: set('a', 0) }), answer.made(1)),
    ...times(300, (index) => ofApp(`u${index}`, { a: index, [`n${index % 7}`]: index })),
    step.commit(change.append('e1', {}, { known: app(1, 'c') }), {
      ...answer.appended(1, 301),
      changed: {
        app: {
          set: { a: 299, n0: 294, n1: 295, n2: 296, n3: 297, n4: 298, n5: 299, n6: 293 },
          unset: times(7, (index) => `n${index}`),
        },
      },
    }),
  ),
  changedCase(
    'nothing from before the values of a scope were removed can be told',
    step.commit(change.create('c', { app: { set: { a: 1, b: 2 } } }), answer.made(1)),
    ofApp('u1', { a: 2 }),
    { removeScope: { app: APP } },
    ofApp('u2', { b: 3 }),
    ofApp('u3', { b: 4 }),
    step.commit(change.append('e1', {}, { known: app(1, 'c') }), { ...answer.appended(1, 5), changed: null }),
    step.commit(change.append('e2', {}, { known: app(2, 'u1') }), { ...answer.appended(2, 5), changed: null }),
    step.commit(change.append('e3', {}, { known: app(4, 'u2') }), {
      ...answer.appended(3, 5),
      changed: { app: { set: { b: 4 }, unset: [] } },
    }),
  ),
  changedCase(
    'removing the values of a scope takes nothing from what can be told of others',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 0) }), answer.made(1, 1)),
    ...times(60, (index) =>
      step.commit(change.update(`u${index}`, { user: set('u', index + 1) }), answer.made(1, index + 2)),
    ),
    { removeScope: { app: APP } },
    step.sessionHas(
      {
        pos: { app: 2, user: 61 },
        state: { app: {}, user: undefined },
        changed: { user: { set: { u: 60 }, unset: [] } },
      },
      { known: { pos: { app: 1, user: 1 }, marks: { app: 'c', user: 'c' } } },
    ),
  ),
  changedCase(
    'it is told when the storage was opened again',
    step.commit(change.create('c', { app: { set: { a: 1, b: 2 } } }), answer.made(1)),
    ofApp('u1', { a: 2 }, ['b']),
    { reopen: 'check' },
    ofApp('u2', { c: 3 }),
    step.commit(change.append('e1', {}, { known: app(1, 'c') }), {
      ...answer.appended(1, 3),
      changed: { app: { set: { a: 2, c: 3 }, unset: ['b', 'c'] } },
    }),
  ),
  changedCase(
    'what one store has done the other one tells',
    step.commit(change.create('c', { app: { set: { a: 1, b: 2 } } }), answer.made(1)),
    { commit: change.update('u1', { app: { set: { a: 2 }, unset: ['b'] } }), by: 'another' },
    step.commit(change.append('e1', {}, { known: app(1, 'c') }), {
      ...answer.appended(1, 2),
      changed: { app: { set: { a: 2 }, unset: ['b'] } },
    }),
  ),
];
