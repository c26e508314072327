// Runs tasks in lockstep: they request their next writes at the same moment, so that the store can write all of them
// in one batch.

/** A task in steps: one from each `yield` to the next. */
export type Steps = AsyncGenerator<void, void, undefined>;

/**
 * Runs the next step of every task at the same time, then the one after, until all have ended. When one throws, the
 * others finish their current step, and the error is thrown.
 */
export async function runInLockstep(all: readonly Steps[], pause: () => Promise<void>): Promise<void> {
  let running = all;
  while (running.length > 0) {
    const results = await Promise.allSettled(running.map(async (steps) => await steps.next()));
    const failed = results.find((result) => result.status === 'rejected');
    if (failed !== undefined) {
      throw failed.reason;
    }
    running = running.filter((_, index) => isGoingOn(results[index]));
    await pause();
  }
}

function isGoingOn(result: PromiseSettledResult<IteratorResult<void, void>> | undefined): boolean {
  return result?.status === 'fulfilled' && result.value.done !== true;
}

/** Runs tasks one by one. */
export async function* oneByOne(all: readonly Steps[]): Steps {
  for (const steps of all) {
    yield* steps;
  }
}

/**
 * Groups items that share a name, directly or through others; each group is in the order of the items. One without
 * names is alone.
 */
export function groupsOf<T>(items: readonly T[], namesOf: (item: T) => readonly string[]): T[][] {
  const groups = new Set<Set<number>>();
  const byName = new Map<string, Set<number>>();
  items.forEach((item, index) => {
    const group = new Set([index]);
    const joined = new Set(namesOf(item).flatMap((name) => byName.get(name) ?? []));
    joined.forEach((other) => {
      other.forEach((each) => group.add(each));
      groups.delete(other);
    });
    groups.add(group);
    namesOf(item).forEach((name) => byName.set(name, group));
    byName.forEach((other, name) => joined.has(other) && byName.set(name, group));
  });
  return [...groups].map((group) => [...group].sort((a, b) => a - b).map((index) => items[index] as T));
}
