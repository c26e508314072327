// Checks of the options and troubles of a fake, so that a test does not wait for something impossible.

import { CALLS } from '../../../pkg/src/serve/agent-engine/wire/paths.ts';
import { checkCount, checkFunction, checkObject, checkOptions, invalid } from '../../../pkg/src/checks/arguments.ts';
import { describe } from '../../../pkg/src/model/value-types.ts';
import type { FakeVertexAiOptions, VertexTrouble } from './types.ts';

/** The members that each kind of trouble must and may have, besides those that all may have. */
const KINDS: Readonly<Record<VertexTrouble['kind'], readonly string[]>> = {
  error: ['status', 'retryAfter'],
  'request-lost': [],
  'answer-lost': [],
  slow: ['delay'],
  pending: ['polls'],
};

const STATUSES: readonly unknown[] = [403, 429, 500, 503, 504];

/** Checks the options of a fake. */
export function checkSettings(options: FakeVertexAiOptions): void {
  checkOptions(options, ['now', 'random', 'projects', 'engines', 'creationDelay', 'token']);
  const { now, random, creationDelay, token } = options;
  checkCount(creationDelay, 'creationDelay');
  if (now !== undefined) {
    checkFunction(now, 'now');
  }
  if (random !== undefined) {
    checkFunction(random, 'random');
  }
  if (token !== undefined) {
    checkOneOf(token, ['required', 'optional'], 'token');
  }
}

/** Checks a trouble. */
export function checkTrouble(trouble: VertexTrouble): void {
  checkObject(trouble, 'trouble');
  checkOneOf(trouble.kind, Object.keys(KINDS), 'kind');
  checkOptions(trouble, ['kind', 'times', 'when', ...KINDS[trouble.kind]], 'trouble');
  checkCount(trouble.times, 'times');
  if (trouble.kind === 'error') {
    checkOneOf(trouble.status, STATUSES, 'status');
  } else if (trouble.kind === 'slow') {
    checkNeeded(trouble.delay, 'delay');
  } else if (trouble.kind === 'pending') {
    checkNeeded(trouble.polls, 'polls');
  }
  if (typeof trouble.when === 'string') {
    checkOneOf(trouble.when, CALLS, 'when');
  } else if (trouble.when !== undefined) {
    checkFunction(trouble.when, 'when');
  }
}

function checkNeeded(count: number | undefined, path: string): void {
  if (count === undefined) {
    invalid(path, 'is missing');
  }
  checkCount(count, path);
}

function checkOneOf(value: unknown, known: readonly unknown[], path: string): void {
  if (!known.includes(value)) {
    const given = typeof value === 'string' ? JSON.stringify(value) : describe(value);
    invalid(path, `must be one of ${known.join(', ')}, not ${given}`);
  }
}
