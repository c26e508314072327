// Claims, which let one process at a time do what all might do, as a sweep.

import { APP, KEY, answer, change, eventsOf, keyOf, step, storeCase, times } from '../build/index.js';
import type { LeaseRequest } from '../../store/contract.js';
import type { StoreCase } from '../case.js';

/** Eleven days, and twice as long, in milliseconds. */
const LONG = 1_000_000_000;
const LONGER = 2 * LONG;

const take = (holder: string, ttl = LONG): LeaseRequest => ({ holder, ttl });
const keep = (holder: string, fence: number, ttl = LONG): LeaseRequest => ({ holder, ttl, fence });
const giveBack = (holder: string, fence: number): LeaseRequest => ({ holder, ttl: 0, fence });
const held = { throws: 'held' } as const;
const fencedAt = (actual: number) => ({ throws: 'fenced', actual }) as const;

export const claimCases: readonly StoreCase[] = [
  storeCase(
    'a claim is held until it is given back, and each holder gets a greater token',
    step.claim('sweep', take('one'), { fence: 1 }),
    step.claim('sweep', take('two'), held, { until: 'same' }),
    step.claim('sweep', keep('one', 1, LONGER), { fence: 1 }, { until: 'later' }),
    step.claim('sweep', take('two'), held, { until: 'same' }),
    step.claim('sweep', giveBack('two', 1), fencedAt(1)),
    step.claim('sweep', giveBack('one', 1)),
    step.claim('sweep', giveBack('one', 1)),
    step.claim('sweep', take('two'), { fence: 3 }),
    step.claim('sweep', take('one'), held),
    step.claim('sweep', keep('one', 1), fencedAt(3)),
    step.claim('sweep', giveBack('two', 3)),
    step.claim('sweep', take('one'), { fence: 5 }),
  ),
  storeCase(
    'a claim whose time is over is taken by the next, and its holder has lost it then',
    step.claim('sweep', take('one', 1), { fence: 1 }),
    { wait: 20 },
    step.claim('sweep', keep('one', 1, 1), { fence: 1 }, { until: 'later' }),
    { wait: 20 },
    step.claim('sweep', take('two'), { fence: 2 }, { until: 'later' }),
    step.claim('sweep', keep('one', 1), fencedAt(2)),
    step.claim('sweep', giveBack('one', 1), fencedAt(2)),
    step.claim('sweep', take('two', LONGER), { fence: 2 }, { until: 'later' }),
  ),
  storeCase(
    'each name is claimed by itself, whatever it is',
    ...['sweep', 'Sweep', 'sweep ', '', '__proto__', 'ä', '😀', "it's", 'a', 'a\u0000b', '%'].flatMap(
      (name, index) => [
        step.claim(name, take(`holder ${index}`), { fence: 1 }),
        step.claim(name, take('other'), held),
        ...(index % 2 === 0 ? [step.claim(name, giveBack(`holder ${index}`, 1))] : []),
      ],
    ),
    step.claim('sweep', take('other'), { fence: 3 }),
    step.claim('Sweep', take('other'), held),
  ),
  storeCase(
    'a claim is no lease of a session, and no value of a scope',
    step.claim('session', take('one'), { fence: 1 }),
    step.claim(APP, take('one'), { fence: 1 }),
    step.commit(change.create(), answer.made()),
    step.lease(take('two'), { fence: 1 }),
    step.commit(change.append('e1', {}, { guard: { fence: 1 } }), answer.appended(1)),
    { remove: KEY },
    step.claim('session', take('two'), held),
    step.appHas(0, {}),
  ),
  storeCase('of many that claim a name at once, one gets it', {
    parallel: times(8, (index) => step.claim('sweep', take(`holder ${index}`))),
    outcomes: [{ fence: 1 }, ...times(7, () => held)],
  }),
  storeCase(
    'a claim keeps nobody from sweeping and writing',
    step.commit(change.create('x', {}, { key: keyOf('x'), expires: { at: 1_000 } })),
    step.claim('sweep', take('one'), { fence: 1 }),
    step.commit(change.create(), answer.made()),
    step.commit(change.append('e1'), answer.appended(1)),
    step.sweep({ sessions: 1, more: false }),
    step.sessionHas({ events: eventsOf('e1') }),
    step.claim('sweep', take('two'), held),
  ),
  storeCase(
    'a claim of one store is one for the other, too',
    step.claim('sweep', take('one'), { fence: 1 }),
    step.claim('sweep', take('two'), held, { by: 'another', until: 'same' }),
    step.claim('sweep', giveBack('one', 1), undefined, { by: 'another' }),
    step.claim('sweep', take('two'), { fence: 3 }, { by: 'another' }),
    step.claim('sweep', take('one'), held),
  ),
  storeCase('of many that claim a name by two stores at once, one gets it', {
    parallel: times(8, (index) =>
      step.claim('sweep', take(`holder ${index}`), undefined, index % 2 === 0 ? {} : { by: 'another' }),
    ),
    outcomes: [{ fence: 1 }, ...times(7, () => held)],
  }),
];
