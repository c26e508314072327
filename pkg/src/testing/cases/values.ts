// Values and events come back as they went in.

import { APP, HOME, KEY, answer, caseThatNeeds, change, dataOf, step, storeCase, inAll } from '../build/index.js';
import { EVENT_TEXTS, hasNul, TEXTS, VALUES } from '../edge-values.js';
import type { Values } from '../../store/contract.js';
import type { StoreCase } from '../case.js';
import type { Json } from '../../model/types.js';

/** All values, each under a name of its own: those without the character NUL, and those with it. */
const plain = named(VALUES.filter((value) => !hasNul(value)));
const withNul = named(VALUES.filter(hasNul));
/** About a megabyte as JSON: plain text, and text that takes more bytes than characters. */
const BIG = `${'x'.repeat(900_000)}${'é😀"\\'.repeat(10_000)}`;
const BIG_EVENT = JSON.stringify({ id: 'e1', invocationId: 'i', author: 'user', content: { parts: [{ text: BIG }] } });

export const valueCases: readonly StoreCase[] = [
  ...valuesCases('values at the edges of JSON', plain),
  ...valuesCases('values with the character NUL', withNul),
  storeCase(
    'the text of an event comes back as it was, character by character',
    step.commit(change.create(), answer.made()),
    ...EVENT_TEXTS.map((data, index) =>
      step.commit(
        change.append(`e${index}`, {}, { event: { id: `e${index}`, time: 1_000, data } }),
        answer.appended(index + 1),
      ),
    ),
    step.sessionHas({ events: EVENT_TEXTS.map((data, index) => ({ rev: index + 1, data })) }),
    ...EVENT_TEXTS.map((data, index) =>
      step.commit(change.append(`e${index}`), {
        rev: EVENT_TEXTS.length,
        prev: EVENT_TEXTS.length,
        pos: { app: 0, user: 0 },
        duplicate: true,
        data,
      }),
    ),
  ),
  storeCase(
    'a value of a megabyte comes back as it was, in every scope',
    step.commit(change.create('c', { session: { set: { big: BIG, small: 1 } } }), answer.made()),
    step.commit(change.append('e1', { app: { set: { big: BIG } } }), answer.appended(1, 1, 0)),
    step.commit(change.append('e2', { user: { set: { big: [BIG] } } }), answer.appended(2, 1, 1)),
    step.sessionHas(
      {
        rev: 2,
        pos: { app: 1, user: 1 },
        state: { app: { big: BIG }, user: { big: [BIG] }, session: { big: BIG, small: 1 } },
      },
      { events: { last: 0 } },
    ),
    step.list(
      [answer.row({ rev: 2, state: { big: BIG, small: 1 } })],
      {},
      { app: { big: BIG }, users: { user: { big: [BIG] } } },
    ),
    step.commit(
      change.append('e3', { session: { set: { big: 1 } } }, { guard: { keys: { session: { set: { big: BIG } } } } }),
      answer.appended(3, 1, 1),
    ),
    step.load(
      { ...answer.loaded({ rev: 3, pos: { app: 1, user: 1 } }), state: { session: { big: 1, small: 1 } } },
      { events: { last: 0 }, known: { pos: { app: 1, user: 1 } } },
    ),
  ),
  storeCase(
    'an event of a megabyte comes back as it was',
    step.commit(change.create(), answer.made()),
    step.commit(change.append('e1', {}, { event: { id: 'e1', time: 1_000, data: BIG_EVENT } }), answer.appended(1)),
    step.commit(change.append('e2', { session: { set: { x: 1 } } }), answer.appended(2)),
    step.sessionHas({
      state: { session: { x: 1 } },
      events: [
        { rev: 1, data: BIG_EVENT },
        { rev: 2, data: dataOf('e2') },
      ],
    }),
    step.commit(change.append('e1'), {
      rev: 2,
      prev: 2,
      pos: { app: 0, user: 0 },
      duplicate: true,
      data: BIG_EVENT,
    }),
  ),
  caseThatNeeds(
    'texts',
    'a thousand names come back in the order in which they were written',
    step.commit(change.create('c', { session: { set: manyNames(0, 1_000) } }), answer.made()),
    step.commit(
      change.append('e1', { session: { set: manyNames(500, 1_500), unset: ['n0', 'n7'] } }),
      answer.appended(1),
    ),
    step.sessionHas(
      { rev: 1, state: { session: withoutNames(manyNames(0, 1_500), 'n0', 'n7') } },
      {
        events: { last: 0 },
      },
    ),
    { remove: KEY },
    step.load(null),
    step.list([], { app: APP, user: HOME.userId }),
  ),
];

function manyNames(from: number, to: number): Values {
  return Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`n${from + index}`, from + index]));
}

function withoutNames(all: Values, ...names: readonly string[]): Values {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
}

function named(values: readonly Json[]): Values {
  return Object.fromEntries(values.map((value, index) => [`v${index}`, value]));
}

function valuesCases(title: string, values: Values): StoreCase[] {
  return [
    storeCase(
      `${title} come back as they were, in every scope`,
      step.commit(change.create('c', { app: { set: values } }), answer.made(1, 0)),
      step.commit(change.append('e1', { user: { set: values }, session: { set: values } }), answer.appended(1, 1, 1)),
      step.sessionHas({ rev: 1, pos: { app: 1, user: 1 }, state: inAll(values) }, { events: { last: 0 } }),
      step.list([answer.row({ rev: 1, state: values })], {}, { app: values, users: { user: values } }),
      step.appHas(1, values),
      step.userHas(1, values),
    ),
    storeCase(
      `a guard knows each of the ${title}`,
      step.commit(change.create('c', inAll({ set: values })), answer.made(1, 1)),
      step.commit(change.append('e1', {}, { guard: { keys: inAll({ set: values }) } }), answer.appended(1, 1, 1)),
      step.commit(change.append('e2', {}, { guard: { keys: { session: { set: { ...values, v0: 'other' } } } } }), {
        throws: 'conflict',
      }),
      step.commit(
        change.append('e2', {}, { guard: { keys: { session: { set: values, unset: TEXTS } } } }),
        answer.appended(2, 1, 1),
      ),
    ),
  ];
}
