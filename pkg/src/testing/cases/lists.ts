// Lists: their order, their pages, and what comes with them.

import { defined } from '../../model/defined.js';
import { APP, USER, answer, change, keyOf, set, step, storeCase, times } from '../build/index.js';
import { IDS, inByteOrder } from '../edge-values.js';
import type { ListQuery } from '../../store/contract.js';
import type { ListedRow, StoreCase, StoreStep } from '../case.js';

/** Sessions of the usual user that were created at these times. */
function createAt(...placed: readonly (readonly [id: string, time: number, user?: string])[]): StoreStep[] {
  return placed.map(([id, time, user = USER]) =>
    step.commit(change.create(`c${id}${user}`, {}, { key: keyOf(id, user), time })),
  );
}

/** The row of a session that {@link createAt} has made. */
function at(id: string, time: number, user = USER): ListedRow {
  return answer.row({ key: keyOf(id, user), created: `c${id}${user}`, time });
}

/** The position of a row in a list, as a cursor. */
function behind({ key: { sessionId, userId }, time }: ListedRow): NonNullable<ListQuery['after']> {
  return { time, sessionId, userId };
}

const shuffled = IDS.map((_, index) => IDS[(index * 7 + 3) % IDS.length] ?? '');
/** In ascending order. */
const NUMBERS = [
  -1e308,
  -1e15,
  -1_000,
  -1.5,
  -1,
  -0.25,
  0,
  5e-324,
  0.25,
  1,
  1.5,
  2,
  10,
  1_000,
  1_000.125,
  1_700_000_000_000,
  1_700_000_000_000.5,
  2 ** 53,
  2 ** 53 + 2,
  1e308,
];
const three = [at('a', 10), at('b', 20), at('c', 30)];

const orderCases: readonly StoreCase[] = [
  storeCase(
    'a list is sorted by time, ascending or descending',
    ...createAt(['m', 20], ['z', 10], ['a', 30]),
    step.list([at('z', 10), at('m', 20), at('a', 30)]),
    step.list([at('a', 30), at('m', 20), at('z', 10)], { descending: true }),
  ),
  storeCase(
    'sessions of the same time are sorted by id, in the order of UTF-8 bytes, ascending either way',
    ...createAt(...shuffled.map((id) => [id, 10] as const), ['last', 20]),
    step.list([...IDS.map((id) => at(id, 10)), at('last', 20)]),
    step.list([at('last', 20), ...IDS.map((id) => at(id, 10))], { descending: true }),
    step.list(
      IDS.slice(20, 24).map((id) => at(id, 10)),
      { offset: 20, limit: 4 },
      { total: IDS.length + 1 },
    ),
    step.list(
      IDS.slice(19, 23).map((id) => at(id, 10)),
      { after: behind(at(IDS[18] ?? '', 10)), limit: 4 },
      { total: IDS.length + 1 },
    ),
    step.list(
      IDS.slice(23).map((id) => at(id, 10)),
      { descending: true, after: behind(at(IDS[22] ?? '', 10)) },
      { total: IDS.length + 1 },
    ),
    ...IDS.slice(18).map((id, index) =>
      step.list(
        IDS.slice(19 + index).map((next) => at(next, 10)),
        { descending: true, after: behind(at(id, 10)) },
        { total: IDS.length + 1 },
      ),
    ),
  ),
  storeCase(
    'sessions of the same time and id are sorted by user, in the order of UTF-8 bytes, ascending either way',
    ...createAt(...shuffled.map((user) => ['s', 10, user] as const), ['a', 10, '😀'], ['t', 10, '']),
    step.list([at('a', 10, '😀'), ...IDS.map((user) => at('s', 10, user)), at('t', 10, '')]),
    step.list([at('a', 10, '😀'), ...IDS.map((user) => at('s', 10, user)), at('t', 10, '')], { descending: true }),
    ...IDS.slice(18).map((user, index) =>
      step.list(
        [...IDS.slice(19 + index).map((next) => at('s', 10, next)), at('t', 10, '')],
        { after: behind(at('s', 10, user)) },
        { total: IDS.length + 2 },
      ),
    ),
  ),
  storeCase(
    'any finite number is a time: negative, fractional, big and small ones are sorted as numbers',
    ...createAt(...NUMBERS.map((time, index) => [`s${(index * 7) % NUMBERS.length}`, time] as const)),
    step.list(NUMBERS.map((time, index) => at(`s${(index * 7) % NUMBERS.length}`, time))),
    step.list(NUMBERS.map((time, index) => at(`s${(index * 7) % NUMBERS.length}`, time)).reverse(), {
      descending: true,
    }),
    ...NUMBERS.map((time, index) =>
      step.list(
        NUMBERS.slice(index + 1, index + 3).map((next, more) =>
          at(`s${((index + 1 + more) * 7) % NUMBERS.length}`, next),
        ),
        {
          after: { time, sessionId: `s${(index * 7) % NUMBERS.length}`, userId: USER },
          limit: 2,
        },
        { total: NUMBERS.length },
      ),
    ),
  ),
  storeCase(
    'an event moves its session to its own time, forward or back',
    ...createAt(['a', 10], ['b', 20], ['c', 30]),
    step.commit(change.append('e1', {}, { key: keyOf('a'), time: 40 }), answer.appended(1)),
    step.list([at('b', 20), at('c', 30), { ...at('a', 40), rev: 1 }]),
    step.commit(change.append('e1', {}, { key: keyOf('c'), time: -5 }), answer.appended(1)),
    step.list([{ ...at('c', -5), rev: 1 }, at('b', 20), { ...at('a', 40), rev: 1 }]),
    step.commit(change.append('e2', {}, { key: keyOf('c'), time: 20 }), answer.appended(2)),
    step.list([{ ...at('a', 40), rev: 1 }, at('b', 20), { ...at('c', 20), rev: 2 }], { descending: true }),
    step.commit(change.update('p', { user: {} }, { time: 99 })),
    step.commit(change.append('e2', {}, { key: keyOf('c'), time: 20 })),
    step.list([at('b', 20), { ...at('c', 20), rev: 2 }, { ...at('a', 40), rev: 1 }]),
  ),
];

