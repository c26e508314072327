// A line of an export: what it counts as, and without hidden values.

import type { Redaction } from '../output/redact.js';
import type { Event, Json } from '../../index.js';

/** The members of a line that are used; see the page on JSON lines. */
interface ParsedLine {
  readonly kind: string;
  readonly userId?: string;
  readonly state?: Readonly<Record<string, Json>>;
  readonly event?: Event;
}

/** The kind of a line that `exportLines` has made: its first member. */
export function kindOf(line: string): string {
  return /^\{"kind":"(\w+)"/.exec(line)?.[1] ?? '';
}

/** A line without the values that a redaction hides. */
export function redacted(line: string, redaction: Redaction): string {
  if (!redaction.isActive) {
    return line;
  }
  const parsed = JSON.parse(line) as ParsedLine;
  const { kind, userId, state, event } = parsed;
  const prefix = kind !== 'scope' ? '' : userId === undefined ? 'app:' : 'user:';
  return JSON.stringify({
    ...parsed,
    ...(state !== undefined && { state: redaction.state(state, prefix) }),
    ...(event !== undefined && { event: redaction.event(event) }),
  });
}
