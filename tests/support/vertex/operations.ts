// Operations that may take longer than the call that starts them.

import { notFound } from '../../../pkg/src/serve/agent-engine/wire/errors.ts';
import { formatTime } from '../../../pkg/src/serve/agent-engine/wire/time.ts';
import type { Clock } from './clock.ts';

/** The start of an operation. */
export interface Start {
  /** The beginning of its name, up to `/operations/`. */
  readonly parent: string;
  /** The types of its metadata and of its result, as addresses. */
  readonly metadata: string;
  readonly result: string;
  /** The number of polls that are answered before it is done; it is done at once when there are none, and no delay. */
  readonly polls: number;
  /** The time after which it is done by itself, in nanoseconds, unless polls are set. */
  readonly delay?: bigint;
  /** Does the work, and says the result. */
  readonly finish: () => object;
}

interface Operation {
  readonly name: string;
  readonly start: Start;
  readonly time: string;
  /** The number of remaining polls. */
  polls: number;
  /** The time when it is done by itself. */
  readonly due: bigint | undefined;
  response: object | undefined;
}

/** All operations of a service. */
export class Operations {
  readonly #clock: Clock;
  readonly #known = new Map<string, Operation>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Starts an operation. */
  start(start: Start): object {
    const name = `${start.parent}/operations/${this.#clock.newId()}`;
    const { polls, delay = 0n } = start;
    const due = polls === 0 && delay > 0n ? this.#clock.now() + delay : undefined;
    const response = polls > 0 || due !== undefined ? undefined : start.finish();
    const operation = { name, start, time: formatTime(this.#clock.tick()), polls, due, response };
    this.#known.set(name, operation);
    return describe(operation);
  }

  /** Does the work of operations whose time has come, in the order in which they were started. */
  settle(): void {
    const now = this.#clock.now();
    for (const operation of this.#known.values()) {
      if (operation.response === undefined && operation.due !== undefined && operation.due <= now) {
        operation.response = operation.start.finish();
      }
    }
  }

  /** Asks whether an operation is done, by its name with the number of the project. */
  poll(name: string): object {
    const operation = this.#known.get(name);
    if (operation === undefined) {
      throw notFound('Operation', name);
    }
    operation.polls -= 1;
    if (operation.polls < 0 && operation.due === undefined) {
      operation.response ??= operation.start.finish();
    }
    return describe(operation);
  }
}

function describe({ name, start, time, response }: Operation): object {
  return {
    name,
    metadata: { '@type': start.metadata, genericMetadata: { createTime: time, updateTime: time } },
    ...(response !== undefined && { done: true, response: { '@type': start.result, ...response } }),
  };
}
