// The tokens that a model has counted for an event.

import type { Event } from '../../index.js';
import { countFrom, membersOf, type Members } from './members.js';

/** Numbers of tokens. A member is absent where the event does not have it. */
export interface Tokens {
  /** Of the prompt, with what a cache had of it. */
  readonly prompt?: number;
  /** Of the answer. */
  readonly answer?: number;
  /** Of the thoughts of the model. */
  readonly thoughts?: number;
  /** Of the part of the prompt that came from a cache. */
  readonly cached?: number;
  /** In all. */
  readonly total: number;
}

/** The members of `usageMetadata`, as models call them. */
const MEMBERS: readonly (readonly [keyof Tokens, string])[] = [
  ['prompt', 'promptTokenCount'],
  ['answer', 'candidatesTokenCount'],
  ['thoughts', 'thoughtsTokenCount'],
  ['cached', 'cachedContentTokenCount'],
];

/** The tokens of an event; `undefined` when it has none. */
export function tokensOf(event: Event): Tokens | undefined {
  const usage = membersOf((event as unknown as Members)['usageMetadata']);
  const counts: Partial<Record<keyof Tokens, number>> = {};
  for (const [name, member] of MEMBERS) {
    const count = countFrom(usage[member]);
    if (count !== undefined) {
      counts[name] = count;
    }
  }
  const { prompt, answer, thoughts } = counts;
  const known = prompt ?? answer ?? thoughts;
  const total =
    countFrom(usage['totalTokenCount']) ??
    (known === undefined ? undefined : (prompt ?? 0) + (answer ?? 0) + (thoughts ?? 0));
  return total === undefined ? undefined : { ...counts, total };
}
