// The order in which a change is looked at: a case for each two reasons that keep it from being written, can hold at
// once, and are answered otherwise. The first one in the order is the answer.

import { answer, change, increment, keyOf, set, step, storeCase, inAll } from '../build/index.js';
import { STORED_SCOPES, type StoredScope } from '../../model/scope.js';
import type { Change, Delta, Guard, StoreFeature } from '../../store/contract.js';
import type { Outcome, StoreCase, StoreStep } from '../case.js';

/** A reason not to write a change. */
interface Reason {
  /** Its part of the name of a case. */
  readonly title: string;
  /** Makes the reason hold for a change. */
  readonly shape?: (base: Change) => Change;
  /** Steps before the creation of the session of an append, and after it. */
  readonly first?: (base: Change) => readonly StoreStep[];
  readonly then?: (base: Change) => readonly StoreStep[];
  /** The answer of the store. */
  readonly outcome: (base: Change) => Outcome;
  readonly needs?: StoreFeature;
  /** Reasons that cannot hold at the same time. */
  readonly excludes?: readonly Reason[];
}

const refusal =
  (outcome: Outcome): Reason['outcome'] =>
  () =>
    outcome;
const withGuard =
  (guard: Guard) =>
  (base: Change): Change => ({ ...base, guard: { ...base.guard, ...guard } });
const otherCall = (base: Change): Change => ({ ...base, call: `another call of ${base.id}` });
const removal = ({ key }: Change): StoreStep => ({ remove: keyOf(key.sessionId ?? '') });

// Every session is at revision 0 and token 0, the app at position 1, with a text under `a`.
const wrongToken: Reason = {
  title: 'another token',
  shape: withGuard({ fence: 7 }),
  outcome: refusal({ throws: 'fenced', actual: 0 }),
};
const wrongRevision: Reason = {
  title: 'another revision',
  shape: withGuard({ rev: 7 }),
  outcome: refusal({ throws: 'conflict', actual: 0 }),
};
const wrongPosition: Reason = {
  title: 'another position',
  shape: withGuard({ pos: { app: 7 } }),
  outcome: refusal({ throws: 'conflict' }),
};
const wrongValue: Reason = {
  title: 'another value',
  shape: withGuard({ keys: { app: set('a', 7) } }),
  outcome: refusal({ throws: 'conflict' }),
};
const misfit: Reason = {
  title: 'an operator that does not fit',
  shape: (base) => ({ ...base, operators: { app: { a: increment(1) } } }),
  outcome: refusal({ throws: 'rejected', key: 'a', scope: 'app' }),
};
const noSession: Reason = {
  title: 'a session that is not there',
  shape: (base) => ({ ...base, key: { ...base.key, sessionId: 'absent' } }),
  outcome: refusal({ throws: 'not-found' }),
};
const otherSession: Reason = {
  title: 'another session than it names',
  shape: withGuard({ created: 'other' }),
  outcome: refusal({ throws: 'not-found' }),
};
const existingSession: Reason = {
  title: 'a session that is there',
  then: (base) => [step.commit(otherCall({ ...base, id: `other-${base.id}` }), answer.made(1))],
  outcome: refusal({ throws: 'exists' }),
};
const earlierRefusal: Reason = {
  title: 'an earlier refusal of its call',
  shape: (base) => ({ ...base, attempt: 3 }),
  first: (base) => [
    base.kind === 'append'
      ? step.commit({ ...base, attempt: 2 }, { throws: 'not-found' })
      : step.commit(withGuard({ keys: { app: set('a', 7) } })({ ...base, attempt: 2 }), { throws: 'conflict' }),
  ],
  outcome: refusal({ throws: 'conflict' }),
  needs: 'calls',
};
const sameEvent: Reason = {
  title: 'the same event written before',
  then: (base) => [step.commit(otherCall(base), answer.appended(1, 1))],
  outcome: ({ id }) => answer.appendedBefore(id, 1, 1),
  excludes: [noSession, otherSession],
};
const sameUpdate: Reason = {
  title: 'the same one made before',
  then: (base) => [step.commit(otherCall(base), answer.made(1))],
  outcome: () => answer.updatedBefore(1),
};
const ownSession: Reason = {
  title: 'the session that it made',
  then: (base) => [step.commit(otherCall(base), answer.made(1))],
  outcome: () => answer.again(0, 1),
  excludes: [existingSession],
};
const ownRemovedSession: Reason = {
  title: 'the removed session that it made',
  then: (base) => [step.commit(otherCall(base), answer.made(1)), removal(base)],
  outcome: () => answer.again(0, 1),
  needs: 'creations',
};

/** A kind of change with its order of reasons. Of those in one list only one can hold, or all have one answer. */
interface Kind {
  readonly title: string;
  readonly plural: string;
  readonly base: (place: number) => Change;
  readonly order: readonly (readonly Reason[])[];
}

