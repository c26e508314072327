// Nothing is ever taken for something else.

import { KEY, answer, change, dataOf, keyOf, set, step, storeCase, times, inAll } from '../build/index.js';
import { inByteOrder, letters, SEPARATORS, TEXTS } from '../edge-values.js';
import type { Delta, Values } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';
import type { ListedRow, StoreCase, StoreStep } from '../case.js';

/**
 * Sessions that each write to all scopes: created, loaded, and every second removed. Those of one app or user share
 * it.
 */
function apart(keys: readonly SessionKey[], prefix = 'c'): StoreStep[] {
  const shared = (key: SessionKey, parts: readonly (keyof SessionKey)[]): number[] =>
    [...keys.keys()].filter((index) => parts.every((part) => keys[index]?.[part] === key[part]));
  const valuesOf = (indexes: readonly number[]): Values =>
    Object.fromEntries(indexes.map((index) => [`x${index}`, index]));
  const deltaOf = (index: number): Delta => set(`x${index}`, index);
  const creates = keys.map((key, index) => {
    const before = (parts: readonly (keyof SessionKey)[]): number =>
      shared(key, parts).filter((other) => other <= index).length;
    const delta = inAll(deltaOf(index));
    return step.commit(
      change.create(`${prefix}${index}`, delta, { key }),
      answer.made(before(['appName']), before(['appName', 'userId'])),
    );
  });
  const loads = keys.map((key, index) => {
    const [app, user] = [shared(key, ['appName']), shared(key, ['appName', 'userId'])];
    const state = { app: valuesOf(app), user: valuesOf(user), session: valuesOf([index]) };
    return step.sessionHas(
      { created: `${prefix}${index}`, pos: { app: app.length, user: user.length }, state },
      {},
      key,
    );
  });
  return [
    ...creates,
    ...loads,
    ...keys.filter((_, index) => index % 2 === 0).map((key) => ({ remove: key })),
    ...keys.map((key, index) => (index % 2 === 0 ? step.load(null, {}, key) : (loads[index] ?? step.load(null)))),
  ];
}

/** Keys whose parts read the same, one behind the other, with this between them. */
function alike(separator: string): SessionKey[] {
  const join = (...parts: readonly string[]): string => parts.join(separator);
  return [
    keyOf('d', join('b', 'c'), 'a'),
    keyOf('d', 'c', join('a', 'b')),
    keyOf(join('c', 'd'), 'b', 'a'),
    keyOf(join('b', 'c', 'd'), '', 'a0'),
    keyOf('', join('b', 'c', 'd'), 'a1'),
    keyOf('', '', join('a', 'b', 'c', 'd')),
    keyOf(join('', 'd'), 'c', 'b'),
    keyOf('d', join('c', ''), 'b1'),
    // As if the separator were escaped, and the escape were not.
    keyOf(join('c', 'd'), 'b', 'a\\'),
    keyOf('d', 'c\\', join('a', 'b')),
  ];
}

/** The texts whose sessions {@link apart} does not remove. */
const ODD = TEXTS.filter((_, index) => index % 2 === 1);
/** The values that {@link apart} writes to a scope that all share. */
const allValues: Values = Object.fromEntries(TEXTS.map((_, index) => [`x${index}`, index]));

/** The row of the session that {@link apart} has made for a text. */
function rowOf(text: string, key: SessionKey): ListedRow {
  const index = TEXTS.indexOf(text);
  return answer.row({ key, created: `c${index}`, state: { [`x${index}`]: index } });
}

/** Values under all strange names. */
const strangeValues: Values = Object.fromEntries(TEXTS.map((name, index) => [name, index]));
const long = letters(2_000);
const longNames = ['a', 'b', ''].map((end) => `${long}${end}`);
const longIds = ['a', 'b', ''].map((end) => `${letters(250)}${end}`);

