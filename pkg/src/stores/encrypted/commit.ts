// Writes encrypted changes through the inner store. A change is tried again when it was refused only because of a
// guard that the wrapper had added.

import { defined } from '../../model/defined.js';
import { conflictPause } from '../../async/conflict-pause.js';
import { isRememberedRefusal, refusedBefore } from '../../store/refusals.js';
import { isStoreError, StoreError } from '../../store/store-error.js';
import { STORED_SCOPES, type StoredScope } from '../../model/scope.js';
import { outcomeLater, type Outcome } from '../shared/outcome.js';
import { homeOf, isGuardedByValues, NEVER, type Attempt, type Attempts, type Place } from './attempt.js';
import { openChanged } from './read.js';
import { stampOf } from './stamp.js';
import type { Records } from './records.js';
import type { Change, Committed, Delta, SessionStore, StoreContext } from '../../store/contract.js';
import type { SessionKey } from '../../model/types.js';

/** A change that can be sent. */
interface Prepared {
  readonly attempt: Attempt;
  readonly sealed: Change;
}

/** The most attempts at a change before the wrapper gives up. */
const MOST_ATTEMPTS = 1_000;
/** The most attempts when values are guarded: a caller that guards values expects conflicts. */
const MOST_GUARDED_ATTEMPTS = 100;
/**
 * The most attempts when there is no such session: a conflict says that it was created meanwhile, or that the call was
 * refused before, which no further attempt changes.
 */
const MOST_ABSENT_ATTEMPTS = 3;

/** Writes changes through an inner store. */
export class Commits {
  readonly #inner: SessionStore;
  readonly #records: Records;
  readonly #attempts: Attempts;

  constructor(inner: SessionStore, records: Records, attempts: Attempts) {
    this.#inner = inner;
    this.#records = records;
    this.#attempts = attempts;
  }

  /** See `SessionStore.commit`. */
  async commit(change: Change, context: StoreContext): Promise<Committed> {
    return this.#try(1, change, context);
  }

