// Stores that fail as they are told to.

import { StoreError } from 'statepad';
import { connectionLost } from '../support/fixtures.mjs';

export const sleep = (time) => new Promise((resolve) => setTimeout(resolve, time));

/** The time that a service waits for an answer in tests of answers that do not come, in milliseconds. */
export const TIMEOUT = 800;

/**
 * The outcomes of a call that writes:
 *
 * - `refused`: nothing is written, and the store says so
 * - `before`: nothing is written, and nobody knows
 * - `after`: all is written, and the answer is lost
 * - `cut`: the first half of a batch is written, or all of a single change, and the answer is lost
 * - `hang`: all is written, and there never is an answer
 * - `late`: it is written when nobody waits any more
 */
export const faults = ['refused', 'before', 'after', 'cut', 'hang', 'late'];

/** Faults with which a call takes as long as a service waits. */
export const isSlow = (fault) => fault === 'hang' || fault === 'late';

/**
 * Faults for calls to come: each takes the next one of `next`, and goes well when there is none. `settled()` waits for
 * what is written late.
 */
export function planOf(delay = TIMEOUT + 100) {
  const next = [];
  const late = [];
  const never = new Promise(() => undefined);
  return {
    next,
    /** The delay of a late answer, in milliseconds. */
    delay,
    /** The number of writes of each call. */
    calls: [],
    settled: async () => void (await Promise.all(late.splice(0))),
    /** Makes a call that writes: `all` of it or, where there is more than one thing to write, the first `half`. */
    async call(size, all, half = all) {
      this.calls.push(size);
      switch (next.shift()) {
        case 'refused':
          throw new StoreError('unavailable', 'there are too many of you');
        case 'before':
          throw connectionLost();
        case 'after':
          await all();
          throw connectionLost();
        case 'cut':
          await half();
          throw connectionLost();
        case 'hang':
          await all();
          return await never;
        case 'late':
          late.push(
            sleep(delay)
              .then(all)
              .catch(() => undefined),
          );
          return await never;
        default:
          return await all();
      }
    },
  };
}

const half = (list) => list.slice(0, Math.ceil(list.length / 2));

/** A store whose commits go according to a plan. */
export function faultyStore(inner, plan) {
  return {
    ...inner,
    commit: (change, context) => plan.call(1, () => inner.commit(change, context)),
    commitMany: (changes, context) =>
      plan.call(
        changes.length,
        () => inner.commitMany(changes, context),
        () => inner.commitMany(half(changes), context),
      ),
  };
}

/** Lines in memory, for a journal. */
export function linesOf(lines = []) {
  return { append: async (more) => void lines.push(...more), read: () => lines };
}

/** Lines that are kept according to a plan. They have an order: what is late holds up what comes after it. */
export function faultyLines(inner, plan) {
  const slowly = async (write) => {
    await write();
    await sleep(plan.delay);
  };
  return {
    ...inner,
    append: (lines) => {
      if (isSlow(plan.next[0])) {
        plan.calls.push(lines.length);
        plan.next.shift();
        return slowly(() => inner.append(lines));
      }
      return plan.call(
        lines.length,
        () => inner.append(lines),
        () => inner.append(half(lines)),
      );
    },
  };
}