export const isolationCases: readonly StoreCase[] = [
  storeCase(
    'one session id may be in use by several users and in several apps',
    ...apart([keyOf('s', 'u1', 'a1'), keyOf('s', 'u1', 'a2'), keyOf('s', 'u2', 'a3'), keyOf('s', 'u2', 'a4')]),
    step.commit(change.create('d1', { session: set('y', 1) }, { key: keyOf('s', 'u1', 'a5') }), answer.made()),
    step.commit(change.create('d2', { session: set('y', 2) }, { key: keyOf('s', 'u2', 'a5') }), answer.made()),
    step.commit(change.append('e1', { session: set('y', 3) }, { key: keyOf('s', 'u1', 'a5') }), answer.appended(1)),
    step.sessionHas({ created: 'd2', state: { session: { y: 2 } } }, {}, keyOf('s', 'u2', 'a5')),
    { remove: keyOf('s', 'u2', 'a5') },
    step.sessionHas(
      { created: 'd1', state: { session: { y: 3 } }, events: [{ rev: 1, data: dataOf('e1') }] },
      {},
      keyOf('s', 'u1', 'a5'),
    ),
  ),
  storeCase(
    'any text is a session id, and no two texts are the same one',
    ...apart(TEXTS.map((text) => keyOf(text))),
    step.list(
      inByteOrder(ODD).map((text) => rowOf(text, keyOf(text))),
      {},
      { app: allValues, users: { user: allValues } },
    ),
  ),
  storeCase(
    'any text is a user, and no two texts are the same one',
    ...apart(TEXTS.map((text) => keyOf('s', text))),
    ...TEXTS.flatMap((text, index) => [
      step.list(
        ODD.includes(text) ? [rowOf(text, keyOf('s', text))] : [],
        { user: text },
        {
          app: allValues,
          users: ODD.includes(text) ? { [text]: { [`x${index}`]: index } } : {},
        },
      ),
      step.userHas(1, { [`x${index}`]: index }, text),
    ]),
  ),
  storeCase(
    'any text is an app, and no two texts are the same one',
    ...apart(TEXTS.map((text) => keyOf('s', 'u', text))),
    ...TEXTS.flatMap((text, index) => [
      step.list(
        ODD.includes(text) ? [rowOf(text, keyOf('s', 'u', text))] : [],
        { app: text },
        {
          app: { [`x${index}`]: index },
          users: ODD.includes(text) ? { u: { [`x${index}`]: index } } : {},
        },
      ),
      step.appHas(1, { [`x${index}`]: index }, text),
    ]),
  ),
  ...SEPARATORS.map((separator) =>
    storeCase(
      `keys whose parts read the same when joined by ${JSON.stringify(separator)} are different keys`,
      ...apart(alike(separator)),
    ),
  ),
  ...SEPARATORS.map((separator) =>
    storeCase(
      `a name and an id that read the same when joined by ${JSON.stringify(separator)} stay apart`,
      step.commit(
        change.update(
          'p1',
          { app: set(`u${separator}x`, 1), user: set('x', 2) },
          { key: { appName: 'a', userId: 'u' } },
        ),
        answer.made(1, 1),
      ),
      step.commit(
        change.update('p2', { user: set(`s${separator}x`, 3) }, { key: { appName: 'a', userId: 'u' } }),
        answer.made(1, 2),
      ),
      step.commit(change.create('c1', { session: set('x', 4) }, { key: keyOf('s', 'u', 'a') }), answer.made(1, 2)),
      step.commit(
        change.create('c2', { session: set(`s${separator}x`, 5) }, { key: keyOf('', 'u', 'a') }),
        answer.made(1, 2),
      ),
      step.commit(
        change.update('p3', { app: set('x', 6) }, { key: { appName: `a${separator}u` } }),
        answer.made(1, 0),
      ),
      step.commit(change.append('x', {}, { key: keyOf('', 'u', 'a') }), answer.appended(1, 1, 2)),
      step.commit(change.append(`s${separator}x`, {}, { key: keyOf('', 'u', 'a') }), answer.appended(2, 1, 2)),
      step.commit(change.append('x', {}, { key: keyOf('s', 'u', 'a') }), answer.appended(1, 1, 2)),
      step.appHas(1, { [`u${separator}x`]: 1 }, 'a'),
      step.userHas(2, { x: 2, [`s${separator}x`]: 3 }, 'u', 'a'),
      step.appHas(1, { x: 6 }, `a${separator}u`),
      step.list(
        [
          answer.row({ key: keyOf('', 'u', 'a'), created: 'c2', rev: 2, state: { [`s${separator}x`]: 5 } }),
          answer.row({ key: keyOf('s', 'u', 'a'), created: 'c1', rev: 1, state: { x: 4 } }),
        ],
        { app: 'a' },
        { app: { [`u${separator}x`]: 1 }, users: { u: { x: 2, [`s${separator}x`]: 3 } } },
      ),
    ),
  ),
  storeCase(
    'any text is a name, in every scope',
    step.commit(change.create('c', inAll({ set: strangeValues })), answer.made(1, 1)),
    step.sessionHas({
      pos: { app: 1, user: 1 },
      state: inAll(strangeValues),
    }),
    step.list([answer.row({ state: strangeValues })], {}, { app: strangeValues, users: { user: strangeValues } }),
    step.commit(
      change.append('e1', { app: { unset: [...TEXTS.slice(1)] }, session: { unset: [...TEXTS.slice(0, -1)] } }),
      answer.appended(1, 2, 1),
    ),
    step.appHas(2, { [TEXTS[0] ?? '']: 0 }),
    step.userHas(1, strangeValues),
    step.list(
      [answer.row({ rev: 1, state: { [TEXTS.at(-1) ?? '']: TEXTS.length - 1 } })],
      {},
      { app: { [TEXTS[0] ?? '']: 0 }, users: { user: strangeValues } },
    ),
  ),
  storeCase(
    'any text that is not empty is the id of an event, and no two texts are the same one',
    step.commit(change.create(), answer.made()),
    ...TEXTS.filter((text) => text !== '').map((text, index) =>
      step.commit(change.append(text), answer.appended(index + 1)),
    ),
    ...TEXTS.filter((text) => text !== '').map((text) =>
      step.commit(change.append(text), answer.appendedBefore(text, TEXTS.length - 1)),
    ),
  ),
  storeCase(
    'any text that is not empty is the id of a creation and of an update',
    ...TEXTS.filter((text) => text !== '').flatMap((text, index) => [
      step.commit(change.create(text, {}, { key: keyOf(`s${index}`) }), answer.made(0, index)),
      step.commit(change.create(text, {}, { key: keyOf(`s${index}`) }), answer.again(0, 0, index)),
      step.commit(change.update(`p${text}`, { user: set('x', 1) }), answer.made(0, index + 1)),
      step.commit(change.update(`p${text}`, { user: set('x', 2) }), answer.updatedBefore(0, index + 1)),
    ]),
    step.userHas(TEXTS.length - 1, { x: 1 }),
  ),
  storeCase(
    'names of 2,000 characters that differ in the last are different names',
    step.commit(
      change.create('c', { session: { set: Object.fromEntries(longNames.map((name, index) => [name, index])) } }),
      answer.made(),
    ),
    step.commit(
      change.append('e1', {
        app: set(longNames[0] ?? '', 1),
        user: set(longNames[1] ?? '', 2),
        session: { unset: longNames.slice(0, 1) },
      }),
      answer.appended(1, 1, 1),
    ),
    step.sessionHas({
      pos: { app: 1, user: 1 },
      state: {
        app: { [longNames[0] ?? '']: 1 },
        user: { [longNames[1] ?? '']: 2 },
        session: { [longNames[1] ?? '']: 1, [longNames[2] ?? '']: 2 },
      },
      events: [{ rev: 1, data: dataOf('e1') }],
    }),
  ),
  storeCase(
    'ids of 250 characters that differ in the last are different ids',
    ...apart(longIds.map((id) => keyOf(id))),
    ...apart(
      longIds
        .flatMap((app) => longIds.map((user) => keyOf(longIds[0] ?? '', user, app)))
        .filter((_, index) => index % 4 === 0),
      'd',
    ),
  ),
  storeCase(
    'a session that has much has no part in one that has little',
    ...times(2, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    ...times(30, (index) =>
      step.commit(
        change.append(`e${index}`, { session: set(`x${index}`, index) }, { key: keyOf('s0') }),
        answer.appended(index + 1),
      ),
    ),
    step.sessionHas({ created: 'c1' }, {}, keyOf('s1')),
    { remove: keyOf('s1') },
    step.list([
      answer.row({
        key: keyOf('s0'),
        created: 'c0',
        rev: 30,
        state: Object.fromEntries(times(30, (index) => [`x${index}`, index])),
      }),
    ]),
    step.load(null, {}, KEY),
  ),
];
