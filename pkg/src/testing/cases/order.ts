// The order in which a change is looked at: a case for each two reasons that keep it from being written, can hold at
// once, and are answered otherwise. The first one in the order is the answer.

import { answer, change, increment, keyOf, set, step, storeCase } from '../build/index.js';
import { STORED_SCOPES, type StoredScope } from '../../model/scope.js';
import type { Change, Delta, Guard, StoreFeature } from '../../store/contract.js';
import type { Outcome, StoreCase, StoreStep } from '../case.js';

/** A reason not to write a change. */
interface Reason {
  /** What the names of cases call it. */
  readonly title: string;
  /** The change with what makes the reason hold. */
  readonly in?: (plain: Change) => Change;
  /** What is done before the session of an append is there, and after. */
  readonly first?: (plain: Change) => readonly StoreStep[];
  readonly then?: (plain: Change) => readonly StoreStep[];
  /** What the change comes to. */
  readonly outcome: (plain: Change) => Outcome;
  readonly needs?: StoreFeature;
  /** Those that cannot hold as well. */
  readonly excludes?: readonly Reason[];
}

const refusedWith =
  (outcome: Outcome): Reason['outcome'] =>
  () =>
    outcome;
const guardedBy =
  (guard: Guard) =>
  (plain: Change): Change => ({ ...plain, guard: { ...plain.guard, ...guard } });
const otherCall = (plain: Change): Change => ({ ...plain, call: `another call of ${plain.id}` });
const removal = ({ key }: Change): StoreStep => ({ remove: keyOf(key.sessionId ?? '') });

// Every session is at revision 0 and token 0, the app at position 1, with a text under `a`.
const fence: Reason = {
  title: 'another token',
  in: guardedBy({ fence: 7 }),
  outcome: refusedWith({ throws: 'fenced', actual: 0 }),
};
const revision: Reason = {
  title: 'another revision',
  in: guardedBy({ rev: 7 }),
  outcome: refusedWith({ throws: 'conflict', actual: 0 }),
};
const position: Reason = {
  title: 'another position',
  in: guardedBy({ pos: { app: 7 } }),
  outcome: refusedWith({ throws: 'conflict' }),
};
const value: Reason = {
  title: 'another value',
  in: guardedBy({ keys: { app: set('a', 7) } }),
  outcome: refusedWith({ throws: 'conflict' }),
};
const misfit: Reason = {
  title: 'an operator that does not fit',
  in: (plain) => ({ ...plain, operators: { app: { a: increment(1) } } }),
  outcome: refusedWith({ throws: 'rejected', key: 'a', scope: 'app' }),
};
const absent: Reason = {
  title: 'a session that is not there',
  in: (plain) => ({ ...plain, key: { ...plain.key, sessionId: 'absent' } }),
  outcome: refusedWith({ throws: 'not-found' }),
};
const other: Reason = {
  title: 'another session than it names',
  in: guardedBy({ created: 'other' }),
  outcome: refusedWith({ throws: 'not-found' }),
};
const exists: Reason = {
  title: 'a session that is there',
  then: (plain) => [step.commit(otherCall({ ...plain, id: `other-${plain.id}` }), answer.made(1))],
  outcome: refusedWith({ throws: 'exists' }),
};
const refused: Reason = {
  title: 'an earlier refusal of its call',
  in: (plain) => ({ ...plain, attempt: 3 }),
  first: (plain) => [
    plain.kind === 'append'
      ? step.commit({ ...plain, attempt: 2 }, { throws: 'not-found' })
      : step.commit(guardedBy({ keys: { app: set('a', 7) } })({ ...plain, attempt: 2 }), { throws: 'conflict' }),
  ],
  outcome: refusedWith({ throws: 'conflict' }),
  needs: 'calls',
};
const appended: Reason = {
  title: 'the same event written before',
  then: (plain) => [step.commit(otherCall(plain), answer.appended(1, 1))],
  outcome: ({ id }) => answer.appendedBefore(id, 1, 1),
  excludes: [absent, other],
};
const updated: Reason = {
  title: 'the same one made before',
  then: (plain) => [step.commit(otherCall(plain), answer.made(1))],
  outcome: () => answer.updatedBefore(1),
};
const created: Reason = {
  title: 'the session that it made',
  then: (plain) => [step.commit(otherCall(plain), answer.made(1))],
  outcome: () => answer.again(0, 1),
  excludes: [exists],
};
const removed: Reason = {
  title: 'the removed session that it made',
  then: (plain) => [step.commit(otherCall(plain), answer.made(1)), removal(plain)],
  outcome: () => answer.again(0, 1),
  needs: 'creations',
};

/** A kind of change, and the order of what is looked at. Of those in one list only one can hold, or be told. */
interface Kind {
  readonly title: string;
  readonly plural: string;
  readonly plain: (place: number) => Change;
  readonly order: readonly (readonly Reason[])[];
}

const callOf = (plain: Change): Change => ({ ...plain, call: `the call of ${plain.id}` });
const key = (place: number) => ({ key: keyOf(`s${place}`) });
const guards = [[fence], [revision], [position, value], [misfit]];

const KINDS: readonly Kind[] = [
  {
    title: 'an append',
    plural: 'appends',
    plain: (place) => callOf(change.append(`e${place}`, { session: set('n', 1) }, key(place))),
    order: [[appended], [refused], [absent, other], ...guards],
  },
  {
    title: 'a creation',
    plural: 'creations',
    plain: (place) => callOf(change.create(`c${place}`, { session: set('n', 1) }, key(place))),
    order: [[created, removed], [refused], [exists], ...guards],
  },
  {
    title: 'an update',
    plural: 'updates',
    plain: (place) => callOf(change.update(`u${place}`, { user: {} })),
    order: [[updated], [refused], [position, value], [misfit]],
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
  return winner === refused && [revision, position, value].includes(loser);
}

const begin = step.commit(change.create('begin', { app: set('a', 'text') }, { key: keyOf('begin') }), answer.made(1));

/** What is done before the change, and the change. `place` tells it from others of its case. */
function prepared({ plain: plainAt }: Kind, pair: Pair, place: number): readonly [readonly StoreStep[], Change] {
  const plain = plainAt(place);
  const session =
    plain.kind === 'append' ? [step.commit(change.create(`c${place}`, {}, key(place)), answer.made(1))] : [];
  const steps = [
    ...pair.flatMap(({ first }) => first?.(plain) ?? []),
    ...session,
    ...pair.flatMap(({ then }) => then?.(plain) ?? []),
  ];
  return [steps, pair.reduce((made, reason) => reason.in?.(made) ?? made, plain)];
}

function caseOf(kind: Kind, pair: Pair): StoreCase {
  const [winner, loser] = pair;
  const [steps, made] = prepared(kind, pair, 0);
  const name = `of ${kind.title}, ${winner.title} counts before ${loser.title}`;
  return withNeeds([pair], storeCase(name, begin, ...steps, step.commit(made, winner.outcome(made))));
}

/** The same of many at once. */
function togetherOf(kind: Kind, pairs: readonly Pair[], which: string): StoreCase {
  const all = pairs.map((pair, place) => prepared(kind, pair, place));
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
  step.commit(change.create('c', { app: texts, user: texts, session: texts }), answer.made(1, 1)),
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
    ...pairs.map((pair) => caseOf(kind, pair)),
    togetherOf(
      kind,
      pairs.filter((pair) => !hasOperator(pair)),
      '',
    ),
    togetherOf(kind, pairs.filter(hasOperator), ', operators last'),
  ];
});

export const orderCases: readonly StoreCase[] = [...pairCases, operatorCase];