  /**
   * See `SessionStore.commitMany`. A change guarded by values rests on the writes of those before it, so it goes
   * alone, in its turn. A change whose revision was guessed wrong is written again after the others.
   */
  async commitMany(changes: readonly Change[], context: StoreContext): Promise<readonly Outcome[]> {
    const answers: Outcome[] = [];
    for (const run of runsOf(changes)) {
      try {
        answers.push(...(await this.#commitRun(run, context)));
      } catch (error) {
        // The error holds for this run and those behind it, which were not sent; the runs before it are answered.
        if (!isStoreError(error) || answers.length === 0) {
          throw error;
        }
        return changes.map((_, index) => answers[index] ?? error);
      }
    }
    return answers;
  }

  async #commitRun(run: readonly Change[], context: StoreContext): Promise<Outcome[]> {
    const [first] = run;
    if (first !== undefined && isGuardedByValues(first)) {
      return [await outcomeLater(this.commit(first, context))];
    }
    const prepared = await Promise.all(run.map((change) => outcomeLater(this.#prepare(change, context))));
    const changes = prepared.flatMap((one) => (isStoreError(one) ? [] : [one.sealed]));
    const came = changes.length === 0 ? [] : ((await this.#inner.commitMany?.(changes, context)) ?? []);
    const answers: Outcome[] = [];
    let next = 0;
    for (const [index, change] of run.entries()) {
      const one = prepared[index] as Prepared | StoreError;
      if (isStoreError(one)) {
        answers.push(one);
      } else {
        const answer = came[next++] as Outcome;
        answers.push(await outcomeLater(this.#finish(1, change, one.attempt, answer, context)));
      }
    }
    return answers;
  }

  async #try(count: number, change: Change, context: StoreContext): Promise<Committed> {
    const { attempt, sealed } = await this.#prepare(change, context);
    return this.#finish(count, change, attempt, await outcomeLater(this.#inner.commit(sealed, context)), context);
  }

  /** Turns the answer of the inner store into the caller's; or tries the change again. */
  async #finish(
    count: number,
    change: Change,
    attempt: Attempt,
    answer: Outcome,
    context: StoreContext,
  ): Promise<Committed> {
    if (!isStoreError(answer)) {
      // A duplicate in a session that was created since: its creation has to be read before the event can be opened.
      if (attempt.isAbsent !== true) {
        return this.#committed(change, attempt, answer);
      }
    } else if (!this.#canTryAgain(count, change, attempt, answer)) {
      // All stores report a wrong revision before other conflicts.
      const isConflict = answer.code === 'conflict' && answer.actual === undefined && answer.digest === undefined;
      return await this.#refuse(change, attempt, (isConflict ? attempt.refusal : undefined) ?? answer, context);
    }
    const isGuarded = isGuardedByValues(change);
    if (context.signal.aborted || count >= (isGuarded ? MOST_GUARDED_ATTEMPTS : MOST_ATTEMPTS)) {
      const message = `others wrote during each of ${count} attempts`;
      if (isGuarded) {
        return await this.#refuse(change, attempt, new StoreError('conflict', message), context);
      }
      throw new StoreError('unavailable', message);
    }
    // Not at first: the refusal told the revision.
    if (count > 1) {
      await conflictPause(count);
    }
    return this.#try(count + 1, change, context);
  }

  /**
   * Refuses a change for good. The change sent to the inner store carries no `attempt`, as it is refused for things
   * that the wrapper has added and then tries again; so a refusal that has to be remembered is asked for here, by a
   * guard that never holds. When an earlier try has come through meanwhile, the inner store knows the change: that is
   * the answer then.
   */
  async #refuse(change: Change, attempt: Attempt, refusal: StoreError, context: StoreContext): Promise<Committed> {
    if (isRememberedRefusal(change, refusal)) {
      const { sealed } = await this.#seal(change, { ...attempt, guard: { ...attempt.guard, pos: NEVER } });
      const answer = await outcomeLater(this.#inner.commit(sealed, context));
      if (!isStoreError(answer)) {
        return await this.#committed(change, attempt, answer);
      }
    }
    throw refusal.digest === undefined ? refusal : await this.#refusedBefore(change, refusal.digest);
  }

  async #refusedBefore(change: Change, sealed: string): Promise<StoreError> {
    return refusedBefore(change, await this.#records.openDigest(sealed, change));
  }

  /** True if all that failed is what the wrapper had added. Takes note of the details of the refusal. */
  #canTryAgain(
    count: number,
    { kind, key, guard = {} }: Change,
    attempt: Attempt,
    { code, actual, digest }: StoreError,
  ): boolean {
    const isAbsent = attempt.isAbsent === true;
    if (digest !== undefined) {
      // An earlier attempt of the call was refused.
      return false;
    }
    if (kind === 'append' && code === 'not-found') {
      this.#attempts.saw(key as SessionKey, undefined);
      return guard.created === undefined && !isAbsent;
    }
    if (code !== 'conflict') {
      return false;
    }
    if (isAbsent) {
      return count < MOST_ABSENT_ATTEMPTS;
    }
    const { rev } = attempt.guard;
    if (actual === undefined || rev === undefined || actual === rev) {
      return attempt.hasLooked === true && attempt.refusal === undefined;
    }
    if (kind === 'append') {
      this.#attempts.saw(key as SessionKey, { created: attempt.place.created, rev: actual });
    }
    return guard.rev === undefined;
  }

  async #committed(
    change: Change,
    attempt: Attempt,
    { changed: sealed, digest: sealedDigest, ...inner }: Committed,
  ): Promise<Committed> {
    const { kind, key, id } = change;
    const { created } = attempt.place;
    const changed = sealed && (await openChanged(this.#records, sealed, key));
    const digest = sealedDigest === undefined ? undefined : await this.#records.openDigest(sealedDigest, change);
    const committed = { ...inner, ...defined({ changed, digest }) };
    if (kind === 'update') {
      return committed;
    }
    this.#attempts.saw(key as SessionKey, { created, rev: committed.rev });
    if (committed.data === undefined) {
      return committed;
    }
    this.#records.checkResults(committed.data, committed.results);
    const { data } = await this.#records.openEvent(committed.data, { id }, key as SessionKey, created);
    return { ...committed, data: data ?? '' };
  }

  async #prepare(change: Change, context: StoreContext): Promise<Prepared> {
    return await this.#seal(asFirstTry(change), await this.#attempts.next(change, context));
  }

  /** Encrypts a change for the place that it is bound to. */
  async #seal(change: Change, attempt: Attempt): Promise<Prepared> {
    const { delta, key } = change;
    const { rev: before, created } = attempt.place;
    const place = { created, rev: change.kind === 'create' ? 0 : before + 1 };
    const seal = async (scope: StoredScope): Promise<readonly [StoredScope, Delta] | undefined> => {
      const [home, part] = [homeOf(scope, key, created), delta[scope]];
      const pos = scope === 'session' ? undefined : attempt.guard.pos?.[scope];
      return home && part && [scope, await this.#records.sealDelta(part, home, stampOf(change, place, pos))];
    };
    const [parts, event, digest] = await Promise.all([
      Promise.all(STORED_SCOPES.map(seal)),
      this.#sealEvent(change, place),
      change.digest === undefined ? undefined : this.#records.sealDigest(change.digest, change),
    ]);
    const sealed: Change = {
      ...change,
      delta: Object.fromEntries(parts.filter((part) => part !== undefined)),
      guard: attempt.guard,
      ...defined({ event, digest }),
    };
    return { attempt, sealed };
  }

  /**
   * Encrypts the event of a change. A creation without one gets one that says so: each session has a beginning, so
   * that one that was removed is missed.
   */
  async #sealEvent({ event, kind, key, id, time }: Change, { created, rev }: Place): Promise<Change['event']> {
    const session = key as SessionKey;
    if (event !== undefined) {
      return { ...event, data: await this.#records.sealEvent(event, rev, session, created) };
    }
    return kind === 'create'
      ? { id, time, data: await this.#records.sealNoBeginning(id, session, created) }
      : undefined;
  }
}

/** A change whose refusal is not remembered. */
function asFirstTry(change: Change): Change {
  const first: { -readonly [Member in keyof Change]: Change[Member] } = { ...change };
  delete first.attempt;
  return first;
}

/** Changes that can go together. */
function runsOf(changes: readonly Change[]): Change[][] {
  const runs: Change[][] = [];
  let open: Change[] | undefined;
  for (const change of changes) {
    const isAlone = isGuardedByValues(change);
    if (isAlone || open === undefined) {
      open = [];
      runs.push(open);
    }
    open.push(change);
    open = isAlone ? undefined : open;
  }
  return runs;
}
