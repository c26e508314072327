// Runs one case over one store. Independent of test runners, hosts and stores.

import { defined } from '../model/defined.js';
import { isStoreError, type StoreError } from '../store/store-error.js';
import {
  comparable,
  difference,
  differenceInAnyOrder,
  differs,
  loadedDifference,
  logDifference,
  pageDifference,
  scopeDifference,
} from './compare.js';
import { Ends } from './ends.js';
import { missingNeeds } from './needs.js';
import { normalizerFor, type Normalizer } from './normalize.js';
import type {
  Change,
  Hint,
  LeaseAnswer,
  LeaseRow,
  Migrate,
  NamePage,
  SessionStore,
  StoreContext,
} from '../store/contract.js';
import type {
  ClaimStep,
  CommitStep,
  HintedStep,
  LeaseStep,
  ReadLeaseStep,
  ListAppsStep,
  LoadedAnswer,
  LoadScopeStep,
  OneStoreStep,
  OpenHarness,
  Outcome,
  Refused,
  RemoveStep,
  StoreCase,
  StoreHarness,
  StoreStep,
  SweepStep,
} from './case.js';

/** The answer of a commit, or of a lease. */
type Answer = Outcome | LeaseAnswer | { readonly fence: number };

/** The time to wait for a hint, and between repetitions of the change, in milliseconds. */
const HINT_TIMEOUT_MS = 10_000;
const POLL_MS = 100;

/**
 * Runs a case: opens fresh storage, opens the store (`migrate: 'create'`), makes the steps, closes every store and
 * disposes of the storage, even after a failure.
 *
 * Throws an `Error` that names the case, the step and the difference. Also throws when the case has needs that are
 * not met; {@link missingNeeds} lists them beforehand.
 */
export async function runStoreCase({ name, needs, steps }: StoreCase, open: OpenHarness): Promise<void> {
  const harness = await open();
  const run = new Run(harness);
  const failures: unknown[] = [];
  const attempt = async (what: string, action: () => Promise<void>): Promise<void> => {
    await action().catch((error: unknown) => {
      const message = error instanceof Error ? error.message : String(error);
      failures.push(new Error(`store case "${name}": ${what}: ${message}`, { cause: error }));
    });
  };
  const missing = missingNeeds({ needs }, harness);
  await attempt('needs', async () => fail(missing.length > 0 && `there is no ${missing.join(' and no ')}`));
  await attempt('open', () => run.start('create'));
  for (const [index, step] of steps.entries()) {
    if (failures.length === 0) {
      await attempt(`step ${index + 1} (${Object.keys(step)[0] ?? ''})`, () => run.step(step));
    }
  }
  await attempt('close', () => run.end());
  await attempt('dispose', async () => harness.dispose?.());
  if (failures.length > 0) {
    throw failures[0];
  }
}

/** One run: the stores of one storage. */
class Run {
  readonly #harness: StoreHarness;
  readonly #context: StoreContext = { signal: new AbortController().signal };
  readonly #normalizer: Normalizer;
  #store: SessionStore;
  #another: Promise<SessionStore> | undefined;
  #stop: (() => void) | undefined;
  #hints: Hint[] = [];
  #onHint: (() => void) | undefined;
  #isHintedTooLate = false;
  /** The time when the lease of the last answer ends. */
  #until = -Infinity;
  readonly #ends = new Ends();

  constructor(harness: StoreHarness) {
    this.#harness = harness;
    this.#store = harness.store;
    this.#normalizer = normalizerFor(harness.store);
  }

  async start(migrate: Migrate): Promise<void> {
    await this.#store.open?.({ migrate }, this.#context);
  }

