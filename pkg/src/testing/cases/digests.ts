// The digests of requests: a repeated call is answered with the one that it was made with, or refused with.

import { KEY, answer, change, eventsOf, featureCase, increment, keyOf, set, step, times } from '../build/index.js';
import { withOperators, withResults } from '../build/index.js';
import { letters } from '../edge-values.js';
import type { StoreCase, StoreStep } from '../case.js';

const digestCase = (name: string, ...steps: readonly StoreStep[]): StoreCase => featureCase('digests', name, ...steps);

const conflict = { throws: 'conflict' } as const;
const refusedWith = (digest: string) => ({ ...conflict, digest });
const { withDigest } = answer;
const one = { digest: 'one' };
const two = { digest: 'two' };

const creationCases: readonly StoreCase[] = [
  digestCase(
    'a creation that is sent again is answered with the digest that it was made with, whatever it has now',
    step.commit(change.create('c', { app: set('a', 1) }, one), answer.made(1)),
    step.commit(change.create('c', { app: set('a', 1) }, one), withDigest(answer.again(0, 1), 'one')),
    step.commit(change.create('c', { app: set('a', 2) }, two), withDigest(answer.again(0, 1), 'one')),
    step.commit(
      change.create('c', { app: set('a', 2) }, { ...two, attempt: 2 }),
      withDigest(answer.again(0, 1), 'one'),
    ),
    step.commit(change.create('c', { app: set('a', 1) }), withDigest(answer.again(0, 1), 'one')),
    step.commit(change.append('e1', { session: set('s', 1) }), answer.appended(1, 1)),
    step.commit(change.create('c', {}, two), withDigest(answer.again(1, 1), 'one')),
    step.appHas(1, { a: 1 }),
    step.load(
      answer.loaded({
        rev: 1,
        pos: { app: 1 },
        state: { app: { a: 1 }, session: { s: 1 } },
      }),
      { events: { last: 0 } },
    ),
  ),
  digestCase(
    'a creation has its digest after its session was removed, also when another is in its place',
    step.commit(change.create('c', {}, one), answer.made()),
    { remove: KEY },
    step.commit(change.create('c', {}, { ...two, attempt: 2 }), withDigest(answer.again(0), 'one')),
    step.commit(change.create('c'), withDigest(answer.again(0), 'one')),
    step.load(null),
    step.commit(change.create('d', {}, two), answer.made()),
    step.commit(change.create('c', {}, two), withDigest(answer.again(0), 'one')),
    step.commit(change.create('d', {}, one), withDigest(answer.again(0), 'two')),
    { remove: KEY, created: 'd' },
    step.commit(change.create('d', {}, one), withDigest(answer.again(0), 'two')),
    step.commit(change.create('c', {}, two), withDigest(answer.again(0), 'one')),
    step.load(null),
  ),
  digestCase(
    'a creation without a digest has none later',
    step.commit(change.create('c'), answer.made()),
    step.commit(change.create('c', {}, one), answer.again(0)),
    { remove: KEY },
    step.commit(change.create('c', {}, one), answer.again(0)),
    step.commit(change.create('d', {}, { digest: '' }), answer.made()),
    step.commit(change.create('d', {}, one), withDigest(answer.again(0), '')),
  ),
];

