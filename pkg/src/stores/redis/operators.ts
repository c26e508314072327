// Operators on their way into the script that writes changes, and the details stored beside an event's text.

import { unreadable } from '../../store/refusals.js';
import { valuesOf } from '../shared/values.js';
import { textOf } from './client.js';
import type { Operator, ScopedValues, StoredEvent, Values } from '../../store/contract.js';

/** The letters of the scopes in scripts. */
const SCOPES = { a: 'app', u: 'user', s: 'session' } as const;

/** The scope of a letter. */
export function scopeOf(letter: unknown): 'app' | 'user' | 'session' {
  return SCOPES[textOf(letter) as keyof typeof SCOPES];
}

/** An operator as a text that no JSON text is: a sign and its argument. Line feeds are never in JSON texts. */
export function operatorText(operator: Operator): string {
  if ('increment' in operator) {
    return `+${JSON.stringify(operator.increment)}`;
  }
  if ('append' in operator) {
    return `&${JSON.stringify(operator.append)}`;
  }
  if ('setOnce' in operator) {
    return `?${JSON.stringify(operator.setOnce)}`;
  }
  const { expected, value } = operator.compareAndSet;
  return `~${expected === undefined ? '' : JSON.stringify(expected)}\n${JSON.stringify(value)}`;
}

/** An event as it is stored: `=` and its text, or the details beside it, a line feed and that. */
const EVENT = /^@(?:(\d+),(\d+))?(\{[^\n]*)?\n=/;

/** The text of an event as the script keeps it, and the details beside it. Throws `corrupt`. */
export function storedEventOf(reply: unknown, what: string): Pick<StoredEvent, 'data' | 'pos' | 'results'> {
  const text = textOf(reply);
  if (text.startsWith('=')) {
    return { data: text.slice(1) };
  }
  const [head, app, user, results] = EVENT.exec(text) ?? [];
  if (head === undefined) {
    throw unreadable(what);
  }
  return {
    data: text.slice(head.length),
    ...(results === undefined ? {} : { results: resultsOf(results, what) }),
    ...(app === undefined ? {} : { pos: { app: Number(app), user: Number(user) } }),
  };
}

function resultsOf(text: string, what: string): ScopedValues {
  try {
    const scopes = Object.entries(JSON.parse(text) as Readonly<Record<string, Values>>);
    return Object.fromEntries(
      scopes.map(([letter, values]): [string, Values] => [scopeOf(letter), valuesOf(Object.entries(values))]),
    );
  } catch (cause) {
    throw unreadable(what, cause);
  }
}