const pageCases: readonly StoreCase[] = [
  storeCase(
    'a page has a limit and begins at an offset or after a place',
    ...createAt(['a', 10], ['b', 20], ['c', 30]),
    step.list(three.slice(0, 2), { limit: 2 }, { total: 3 }),
    step.list(three, { limit: 3 }),
    step.list(three, { limit: 1_000 }),
    step.list([], { limit: 0 }, { total: 3 }),
    step.list(three, { offset: 0 }),
    step.list(three.slice(1), { offset: 1 }, { total: 3 }),
    step.list(three.slice(1, 2), { offset: 1, limit: 1 }, { total: 3 }),
    step.list(three.slice(2), { offset: 2, limit: 5 }, { total: 3 }),
    step.list([], { offset: 3 }, { total: 3 }),
    step.list([], { offset: 1_000, limit: 1 }, { total: 3 }),
    step.list([], { offset: 1, limit: 0 }, { total: 3 }),
    step.list([at('b', 20)], { offset: 1, limit: 1, descending: true }, { total: 3 }),
    step.list([at('b', 20), at('a', 10)], { offset: 1, descending: true }, { total: 3 }),
    step.list(three.slice(1), { after: behind(at('a', 10)) }, { total: 3 }),
    step.list(three.slice(1, 2), { after: behind(at('a', 10)), limit: 1 }, { total: 3 }),
    step.list([], { after: behind(at('c', 30)) }, { total: 3 }),
    step.list([], { after: behind(at('a', 10)), limit: 0 }, { total: 3 }),
    step.list([at('b', 20), at('a', 10)], { after: behind(at('c', 30)), descending: true }, { total: 3 }),
    step.list([], { after: behind(at('a', 10)), descending: true }, { total: 3 }),
  ),
  storeCase(
    'a page goes on behind a place where no session is',
    ...createAt(['a', 10], ['b', 20], ['c', 30]),
    ...[
      { after: { time: 15, sessionId: 'zzz', userId: 'zzz' }, up: ['b', 'c'], down: ['a'] },
      { after: { time: 20, sessionId: 'a', userId: USER }, up: ['b', 'c'], down: ['b', 'a'] },
      { after: { time: 20, sessionId: 'b', userId: 'a' }, up: ['b', 'c'], down: ['b', 'a'] },
      { after: { time: 20, sessionId: 'b', userId: USER }, up: ['c'], down: ['a'] },
      { after: { time: 20, sessionId: 'b', userId: 'z' }, up: ['c'], down: ['a'] },
      { after: { time: 20, sessionId: '', userId: '' }, up: ['b', 'c'], down: ['b', 'a'] },
      { after: { time: -1e308, sessionId: '', userId: '' }, up: ['a', 'b', 'c'], down: [] },
      { after: { time: 1e308, sessionId: '', userId: '' }, up: [], down: ['c', 'b', 'a'] },
    ].flatMap(({ after, up, down }) =>
      [undefined, USER].flatMap((user) => {
        const rowsOf = (ids: readonly string[]): ListedRow[] =>
          ids.map((id) => three['abc'.indexOf(id)] ?? answer.row());
        const query = defined({ after, user });
        return [
          step.list(rowsOf(up), query, { total: 3 }),
          step.list(rowsOf(down), { ...query, descending: true }, { total: 3 }),
        ];
      }),
    ),
  ),
  storeCase(
    'one who goes from page to page sees every session that stays where it is, once, whatever comes, goes and moves meanwhile',
    ...createAt(['a', 10], ['b', 20], ['c', 30], ['d', 40], ['e', 50], ['f', 60]),
    step.list([at('a', 10), at('b', 20)], { limit: 2 }, { total: 6 }),
    // The place itself goes, one comes before it, one behind it, and one moves from behind to before.
    { remove: keyOf('b') },
    ...createAt(['before', 15], ['behind', 35]),
    step.commit(change.append('e1', {}, { key: keyOf('d'), time: 5 }), answer.appended(1)),
    step.list([at('c', 30), at('behind', 35)], { limit: 2, after: behind(at('b', 20)) }, { total: 7 }),
    { remove: keyOf('a') },
    step.commit(change.append('e1', {}, { key: keyOf('c'), time: 70 }), answer.appended(1)),
    step.list([at('e', 50), at('f', 60)], { limit: 2, after: behind(at('behind', 35)) }, { total: 6 }),
    step.list([{ ...at('c', 70), rev: 1 }], { limit: 2, after: behind(at('f', 60)) }, { total: 6 }),
    step.list([], { limit: 2, after: { time: 70, sessionId: 'c', userId: USER } }, { total: 6 }),
  ),
  storeCase(
    'behind a page whose sessions have all been deleted come those that came behind it, up or down, of all users or of one',
    ...[{}, { descending: true }, { user: USER }, { descending: true, user: USER }].flatMap((query, round) => {
      // Each round has sessions of its own: a deleted creation does not come back.
      const places = times(7, (index) => [`r${round}s${index}`, 10 * index] as const);
      const rows = places.map(([id, time]) => at(id, time));
      const inOrder = query.descending ? rows.reverse() : rows;
      return [
        ...createAt(...places),
        ...[0, 2, 4, 6].flatMap((start) => {
          const [before] = inOrder.slice(Math.max(start - 1, 0));
          const page = inOrder.slice(start, start + 2);
          const after = start === 0 || before === undefined ? {} : { after: behind(before) };
          return [
            step.list(page, { ...query, limit: 2, ...after }, { total: 7 - start }),
            ...page.map(({ key }) => ({ remove: key })),
          ];
        }),
        step.list([], { ...query, limit: 2, ...inOrder.slice(-1).map((last) => ({ after: behind(last) }))[0] }),
      ];
    }),
  ),
  storeCase(
    'a long list can be read at once and page by page',
    ...times(130, (index) =>
      step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`), time: index % 10 }), answer.made()),
    ),
    ...longListSteps(),
  ),
];

/** 130 sessions, thirteen of each time. */
function longListSteps(): StoreStep[] {
  const ids = inByteOrder(times(130, (index) => `s${index}`));
  const rows = times(10, (time) => ids.filter((id) => Number(id.slice(1)) % 10 === time))
    .flat()
    .map((id) => answer.row({ key: keyOf(id), created: `c${id.slice(1)}`, time: Number(id.slice(1)) % 10 }));
  return [
    step.list(rows),
    ...times(Math.ceil(130 / 37), (page) =>
      step.list(rows.slice(page * 37, (page + 1) * 37), { offset: page * 37, limit: 37 }, { total: 130 }),
    ),
    ...times(Math.ceil(130 / 37), (page) => {
      const place = rows[page * 37 - 1];
      return step.list(
        rows.slice(page * 37, (page + 1) * 37),
        { limit: 37, ...(place && { after: behind(place) }) },
        { total: 130 },
      );
    }),
  ];
}

const fourRows = [
  answer.row({ key: keyOf('a'), created: 'c1', time: 10 }),
  answer.row({ key: keyOf('b'), created: 'c2', time: 20 }),
  answer.row({ key: keyOf('c', 'other', APP), created: 'c3', time: 30 }),
  answer.row({ key: keyOf('d', 'poor'), created: 'c4', time: 40 }),
];

const contentCases: readonly StoreCase[] = [
  storeCase(
    'a list has the sessions of the app, of all users or of one, each with its own values',
    step.commit(change.create('c1', { session: set('x', 1) }, { key: keyOf('s', 'u1') }), answer.made()),
    step.commit(change.create('c2', { session: set('x', 2) }, { key: keyOf('s', 'u2') }), answer.made()),
    step.commit(change.create('c3', {}, { key: keyOf('t', 'u2') }), answer.made()),
    step.commit(change.create('c4', { session: set('x', 4) }, { key: keyOf('s', 'u1', 'elsewhere') }), answer.made()),
    step.commit(
      change.append('e1', { session: { set: { y: [1] }, unset: ['x'] } }, { key: keyOf('s', 'u2') }),
      answer.appended(1),
    ),
    step.list([
      answer.row({ key: keyOf('s', 'u1'), created: 'c1', state: { x: 1 } }),
      answer.row({ key: keyOf('s', 'u2'), created: 'c2', rev: 1, state: { y: [1] } }),
      answer.row({ key: keyOf('t', 'u2'), created: 'c3' }),
    ]),
    step.list([answer.row({ key: keyOf('s', 'u1'), created: 'c1', state: { x: 1 } })], { user: 'u1' }),
    step.list(
      [
        answer.row({ key: keyOf('s', 'u2'), created: 'c2', rev: 1, state: { y: [1] } }),
        answer.row({ key: keyOf('t', 'u2'), created: 'c3' }),
      ],
      { user: 'u2' },
    ),
    step.list([], { user: 'u' }),
    step.list([], { user: 'u%' }),
    step.list([], { user: 'u_' }),
    step.list([], { user: '' }),
    step.list([], { app: 'ap' }),
    step.list([], { app: 'nowhere', user: 'u1' }),
    step.list([answer.row({ key: keyOf('s', 'u1', 'elsewhere'), created: 'c4', state: { x: 4 } })], {
      app: 'elsewhere',
    }),
  ),
  storeCase(
    'with a list come the values of the app and of each user in its rows',
    step.commit(
      change.update('p1', { app: { set: { b: 1, a: 2 } }, user: { set: { z: 1, y: 2 } } }),
      answer.made(1, 1),
    ),
    step.list([], {}, { app: { b: 1, a: 2 } }),
    step.list([], { user: USER }, { app: { b: 1, a: 2 } }),
    step.commit(change.create('c1', {}, { key: keyOf('a'), time: 10 }), answer.made(1, 1)),
    step.commit(change.create('c2', {}, { key: keyOf('b'), time: 20 }), answer.made(1, 1)),
    step.commit(change.create('c3', { user: set('x', 3) }, { key: keyOf('c', 'other'), time: 30 }), answer.made(1, 1)),
    step.commit(change.create('c4', {}, { key: keyOf('d', 'poor'), time: 40 }), answer.made(1, 0)),
    ...[
      { query: {}, from: 0, to: 4, users: { user: { z: 1, y: 2 }, other: { x: 3 }, poor: {} } },
      { query: { limit: 2 }, from: 0, to: 2, users: { user: { z: 1, y: 2 } } },
      { query: { offset: 2, limit: 1 }, from: 2, to: 3, users: { other: { x: 3 } } },
      { query: { offset: 3 }, from: 3, to: 4, users: { poor: {} } },
      { query: { limit: 0 }, from: 0, to: 0, users: {} },
      { query: { offset: 4 }, from: 4, to: 4, users: {} },
    ].map(({ query, from, to, users }) =>
      step.list(fourRows.slice(from, to), query, { app: { b: 1, a: 2 }, users, total: 4 }),
    ),
    step.list(fourRows.slice(2, 3), { user: 'other' }, { app: { b: 1, a: 2 }, users: { other: { x: 3 } } }),
    step.list([], { app: 'elsewhere' }),
  ),
];

export const listCases: readonly StoreCase[] = [...orderCases, ...pageCases, ...contentCases];
