// Leases: one runner at a time for a session, and what it writes once another has overtaken it.

import { KEY, answer, change, eventsOf, featureCase, keyOf, set, step, storeCase, times } from '../build/index.js';
import type { LeaseRequest } from '../../store/contract.js';
import type { StoreCase, StoreStep } from '../case.js';

/** Eleven days, and twice as long, in milliseconds: no clock comes to the end while a case runs. */
const LONG = 1_000_000_000;
const LONGER = 2 * LONG;

const take = (holder: string, ttl = LONG): LeaseRequest => ({ holder, ttl });
const keep = (holder: string, fence: number, ttl = LONG): LeaseRequest => ({ holder, ttl, fence });
const giveBack = (holder: string, fence: number): LeaseRequest => ({ holder, ttl: 0, fence });

/** An append with a token. */
const fencedAppend = (id: string, fence: number, more: Parameters<typeof change.append>[2] = {}): StoreStep =>
  step.commit(change.append(id, change.EVERYTHING, { ...more, guard: { fence, ...more.guard } }), fencedAt(1));

const fencedAt = (actual: number) => ({ throws: 'fenced', actual }) as const;
const held = { throws: 'held' } as const;
const notFound = { throws: 'not-found' } as const;

export const leaseCases: readonly StoreCase[] = [
  storeCase(
    'a lease is held until it is given back, and each holder gets a greater token',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.lease(take('two'), held, { until: 'same' }),
    step.lease(giveBack('one', 1)),
    step.lease(take('two'), { fence: 3 }),
    step.lease(take('one'), held),
    step.lease(giveBack('two', 3)),
    step.lease(take('two'), { fence: 5 }),
  ),
  storeCase(
    'a lease changes nothing of its session',
    step.commit(change.create('c', { session: set('s', 1) }), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.lease(keep('one', 1), { fence: 1 }),
    step.load(answer.loaded({ state: { session: { s: 1 } } })),
    step.list([answer.row({ state: { s: 1 } })]),
    step.lease(giveBack('one', 1)),
    step.load(answer.loaded({ state: { session: { s: 1 } } })),
  ),
  storeCase(
    'a holder that asks again gets the lease that it has, and it lasts longer',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.lease(take('one', LONGER), { fence: 1 }, { until: 'later' }),
    step.commit(change.append('e1', {}, { guard: { fence: 1 } }), answer.appended(1)),
  ),
  storeCase(
    'a lease lasts from the moment on in which it is made to last longer',
    step.commit(change.create(), answer.made()),
    step.lease(take('one', 1), { fence: 1 }),
    step.lease(keep('one', 1, LONG), { fence: 1 }, { until: 'later' }),
    { wait: 20 },
    step.lease(take('two'), held, { until: 'same' }),
    step.lease(keep('one', 1, LONGER), { fence: 1 }, { until: 'later' }),
    step.lease(take('two'), held, { until: 'same' }),
    step.lease(keep('one', 1, 1), { fence: 1 }),
    { wait: 20 },
    step.lease(take('two'), { fence: 2 }),
  ),
  storeCase(
    'a lease whose time is over is taken by the next, and its holder writes nothing from then on',
    step.commit(change.create('c', { app: set('a', 0), user: set('u', 0), session: set('s', 0) }), answer.made(1, 1)),
    step.lease(take('one', 1), { fence: 1 }),
    step.commit(change.append('e1', {}, { guard: { fence: 1, created: 'c' } }), answer.appended(1, 1, 1)),
    { wait: 20 },
    step.lease(take('two'), { fence: 2 }),
    step.commit(change.append('e2', change.EVERYTHING, { guard: { fence: 1, created: 'c' } }), fencedAt(2)),
    step.lease(keep('one', 1), fencedAt(2)),
    step.lease(giveBack('one', 1), fencedAt(2)),
    step.load(
      answer.loaded({
        pos: { app: 1, user: 1 },
        state: { app: { a: 0 }, user: { u: 0 }, session: { s: 0 } },
        events: eventsOf('e1'),
      }),
    ),
    step.commit(change.append('e3', {}, { guard: { fence: 2, created: 'c' } }), answer.appended(2, 1, 1)),
    step.lease(keep('two', 2), { fence: 2 }),
  ),
  storeCase(
    'a lease whose time is over and that nobody has taken is still its holder’s',
    step.commit(change.create(), answer.made()),
    step.lease(take('one', 1), { fence: 1 }),
    { wait: 20 },
    step.commit(change.append('e1', {}, { guard: { fence: 1 } }), answer.appended(1)),
    step.lease(keep('one', 1), { fence: 1 }, { until: 'later' }),
    step.lease(take('two'), held),
    step.lease(keep('one', 1, 1), { fence: 1 }),
    { wait: 20 },
    step.lease(take('one'), { fence: 1 }, { until: 'later' }),
    step.lease(take('two'), held),
  ),
  storeCase(
    'nothing is written with the token of a lease that was given back',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.lease(giveBack('one', 1)),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { fence: 1 } }), fencedAt(2)),
    step.lease(keep('one', 1), fencedAt(2)),
    step.lease(giveBack('one', 1), fencedAt(2)),
    step.lease(keep('one', 2), fencedAt(2)),
    step.load(answer.loaded()),
    step.lease(take('one'), { fence: 3 }),
  ),
  storeCase(
    'a lease is made to last longer, and given back, by its holder alone',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.lease(keep('two', 1, LONGER), fencedAt(1)),
    step.lease(giveBack('two', 1), fencedAt(1)),
    step.lease(keep('one', 0), fencedAt(1)),
    step.lease(keep('one', 2), fencedAt(1)),
    step.lease(take('two'), held, { until: 'same' }),
    step.commit(change.append('e1', {}, { guard: { fence: 1 } }), answer.appended(1)),
  ),
  storeCase(
    'a lease keeps no writer without one from writing',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.commit(change.append('e1', { session: set('s', 1) }), answer.appended(1)),
    step.commit(change.append('e2', {}, { guard: { fence: 1 } }), answer.appended(2)),
    step.load(answer.loaded({ state: { session: { s: 1 } }, events: eventsOf('e1', 'e2') })),
  ),
  storeCase(
    'a session that was never leased is at token 0',
    step.commit(change.create(), answer.made()),
    step.commit(change.append('e1', {}, { guard: { fence: 0 } }), answer.appended(1)),
    step.commit(change.append('e2', change.EVERYTHING, { guard: { fence: 1 } }), fencedAt(0)),
    step.lease(keep('one', 1), fencedAt(0)),
    step.lease(take('one'), { fence: 1 }),
    step.commit(change.append('e2', change.EVERYTHING, { guard: { fence: 0 } }), fencedAt(1)),
    step.load(answer.loaded({ events: eventsOf('e1') })),
  ),
  storeCase(
    'only a session that is there is leased, and only the one that was created so',
    step.lease(take('one'), notFound),
    step.commit(change.create(), answer.made()),
    step.lease({ ...take('one'), created: 'x' }, notFound),
    step.lease({ ...take('one'), created: 'c' }, { fence: 1 }),
    step.lease({ ...keep('one', 1), created: 'x' }, notFound),
    step.lease({ ...giveBack('one', 1), created: 'x' }, notFound),
    step.lease({ ...take('two'), created: 'x' }, notFound),
    step.lease({ ...keep('one', 1), created: 'c' }, { fence: 1 }),
    step.lease(take('one'), notFound, { key: keyOf('other') }),
    step.lease(take('one'), notFound, { key: keyOf('session', 'other') }),
    step.lease(take('one'), notFound, { key: keyOf('session', 'user', 'other') }),
  ),
  storeCase(
    'a lease is lost with its session',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    { remove: KEY },
    step.lease(keep('one', 1), notFound),
    step.commit(change.append('e1', {}, { guard: { fence: 1 } }), notFound),
    step.commit(change.create('d'), answer.made()),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { fence: 1 } }), fencedAt(0)),
    step.lease(keep('one', 1), fencedAt(0)),
    step.lease(take('two'), { fence: 1 }),
    step.load(answer.loaded({ created: 'd' })),
  ),
  storeCase(
    'sessions are leased each by itself',
    ...[keyOf('one'), keyOf('two'), keyOf('one', 'other'), keyOf('one', 'user', 'other'), keyOf('ONE')].flatMap(
      (key, index) => [
        step.commit(change.create(`c${index}`, {}, { key }), answer.made()),
        ...times(index, (count) =>
          step.lease(count % 2 === 0 ? take('same') : keep('same', 1), { fence: 1 }, { key }),
        ),
      ],
    ),
    step.lease(giveBack('same', 1), undefined, { key: keyOf('two') }),
    step.lease(take('other'), held, { key: keyOf('one', 'other') }),
    step.lease(take('other'), { fence: 1 }, { key: keyOf('one') }),
    step.lease(take('other'), { fence: 3 }, { key: keyOf('two') }),
    step.commit(change.append('e1', {}, { key: keyOf('one', 'other'), guard: { fence: 1 } }), answer.appended(1)),
    step.commit(change.append('e1', {}, { key: keyOf('two'), guard: { fence: 1 } }), fencedAt(3)),
  ),
  storeCase(
    'holders are told apart whatever they are called',
    ...['', '__proto__', 'a', 'A', 'a ', 'a\u0000', '😀', "'"].flatMap((holder, index, holders) => [
      step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made()),
      step.lease(take(holder), { fence: 1 }, { key: keyOf(`s${index}`) }),
      ...holders
        .filter((other) => other !== holder)
        .map((other) => step.lease(take(other), held, { key: keyOf(`s${index}`) })),
      step.lease(take(holder), { fence: 1 }, { key: keyOf(`s${index}`) }),
    ]),
  ),
  storeCase(
    'a duplicate is one whatever token it has',
    step.commit(change.create('c', {}, { guard: { fence: 0 } }), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.commit(change.append('e1', { app: set('a', 1) }, { guard: { fence: 1 } }), answer.appended(1, 1)),
    step.lease(giveBack('one', 1)),
    step.commit(change.append('e1', { app: set('a', 1) }, { guard: { fence: 1 } }), answer.appendedBefore('e1', 1, 1)),
    step.commit(
      change.append('e1', { app: set('a', 1) }, { guard: { fence: 1 }, attempt: 2 }),
      answer.appendedBefore('e1', 1, 1),
    ),
    step.appHas(1, { a: 1 }),
  ),
  storeCase(
    'the token is looked at before all else of the guard but the creation',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { fence: 2, created: 'x' } }), notFound),
    ...[{ rev: 7 }, { pos: { app: 7 } }, { keys: { session: set('s', 1) } }].flatMap((guard, index) => [
      fencedAppend(`e${index}`, 2, { guard }),
      step.commit(change.append(`e${index}`, change.EVERYTHING, { guard: { ...guard, fence: 1 } }), {
        throws: 'conflict',
      }),
    ]),
    step.load(answer.loaded()),
  ),
  featureCase(
    'calls',
    'a call that was fenced is not written by an earlier try that arrives after it',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    fencedAppend('e1', 3, { attempt: 2 }),
    step.lease(giveBack('one', 1)),
    step.lease(take('two'), { fence: 3 }),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { fence: 3 } }), { throws: 'conflict' }),
    step.commit(change.append('e1', change.EVERYTHING, { guard: { fence: 3 }, attempt: 3 }), { throws: 'conflict' }),
    step.load(answer.loaded()),
    // A first try leaves nothing behind.
    step.commit(change.append('e2', {}, { guard: { fence: 1 } }), fencedAt(3)),
    step.commit(change.append('e2', {}, { guard: { fence: 3 } }), answer.appended(1)),
  ),
  storeCase(
    'among changes that go together each is held to its own token',
    ...times(3, (index) => step.commit(change.create(`c${index}`, {}, { key: keyOf(`s${index}`) }), answer.made())),
    step.lease(take('one'), { fence: 1 }, { key: keyOf('s0') }),
    step.lease(take('one'), { fence: 1 }, { key: keyOf('s1') }),
    {
      commitMany: [
        change.append('e1', { app: set('a', 1) }, { key: keyOf('s0'), guard: { fence: 1 } }),
        change.append('e1', change.EVERYTHING, { key: keyOf('s1'), guard: { fence: 2 } }),
        change.append('e1', change.EVERYTHING, { key: keyOf('s2'), guard: { fence: 1 } }),
        change.append('e1', change.EVERYTHING, { key: keyOf('none'), guard: { fence: 1 } }),
        change.update('u1', { app: set('b', 1) }),
      ],
      outcomes: [answer.appended(1, 1), fencedAt(1), fencedAt(0), notFound, answer.made(2)],
    },
    {
      commitMany: [
        change.append('e1', { app: set('a', 1) }, { key: keyOf('s0'), guard: { fence: 9 } }),
        change.append('e1', {}, { key: keyOf('s1'), guard: { fence: 1 } }),
      ],
      outcomes: [answer.appendedBefore('e1', 1, 2), answer.appended(1, 2)],
    },
    step.appHas(2, { a: 1, b: 1 }),
  ),
  storeCase(
    'of many that ask at once, one gets the lease',
    step.commit(change.create(), answer.made()),
    {
      parallel: times(8, (index) => step.lease(take(`holder ${index}`))),
      outcomes: [{ fence: 1 }, ...times(7, () => held)],
    },
    step.commit(change.append('e1', {}, { guard: { fence: 1 } }), answer.appended(1)),
  ),
  storeCase(
    'a lease that one store has given the other one knows, and its holder is fenced there, too',
    step.commit(change.create(), answer.made()),
    step.lease(take('one'), { fence: 1 }),
    step.lease(take('two'), held, { by: 'another', until: 'same' }),
    { commit: change.append('e1', {}, { guard: { fence: 1 } }), outcome: answer.appended(1), by: 'another' },
    step.lease(keep('one', 1, 1), { fence: 1 }, { by: 'another' }),
    { wait: 20 },
    step.lease(take('two'), { fence: 2 }, { by: 'another' }),
    step.commit(change.append('e2', change.EVERYTHING, { guard: { fence: 1 } }), fencedAt(2)),
    step.lease(keep('one', 1), fencedAt(2)),
    { commit: change.append('e2', {}, { guard: { fence: 2 } }), outcome: answer.appended(2), by: 'another' },
    step.load(answer.loaded({ events: eventsOf('e1', 'e2') })),
  ),
  storeCase('of many that ask two stores at once, one gets the lease', step.commit(change.create(), answer.made()), {
    parallel: times(8, (index) =>
      step.lease(take(`holder ${index}`), undefined, index % 2 === 0 ? {} : { by: 'another' }),
    ),
    outcomes: [{ fence: 1 }, ...times(7, () => held)],
  }),
  storeCase(
    'a lease, and the token of one that was given back, are there when the storage is opened again',
    step.commit(change.create('c1', {}, { key: keyOf('one') }), answer.made()),
    step.commit(change.create('c2', {}, { key: keyOf('two') }), answer.made()),
    step.lease(take('one'), { fence: 1 }, { key: keyOf('one') }),
    step.lease(take('one'), { fence: 1 }, { key: keyOf('two') }),
    step.lease(giveBack('one', 1), undefined, { key: keyOf('two') }),
    { reopen: 'check' },
    step.lease(take('two'), held, { key: keyOf('one') }),
    step.lease(keep('one', 1), { fence: 1 }, { key: keyOf('one') }),
    step.commit(change.append('e1', {}, { key: keyOf('one'), guard: { fence: 1 } }), answer.appended(1)),
    step.commit(change.append('e1', {}, { key: keyOf('two'), guard: { fence: 1 } }), fencedAt(2)),
    step.lease(take('two'), { fence: 3 }, { key: keyOf('two') }),
    // Another store: where only one process has the storage, leases end with it.
    step.lease(take('three'), held, { key: keyOf('two'), by: 'another' }),
  ),
];