const updateCases: readonly StoreCase[] = [
  digestCase(
    'an update that is sent again is answered with the digest that it was made with, of an app and of a user',
    step.commit(change.appUpdate('u1', { app: set('a', 1) }, one), answer.made(1)),
    step.commit(change.update('u2', { user: set('b', 1) }, two), answer.made(1, 1)),
    step.commit(change.appUpdate('u1', { app: set('a', 2) }, two), withDigest(answer.updatedBefore(1), 'one')),
    step.commit(change.update('u2', { user: set('b', 2) }, one), withDigest(answer.updatedBefore(1, 1), 'two')),
    step.commit(change.update('u2', { user: set('b', 2) }), withDigest(answer.updatedBefore(1, 1), 'two')),
    step.commit(change.update('u3', { user: set('b', 3) }), answer.made(1, 2)),
    step.commit(change.update('u3', { user: set('b', 4) }, one), answer.updatedBefore(1, 2)),
    step.appHas(1, { a: 1 }),
    step.userHas(2, { b: 3 }),
  ),
  digestCase(
    'an update has its digest beside the results of its operators',
    step.commit(
      withOperators(change.update('u1', {}, one), { app: { n: increment(2) } }),
      withResults(answer.made(1), { app: { n: 2 } }),
    ),
    step.commit(
      withOperators(change.update('u1', {}, two), { app: { n: increment(3) } }),
      withDigest(withResults(answer.updatedBefore(1), { app: { n: 2 } }), 'one'),
    ),
    step.appHas(1, { n: 2 }),
  ),
  digestCase(
    'changes of one digest are different ones under different ids',
    step.commit(change.update('u1', { user: set('a', 1) }, one), answer.made(0, 1)),
    step.commit(change.update('u2', { user: set('a', 2) }, one), answer.made(0, 2)),
    step.commit(change.create('c1', {}, { key: keyOf('s1'), ...one }), answer.made(0, 2)),
    step.commit(change.create('c2', {}, { key: keyOf('s2'), ...one }), answer.made(0, 2)),
    step.userHas(2, { a: 2 }),
  ),
  digestCase(
    'a digest has up to 200 characters',
    step.commit(change.create('c', {}, { digest: letters(200) }), answer.made()),
    step.commit(change.create('c', {}, one), withDigest(answer.again(0), letters(200))),
    { remove: KEY },
    step.commit(change.create('c', {}, one), withDigest(answer.again(0), letters(200))),
    step.commit(change.update('u', { app: set('a', 1) }, { digest: letters(200) }), answer.made(1)),
    step.commit(change.update('u', { app: set('a', 1) }), withDigest(answer.updatedBefore(1), letters(200))),
    step.commit(
      change.update('late', {}, { digest: letters(200), guard: { keys: { app: set('a', 2) } }, attempt: 2 }),
      conflict,
    ),
    step.commit(change.update('late', {}), refusedWith(letters(200))),
  ),
];

/** An update that is refused, and leaves that behind. */
const late = (digest: string, attempt = 2) =>
  change.update('late', { app: set('a', 2) }, { digest, attempt, guard: { keys: { app: set('a', 5) } } });

const refusalCases: readonly StoreCase[] = [
  digestCase(
    'a call that was refused is refused from then on with the digest of its first refusal',
    step.commit(late('one'), conflict),
    step.commit(late('one', 3), refusedWith('one')),
    step.commit(late('two', 4), refusedWith('one')),
    step.commit(late('one', 5), refusedWith('one')),
    step.commit(change.update('late', { app: set('a', 2) }), refusedWith('one')),
    step.appHas(0, {}),
  ),
  digestCase(
    'so is a creation',
    step.commit(change.create('c', {}, one), answer.made()),
    step.commit(change.create('late', { app: set('a', 1) }, { ...two, attempt: 2 }), { throws: 'exists' }),
    step.commit(change.create('late', { app: set('a', 1) }, one), refusedWith('two')),
    { remove: KEY },
    step.commit(change.create('late', { app: set('a', 1) }, { ...one, attempt: 3 }), refusedWith('two')),
    step.load(null),
    step.appHas(0, {}),
  ),
  digestCase(
    'so is an append, whose event has none once it is written',
    step.commit(change.create(), answer.made()),
    step.commit(change.append('e1', {}, { ...one, guard: { rev: 5 }, attempt: 2 }), conflict),
    step.commit(change.append('e1', {}, { ...two, attempt: 3 }), refusedWith('one')),
    step.commit(change.append('e1', {}, two), refusedWith('one')),
    step.commit(change.append('e2', {}, one), answer.appended(1)),
    step.commit(change.append('e2', {}, { ...two, attempt: 2 }), answer.appendedBefore('e2', 1)),
    step.sessionHas({ rev: 1, events: eventsOf('e2') }),
  ),
  digestCase(
    'a refusal has no digest where the change had none',
    step.commit(change.append('e1', {}, { attempt: 2 }), { throws: 'not-found' }),
    step.commit(change.append('e1', {}, { attempt: 3 }), conflict),
    step.commit(
      change.update('late', { app: set('a', 2) }, { attempt: 2, guard: { keys: { app: set('a', 5) } } }),
      conflict,
    ),
    step.commit(late('one', 3), conflict),
    step.commit(late('one', 4), conflict),
  ),
  digestCase(
    'a refused first try leaves no digest behind',
    step.commit(
      change.update('u1', { app: set('a', 1) }, { ...one, guard: { keys: { app: set('a', 5) } } }),
      conflict,
    ),
    step.commit(change.update('u1', { app: set('a', 1) }, two), answer.made(1)),
    step.commit(change.update('u1', { app: set('a', 1) }, one), withDigest(answer.updatedBefore(1), 'two')),
  ),
  digestCase(
    'another call under the same id has the digest of its own',
    step.commit({ ...late('one'), call: 'call 1' }, conflict),
    step.commit(change.update('late', { app: set('a', 1) }, { ...two, call: 'call 2' }), answer.made(1)),
    step.commit({ ...late('one', 3), call: 'call 1' }, withDigest(answer.updatedBefore(1), 'two')),
  ),
];