const withCall = (base: Change): Change => ({ ...base, call: `the call of ${base.id}` });
const key = (place: number) => ({ key: keyOf(`s${place}`) });
const guards = [[wrongToken], [wrongRevision], [wrongPosition, wrongValue], [misfit]];

const KINDS: readonly Kind[] = [
  {
    title: 'an append',
    plural: 'appends',
    base: (place) => withCall(change.append(`e${place}`, { session: set('n', 1) }, key(place))),
    order: [[sameEvent], [earlierRefusal], [noSession, otherSession], ...guards],
  },
  {
    title: 'a creation',
    plural: 'creations',
    base: (place) => withCall(change.create(`c${place}`, { session: set('n', 1) }, key(place))),
    order: [[ownSession, ownRemovedSession], [earlierRefusal], [existingSession], ...guards],
  },
  {
    title: 'an update',
    plural: 'updates',
    base: (place) => withCall(change.update(`u${place}`, { user: {} })),
    order: [[sameUpdate], [earlierRefusal], [wrongPosition, wrongValue], [misfit]],
  },
];

/** Two reasons of a kind, the first of which counts. */
type Pair = readonly [winner: Reason, loser: Reason];

function pairsOf({ order }: Kind): Pair[] {
  const pairs = order.flatMap((winners, index) =>
    winners.flatMap((winner) =>
      order
        .slice(index + 1)
        .flat()
        .map((loser): Pair => [winner, loser]),
    ),
  );
  return pairs.filter(([winner, loser]) => winner.excludes?.includes(loser) !== true && !areAlike(winner, loser));
}

/** An earlier refusal and a guard that does not hold are the same answer. */
function areAlike(winner: Reason, loser: Reason): boolean {
  return winner === earlierRefusal && [wrongRevision, wrongPosition, wrongValue].includes(loser);
}

const begin = step.commit(change.create('begin', { app: set('a', 'text') }, { key: keyOf('begin') }), answer.made(1));

/** The steps before the change, and the change. `place` tells it from others of its case. */
function prepare({ base: baseAt }: Kind, pair: Pair, place: number): readonly [readonly StoreStep[], Change] {
  const base = baseAt(place);
  const session =
    base.kind === 'append' ? [step.commit(change.create(`c${place}`, {}, key(place)), answer.made(1))] : [];
  const steps = [
    ...pair.flatMap(({ first }) => first?.(base) ?? []),
    ...session,
    ...pair.flatMap(({ then }) => then?.(base) ?? []),
  ];
  return [steps, pair.reduce((made, reason) => reason.shape?.(made) ?? made, base)];
}

function pairCase(kind: Kind, pair: Pair): StoreCase {
  const [winner, loser] = pair;
  const [steps, made] = prepare(kind, pair, 0);
  const name = `of ${kind.title}, ${winner.title} counts before ${loser.title}`;
  return withNeeds([pair], storeCase(name, begin, ...steps, step.commit(made, winner.outcome(made))));
}

/** The same of many at once. */
function batchCase(kind: Kind, pairs: readonly Pair[], which: string): StoreCase {
  const all = pairs.map((pair, place) => prepare(kind, pair, place));
  const name = `of ${kind.plural} that go together, each is answered by what counts first${which}`;
  const many: StoreStep = {
    commitMany: all.map(([, made]) => made),
    outcomes: all.map(([, made], place) => (pairs[place] as Pair)[0].outcome(made)),
  };
  return withNeeds(pairs, storeCase(name, begin, ...all.flatMap(([steps]) => steps), many));
}

function withNeeds(pairs: readonly Pair[], { name, needs, steps }: StoreCase): StoreCase {
  const features = pairs.flat().flatMap((reason) => reason.needs ?? []);
  return { name, needs: [...new Set([...features, ...needs])], steps };
}

const texts: Delta = { set: { a: 'text', b: 'text' } };
const misfits = { b: increment(1), a: increment(1) };
const misfitIn = (scope: StoredScope): Outcome => ({ throws: 'rejected', key: 'b', scope });

const operatorCase = storeCase(
  'of operators that do not fit the first counts: of the app, of the user, of the session, as they are written',
  step.commit(change.create('c', inAll(texts)), answer.made(1, 1)),
  ...STORED_SCOPES.map((scope, index) => {
    const scopes = STORED_SCOPES.slice(index).reverse();
    const operators = Object.fromEntries(scopes.map((each) => [each, misfits]));
    return step.commit({ ...change.append('e'), operators }, misfitIn(scope));
  }),
);

const pairCases = KINDS.flatMap((kind) => {
  const pairs = pairsOf(kind);
  const hasOperator = ([, loser]: Pair): boolean => loser === misfit;
  return [
    ...pairs.map((pair) => pairCase(kind, pair)),
    batchCase(
      kind,
      pairs.filter((pair) => !hasOperator(pair)),
      '',
    ),
    batchCase(kind, pairs.filter(hasOperator), ', operators last'),
  ];
});

export const orderCases: readonly StoreCase[] = [...pairCases, operatorCase];
