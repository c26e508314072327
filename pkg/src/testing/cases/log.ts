// The log of app and user values: the writes, each with its change, in the order of the store.

import { defined } from '../../model/defined.js';
import {
  times,
  counts,
  APP,
  HOME,
  KEY,
  USER,
  added,
  answer,
  by,
  change,
  countedFrom,
  countedWrite,
  entry,
  keyOf,
  set,
  step,
  storeCase,
} from '../build/index.js';
import type { Values } from '../../store/contract.js';
import type { StoreCase } from '../case.js';

export const logCases: readonly StoreCase[] = [
  storeCase('what nothing was written to has an empty log', step.appLog(0, []), step.userLog(0, [])),
  storeCase(
    'each change of a scope is an entry: where it came to, when, who wrote it, from what to what',
    step.commit(
      change.create('c', { app: { set: { a: 1, b: 2 } }, user: set('u', 1) }, { time: 5_000 }),
      answer.made(1, 1),
    ),
    step.commit(
      change.append('e1', { app: { set: { b: [3], c: null }, unset: ['a'] } }, { time: -2_000.5, call: 'call 1' }),
      answer.appended(1, 2, 1),
    ),
    step.commit(
      change.update('u1', { app: set('c', 4), user: set('u', { x: 1 }) }, { time: 3_000 }),
      answer.made(3, 2),
    ),
    step.appLog(3, [
      entry(1, [added('a', 1), added('b', 2)], by(), 5_000),
      entry(2, [{ name: 'a', from: 1 }, { name: 'b', from: 2, to: [3] }, added('c', null)], by('e1'), -2_000.5),
      entry(3, [{ name: 'c', from: null, to: 4 }], undefined, 3_000),
    ]),
    step.userLog(2, [
      entry(1, [added('u', 1)], by(), 5_000),
      entry(2, [{ name: 'u', from: 1, to: { x: 1 } }], undefined, 3_000),
    ]),
  ),
  storeCase(
    'what is deleted comes first, and of a name that is deleted and set again the two are one',
    step.commit(change.create('c', { app: { set: { a: 1, b: 1, c: 1, d: 1 } } }), answer.made(1)),
    step.commit(
      change.append('e1', { app: { set: { z: 2, b: 2, a: 2 }, unset: ['d', 'b', 'c'] } }),
      answer.appended(1, 2),
    ),
    step.commit(change.append('e2', { app: { unset: ['b'] } }), answer.appended(2, 3)),
    step.commit(change.append('e3', { app: set('b', 3) }), answer.appended(3, 4)),
    step.appLog(
      4,
      [
        entry(
          2,
          [
            { name: 'd', from: 1 },
            { name: 'c', from: 1 },
            added('z', 2),
            { name: 'b', from: 1, to: 2 },
            { name: 'a', from: 1, to: 2 },
          ],
          by('e1'),
        ),
        entry(3, [{ name: 'b', from: 2 }], by('e2')),
        entry(4, [added('b', 3)], by('e3')),
      ],
      { after: 1 },
    ),
  ),
  storeCase(
    'a change that touches no scope is no entry, and one that deletes what is not there has no writes',
    step.commit(change.create('c', { app: {}, session: set('s', 1) }), answer.made()),
    step.commit(change.append('e1', { user: { set: {}, unset: [] } }), answer.appended(1)),
    step.commit(change.append('e2', { app: { unset: ['none'] } }), answer.appended(2, 1)),
    step.commit(change.append('e3', { app: { set: { a: 1 }, unset: ['a', 'none'] } }), answer.appended(3, 2)),
    step.commit(change.append('e4', { app: set('a', 1) }), answer.appended(4, 3)),
    step.appLog(3, [
      entry(1, [], by('e2')),
      entry(2, [added('a', 1)], by('e3')),
      entry(3, [{ name: 'a', from: 1, to: 1 }], by('e4')),
    ]),
    step.appLog(3, [], { name: 'none' }),
    step.userLog(0, []),
  ),
  storeCase(
    'a log is read from a position on, up to one, so many entries of it',
    ...counts(12),
    step.appLog(12, countedFrom(1, 12)),
    step.appLog(12, countedFrom(1, 12), { after: 0, to: 12, limit: 12 }),
    step.appLog(12, countedFrom(5, 12), { after: 4 }),
    step.appLog(12, countedFrom(1, 4), { to: 4 }),
    step.appLog(12, countedFrom(5, 7), { after: 4, to: 7 }),
    step.appLog(12, countedFrom(5, 6), { after: 4, limit: 2 }),
    step.appLog(12, countedFrom(5, 5), { after: 4, to: 5, limit: 2 }),
    step.appLog(12, countedFrom(12, 12), { after: 11, limit: 5 }),
    ...[{ after: 12 }, { after: 40 }, { to: 0 }, { after: 7, to: 7 }, { after: 9, to: 3 }].map((query) =>
      step.appLog(12, [], query),
    ),
  ),
  storeCase(
    'a log of one name has the writes of this name alone',
    ...counts(12),
    step.appLog(
      12,
      [3, 6, 9, 12].map((pos) => entry(pos, [countedWrite('m', pos, 3)], undefined, pos)),
      { name: 'm' },
    ),
    step.appLog(12, [entry(6, [countedWrite('m', 6, 3)], undefined, 6)], { name: 'm', after: 3, limit: 1 }),
    step.appLog(12, [entry(9, [countedWrite('m', 9, 3)], undefined, 9)], { name: 'm', after: 6, to: 11 }),
    step.appLog(12, [entry(3, [countedWrite('n', 3, 1)], undefined, 3)], { name: 'n', after: 2, to: 3 }),
    step.appLog(12, [], { name: 'm', after: 9, to: 11 }),
    step.appLog(12, [], { name: 'none' }),
    step.appLog(12, [], { name: 'N' }),
  ),
  storeCase(
    'names and values of every kind are logged as they are',
    step.commit(
      change.create('c', {
        app: {
          set: JSON.parse('{"":1,"__proto__":{"x":null},"a\\u0000b":"\\u0000\\ud800","1e400":-0.5e-7}') as Values,
        },
      }),
      answer.made(1),
    ),
    ...['', '__proto__', 'a\u0000b', '1e400', 'constructor', "it's 😀"].map((name, index) =>
      step.commit(
        change.append(`e${index}`, {
          app: { set: JSON.parse(`{${JSON.stringify(name)}:[${index},{"z":1,"a":"é"}]}`) as Values },
        }),
        answer.appended(index + 1, index + 2),
      ),
    ),
    ...['', '__proto__', 'a\u0000b', '1e400', 'constructor', "it's 😀"].map((name, index) => {
      const first = [1, { x: null }, '\u0000\ud800', -0.5e-7][index];
      return step.appLog(
        7,
        [
          ...(first === undefined ? [] : [entry(1, [added(name, first)], by())]),
          entry(index + 2, [{ name, ...defined({ from: first }), to: [index, { z: 1, a: 'é' }] }], by(`e${index}`)),
        ],
        { name },
      );
    }),
  ),
  storeCase(
    'the log of an app tells of all its sessions, that of a user of theirs alone',
    ...[keyOf('one', 'ann'), keyOf('two', 'ann'), keyOf('one', 'bob'), keyOf('one', 'ann', 'other')].map(
      (key, index) =>
        step.commit(
          change.create(`c${index}`, { app: set('a', index), user: set('u', index) }, { key }),
          answer.made(index < 3 ? index + 1 : 1, index === 1 ? 2 : 1),
        ),
    ),
    step.commit(change.append('e1', { app: set('a', 9) }, { key: keyOf('one', 'bob') }), answer.appended(1, 4, 1)),
    step.appLog(4, [
      entry(1, [added('a', 0)], { userId: 'ann', sessionId: 'one' }),
      entry(2, [{ name: 'a', from: 0, to: 1 }], { userId: 'ann', sessionId: 'two' }),
      entry(3, [{ name: 'a', from: 1, to: 2 }], { userId: 'bob', sessionId: 'one' }),
      entry(4, [{ name: 'a', from: 2, to: 9 }], { userId: 'bob', sessionId: 'one', eventId: 'e1' }),
    ]),
    {
      readLog: { app: APP, user: 'ann' },
      answer: {
        pos: 2,
        base: 0,
        entries: [
          entry(1, [added('u', 0)], { userId: 'ann', sessionId: 'one' }),
          entry(2, [{ name: 'u', from: 0, to: 1 }], { userId: 'ann', sessionId: 'two' }),
        ],
      },
    },
    {
      readLog: { app: APP, user: 'bob' },
      answer: { pos: 1, base: 0, entries: [entry(1, [added('u', 2)], { userId: 'bob', sessionId: 'one' })] },
    },
    {
      readLog: { app: 'other', user: 'ann' },
      answer: { pos: 1, base: 0, entries: [entry(1, [added('u', 3)], { userId: 'ann', sessionId: 'one' })] },
    },
    { readLog: { app: APP, user: 'cid' }, answer: { pos: 0, base: 0, entries: [] } },
    { readLog: { app: 'none' }, answer: { pos: 0, base: 0, entries: [] } },
  ),
  storeCase(
    'what is refused, or sent again, leaves no entry',
    step.commit(change.create('c', { app: set('a', 1) }), answer.made(1)),
    step.commit(change.create('d', { app: set('a', 2) }), { throws: 'exists' }),
    step.commit(change.append('e1', { app: set('a', 3) }, { guard: { rev: 5 } }), { throws: 'conflict' }),
    step.commit(change.append('e1', { app: set('a', 4) }), answer.appended(1, 2)),
    step.commit(change.append('e1', { app: set('a', 4) }, { attempt: 2 }), answer.appendedBefore('e1', 1, 2)),
    step.commit(change.update('u1', { app: set('a', 5) }), answer.made(3)),
    step.commit(change.update('u1', { app: set('a', 5) }), answer.updatedBefore(3)),
    step.appLog(3, [
      entry(1, [added('a', 1)], by()),
      entry(2, [{ name: 'a', from: 1, to: 4 }], by('e1')),
      entry(3, [{ name: 'a', from: 4, to: 5 }]),
    ]),
  ),
  storeCase(
    'the entries of a session that was removed stay',
    step.commit(change.create('c', { app: set('a', 1), user: set('u', 1) }), answer.made(1, 1)),
    step.commit(change.append('e1', { user: set('u', 2) }), answer.appended(1, 1, 2)),
    { remove: KEY },
    step.appLog(1, [entry(1, [added('a', 1)], by())]),
    step.userLog(2, [entry(1, [added('u', 1)], by()), entry(2, [{ name: 'u', from: 1, to: 2 }], by('e1'))]),
    step.commit(change.create('d', { user: set('u', 3) }), answer.made(1, 3)),
    step.userLog(3, [entry(3, [{ name: 'u', from: 2, to: 3 }], by())], { after: 2 }),
  ),
  storeCase(
    'changes that go together are entries one by one',
    ...times(2, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    {
      commitMany: [
        change.append('e1', { app: { set: { a: 1, b: 1 } } }, { key: keyOf('s0'), time: 2_000 }),
        change.append('e1', { app: set('a', 9) }, { key: keyOf('s1'), guard: { rev: 3 } }),
        change.update('u1', { app: { set: { a: 2 }, unset: ['b'] }, user: set('u', 2) }, { time: 3_000 }),
        change.create('c2', { app: { set: { b: 3 }, unset: ['a'] } }, { key: keyOf('s2') }),
        change.append('e2', { user: { unset: ['u'] } }, { key: keyOf('s1'), time: 4_000 }),
      ],
      outcomes: [
        answer.appended(1, 1),
        { throws: 'conflict', actual: 0 },
        answer.made(2, 1),
        answer.made(3, 1),
        answer.appended(1, 3, 2),
      ],
    },
    step.appLog(3, [
      entry(1, [added('a', 1), added('b', 1)], { userId: USER, sessionId: 's0', eventId: 'e1' }, 2_000),
      entry(
        2,
        [
          { name: 'b', from: 1 },
          { name: 'a', from: 1, to: 2 },
        ],
        undefined,
        3_000,
      ),
      entry(3, [{ name: 'a', from: 2 }, added('b', 3)], { userId: USER, sessionId: 's2' }),
    ]),
    step.userLog(2, [
      entry(1, [added('u', 2)], undefined, 3_000),
      entry(2, [{ name: 'u', from: 2 }], { userId: USER, sessionId: 's1', eventId: 'e2' }, 4_000),
    ]),
  ),
  storeCase(
    'removing the values of a scope is an entry that deletes all names',
    step.commit(change.create('c', { app: { set: { a: 1, b: [2] } }, user: set('u', 1) }), answer.made(1, 1)),
    { removeScope: { app: APP } },
    { removeScope: { app: APP, user: HOME.userId } },
    step.commit(change.append('e1', { app: set('a', 3), user: set('u', 3) }), answer.appended(1, 3, 3)),
    step.appLog(3, [
      entry(1, [added('a', 1), added('b', [2])], by()),
      {
        pos: 2,
        time: null,
        writes: [
          { name: 'a', from: 1 },
          { name: 'b', from: [2] },
        ],
      },
      entry(3, [added('a', 3)], by('e1')),
    ]),
    step.userLog(3, [
      entry(1, [added('u', 1)], by()),
      { pos: 2, time: null, writes: [{ name: 'u', from: 1 }] },
      entry(3, [added('u', 3)], by('e1')),
    ]),
    step.appLog(3, [{ pos: 2, time: null, writes: [{ name: 'b', from: [2] }] }], { name: 'b', after: 1 }),
  ),
];