  async end(): Promise<void> {
    this.#stop?.();
    const another = await this.#another;
    if (another !== this.#store) {
      await another?.close?.();
    }
    await this.#store.close?.();
    fail(this.#isHintedTooLate && 'a hint came after watching had ended');
  }

  async step(step: StoreStep): Promise<void> {
    if ('parallel' in step) {
      const open: Promise<Answer>[] = [];
      const others: Promise<void>[] = [];
      for (const each of step.parallel) {
        if ('commit' in each && each.outcome === undefined) {
          open.push(this.#commit(each));
        } else if (('lease' in each || 'claim' in each) && each.answer === undefined) {
          open.push(this.#lease(each).then(withoutUntil));
        } else {
          others.push(this.step(each));
        }
      }
      const [outcomes] = await Promise.all([Promise.all(open), Promise.all(others)]);
      fail(
        differenceInAnyOrder(
          outcomes.map((outcome) => comparable(this.#normalOutcome(outcome), {})),
          (step.outcomes ?? []).map((outcome) => this.#normalOutcome(outcome)),
        ),
      );
    } else if ('reopen' in step) {
      await this.#reopen(step.reopen);
    } else if ('hinted' in step) {
      await this.#hinted(step);
    } else if ('wait' in step) {
      await new Promise((resolve) => setTimeout(resolve, step.wait));
    } else {
      await this.#single(step, 'by' in step ? await this.#other() : this.#store);
    }
  }

  async #single(step: OneStoreStep, store: SessionStore): Promise<void> {
    const context = this.#context;
    if ('commit' in step) {
      const outcome = await this.#commit(step);
      const expected = step.outcome;
      if (expected === undefined) {
        fail('throws' in outcome && `it throws ${outcome.throws}`);
      } else {
        fail(this.#outcomeDifference(outcome, expected));
      }
    } else if ('commitMany' in step) {
      const begun = this.#ends.now();
      const answers = await store.commitMany?.(step.commitMany, context);
      answers?.forEach((answer) => this.#ends.wasSet(answer, begun));
      const outcomes = answers?.map((answer) => (isStoreError(answer) ? refused(answer) : answer)) ?? [];
      fail(difference(outcomes.length, step.outcomes.length, 'the number of answers'));
      step.outcomes.forEach((expected, index) =>
        fail(this.#outcomeDifference(outcomes[index], expected, `answer ${index}`)),
      );
    } else if ('load' in step) {
      const { loaded } = this.#normalizer;
      const answer = loaded(await store.load(step.load, step.query ?? {}, context));
      fail(
        anyDifference([step.answer, ...(step.or ?? [])], (expected) =>
          loadedDifference(answer, this.#ended(answer, loaded(expected)), step.namesInAnyOrder),
        ),
      );
    } else if ('list' in step) {
      const { page } = this.#normalizer;
      const answer = page(await store.list(step.list, context));
      fail(
        anyDifference([step.answer, ...(step.or ?? [])], ({ rows, ...expected }) =>
          pageDifference(
            answer,
            page({ ...expected, rows: rows.map((row, index) => this.#ends.expected(answer.rows[index], row)) }),
          ),
        ),
      );
    } else if ('owners' in step) {
      const { app, sessionId } = step.owners;
      fail(difference(await store.owners?.(app, sessionId, context), step.answer, 'the users'));
    } else if ('listApps' in step) {
      fail(namesDifference(await store.listApps?.(step.listApps, context), step));
    } else if ('listUsers' in step) {
      const { app, ...query } = step.listUsers;
      fail(namesDifference(await store.listUsers?.(app, query, context), step));
    } else if ('remove' in step) {
      fail(await this.#removeDifference(step, store));
    } else if ('loadScope' in step) {
      fail(await this.#scopeDifference(step, store));
    } else if ('removeScope' in step) {
      await store.removeScope?.(step.removeScope, context);
    } else if ('lease' in step || 'claim' in step) {
      fail(this.#leaseDifference(await this.#lease(step), step));
    } else if ('readLease' in step) {
      fail(this.#heldDifference(await store.readLease?.(step.readLease, context), step));
    } else if ('sweep' in step) {
      fail(await this.#sweepDifference(step, store));
    } else if ('readLog' in step) {
      const log = await store.readLog?.(step.readLog, step.query ?? {}, context);
      fail(log === undefined ? 'there is no readLog' : logDifference(log, step.answer));
    } else if ('trimLog' in step) {
      fail(difference(await store.trimLog?.(step.trimLog, step.upTo, context), step.answer, 'the number of entries'));
    } else {
      this.#watch(step.watch, store);
    }
  }

  async #commit({ commit, by }: CommitStep): Promise<Outcome> {
    const store = by === undefined ? this.#store : await this.#other();
    const begun = this.#ends.now();
    const outcome = await orRefused(store.commit(commit, this.#context));
    this.#ends.wasSet(outcome, begun);
    return outcome;
  }

  async #lease(step: LeaseStep | ClaimStep): Promise<Refused | LeaseAnswer> {
    const store = step.by === undefined ? this.#store : await this.#other();
    try {
      const answer =
        'lease' in step
          ? await store.lease?.(step.lease, step.request, this.#context)
          : await store.claim?.(step.claim, step.request, this.#context);
      return answer ?? { fence: NaN, until: NaN };
    } catch (error) {
      if (isStoreError(error)) {
        const { until } = error;
        return until === undefined ? refused(error) : { ...refused(error), until };
      }
      throw error;
    }
  }

  /** Deletes a session, and compares the refusal. */
  async #removeDifference(
    { remove, created, fence, throws, actual }: RemoveStep,
    store: SessionStore,
  ): Promise<string | undefined> {
    const guard = defined({ created, fence });
    const refusal = await orRefused(store.remove(remove, this.#context, guard));
    return difference(refusal ?? undefined, throws && { throws, actual });
  }

  async #sweepDifference({ sweep, answer }: SweepStep, store: SessionStore): Promise<string | undefined> {
    const swept = await store.sweep?.(sweep, this.#context);
    return difference(answer.more === undefined ? { ...swept, more: undefined } : swept, answer);
  }

  /** The expected session, with the actual end if that is as expected. */
  #ended(actual: unknown, expected: LoadedAnswer | null): LoadedAnswer | null {
    return expected && this.#ends.expected(actual, expected);
  }

  /** Compares the values of a scope. A store that lacks `scopes` need not know one without a session. */
  async #scopeDifference(step: LoadScopeStep, store: SessionStore): Promise<string | undefined> {
    const { scope } = this.#normalizer;
    try {
      const answer = scope(await store.loadScope(step.loadScope, this.#context));
      return scopeDifference(answer, scope(step.answer), step.namesInAnyOrder);
    } catch (error) {
      if (isStoreError(error) && error.code === 'rejected' && store.lacks?.includes('scopes')) {
        return undefined;
      }
      throw error;
    }
  }

  #normalOutcome<Any extends Outcome | { readonly fence: number }>(outcome: Any): Any {
    return 'fence' in outcome ? outcome : (this.#normalizer.outcome(outcome) as Any);
  }

  /** Compares the outcome of a change, as far as this store can answer it. */
  #outcomeDifference(actual: Outcome | undefined, expected: Outcome, path?: string): string | undefined {
    const ended = 'throws' in expected ? expected : this.#ends.expected(actual, expected);
    return outcomeDifference(actual && this.#normalizer.outcome(actual), this.#normalizer.outcome(ended), path);
  }

  /** Compares what a session has for its leases. A lease that was given back has neither a holder nor an end. */
  #heldDifference(actual: LeaseRow | null | undefined, { answer }: ReadLeaseStep): string | undefined {
    const { fence, holder, until } = actual ?? {};
    if (actual === null || answer === null) {
      return actual === answer ? undefined : differs('the lease', actual, answer);
    }
    return (
      (fence === answer.fence ? undefined : differs('fence', fence, answer.fence)) ??
      (holder === answer.holder ? undefined : differs('holder', holder, answer.holder)) ??
      (holder === undefined && until !== undefined ? differs('until', until, undefined) : undefined) ??
      (holder !== undefined && !(Math.abs((until ?? NaN) - this.#until) <= 1)
        ? differs('until', until, this.#until)
        : undefined)
    );
  }

  /** Compares the answer of a lease. Its end is compared with that of the previous answer, because clocks differ. */
  #leaseDifference(
    actual: Refused | LeaseAnswer,
    { answer, until: expected }: LeaseStep | ClaimStep,
  ): string | undefined {
    const { until, ...rest } = actual as LeaseAnswer;
    if (answer === undefined) {
      return 'throws' in actual ? `it throws ${actual.throws}` : undefined;
    }
    const before = this.#until;
    if (!('throws' in actual)) {
      this.#until = until;
    }
    return (
      outcomeDifference(rest as unknown as Outcome, answer as Outcome) ??
      (!('throws' in answer) && !Number.isFinite(until) ? differs('until', until, 0) : undefined) ??
      (expected === 'later' && !(until > before) ? differs('until', until, `later than ${before}`) : undefined) ??
      // A clock of the store may be finer than its answers.
      (expected === 'same' && !(Math.abs(until - before) <= 1) ? differs('until', until, before) : undefined)
    );
  }

  async #reopen(migrate: Migrate): Promise<void> {
    await this.#store.close?.();
    this.#store = (await this.#harness.reopen?.()) ?? this.#store;
    await this.start(migrate);
  }

  /** The other store on the same storage, which is made once. */
  #other(): Promise<SessionStore> {
    this.#another ??= (async () => {
      const store = await this.#harness.another?.();
      if (store === undefined) {
        throw new Error('there is no other store');
      }
      // A store that is the first one, or shares its client, is open already.
      if (store !== this.#store) {
        await store.open?.({ migrate: 'create' }, this.#context);
      }
      return store;
    })();
    return this.#another;
  }

  #watch(isOn: boolean, store: SessionStore): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#hints = [];
    if (isOn) {
      let isWatching = true;
      const stop = store.watch?.((hint) => {
        this.#hints.push(hint);
        this.#onHint?.();
        this.#isHintedTooLate ||= !isWatching;
      });
      this.#stop = () => {
        stop?.();
        isWatching = false;
      };
    }
  }

  async #hinted({ hinted, change }: HintedStep): Promise<void> {
    const store = await this.#other();
    const end = Date.now() + HINT_TIMEOUT_MS;
    for (let count = 0; !this.#hints.some((hint) => difference(hint, hinted) === undefined); count++) {
      fail(Date.now() > end && `no hint like ${JSON.stringify(hinted)} came, only ${JSON.stringify(this.#hints)}`);
      await store.commit(numbered(change, count), this.#context);
      await new Promise<void>((resolve) => {
        this.#onHint = resolve;
        setTimeout(resolve, POLL_MS);
      });
    }
  }
}

/** The same change under another id. */
function numbered({ id, event, ...change }: Change, count: number): Change {
  const next = `${id}-${count}`;
  return { ...change, id: next, ...(event && { event: { ...event, id: next } }) };
}

/** The result of a call, or its refusal. */
async function orRefused<T>(call: Promise<T>): Promise<T | Refused> {
  try {
    return await call;
  } catch (error) {
    if (isStoreError(error)) {
      return refused(error);
    }
    throw error;
  }
}

function refused({ code, actual, key, scope, digest, exceeded, size, limit }: StoreError): Refused {
  return defined({ throws: code, actual, key, scope, digest, exceeded, ...(code === 'limit' && { size, limit }) });
}

function withoutUntil(answer: Refused | LeaseAnswer): Refused | { readonly fence: number } {
  return 'throws' in answer ? { throws: answer.throws } : { fence: answer.fence };
}

/** Compares the outcome of a change. The revision of a refusal is compared if the case has one. */
function outcomeDifference(actual: Outcome | undefined, expected: Outcome, path?: string): string | undefined {
  if (actual === undefined || 'throws' in actual !== 'throws' in expected) {
    return differs(path, actual, expected);
  }
  const isActualExpected = !('throws' in expected) || expected.actual !== undefined;
  return difference(
    isActualExpected ? comparable(actual, expected) : { ...actual, actual: undefined },
    expected,
    path,
  );
}

/** Compares a page of names. */
function namesDifference(
  actual: NamePage | undefined,
  { answer, or = [] }: Pick<ListAppsStep, 'answer' | 'or'>,
): string | undefined {
  return anyDifference([answer, ...or], (expected) => difference(actual, expected, 'the page'));
}

/** The first difference, unless one of several answers matches. */
function anyDifference<Answer>(
  answers: readonly Answer[],
  find: (answer: Answer) => string | undefined,
): string | undefined {
  const differences = answers.map(find);
  return differences.includes(undefined) ? undefined : differences[0];
}

function fail(message: string | false | undefined): void {
  if (message !== false && message !== undefined) {
    throw new Error(message);
  }
}