/** Sends everything of {@link written} again with another digest, and one of all kinds of answers comes. */
const repeated: readonly StoreStep[] = [
  step.commit(change.create('c', {}, { key: keyOf('live'), ...two }), withDigest(answer.again(0, 1), 'one')),
  step.commit(change.create('d', {}, { key: keyOf('gone'), ...two }), withDigest(answer.again(0, 1), 'one')),
  step.commit(change.appUpdate('u', { app: set('a', 2) }, two), withDigest(answer.updatedBefore(1), 'one')),
  step.commit(late('two', 3), refusedWith('one')),
];
const written: readonly StoreStep[] = [
  step.commit(change.appUpdate('u', { app: set('a', 1) }, one), answer.made(1)),
  step.commit(change.create('c', {}, { key: keyOf('live'), ...one }), answer.made(1)),
  step.commit(change.create('d', {}, { key: keyOf('gone'), ...one }), answer.made(1)),
  { remove: keyOf('gone') },
  step.commit(late('one'), conflict),
];

const keptCases: readonly StoreCase[] = [
  digestCase(
    'digests are kept when the storage is opened again',
    ...written,
    { reopen: 'check' },
    ...repeated,
    { reopen: 'check' },
    ...repeated,
    step.appHas(1, { a: 1 }),
  ),
  digestCase(
    'digests are known to all stores on the storage',
    ...written,
    ...repeated.map((each) => ({ ...each, by: 'another' as const })),
    step.appHas(1, { a: 1 }),
  ),
  digestCase(
    'changes that go together have a digest each',
    ...written,
    {
      commitMany: [
        change.create('c1', {}, { key: keyOf('s1'), digest: 'first' }),
        change.create('c2', {}, { key: keyOf('s2') }),
        change.update('u1', { user: set('b', 1) }, { digest: 'third' }),
        { ...late('one'), id: 'later' },
      ],
      outcomes: [answer.made(1), answer.made(1), answer.made(1, 1), conflict],
    },
    {
      commitMany: [
        change.create('c1', {}, { key: keyOf('s1'), ...two }),
        change.create('c2', {}, { key: keyOf('s2'), ...two }),
        change.update('u1', { user: set('b', 2) }, two),
        { ...late('two', 3), id: 'later' },
        change.create('c', {}, { key: keyOf('live'), ...two }),
        change.create('d', {}, { key: keyOf('gone'), ...two }),
        change.appUpdate('u', { app: set('a', 2) }, two),
        late('two', 3),
        change.create('new', {}, { key: keyOf('s3'), ...two }),
      ],
      outcomes: [
        withDigest(answer.again(0, 1, 1), 'first'),
        answer.again(0, 1, 1),
        withDigest(answer.updatedBefore(1, 1), 'third'),
        refusedWith('one'),
        withDigest(answer.again(0, 1, 1), 'one'),
        withDigest(answer.again(0, 1, 1), 'one'),
        withDigest(answer.updatedBefore(1), 'one'),
        refusedWith('one'),
        answer.made(1, 1),
      ],
    },
    {
      commitMany: times(60, (index) => change.update(`n${index}`, { user: set('n', index) }, { digest: `n${index}` })),
      outcomes: times(60, (index) => answer.made(1, index + 2)),
    },
    {
      commitMany: times(60, (index) => change.update(`n${index}`, { user: set('n', 0) }, one)),
      outcomes: times(60, (index) => withDigest(answer.updatedBefore(1, 61), `n${index}`)),
    },
    step.appHas(1, { a: 1 }),
  ),
];

export const digestCases: readonly StoreCase[] = [...creationCases, ...updateCases, ...refusalCases, ...keptCases];
