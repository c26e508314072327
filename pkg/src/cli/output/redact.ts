// Hiding values of production data: by the names of the keys and members that they stand under.

import { NamePattern } from '../sources/names.js';
import type { Event, Json } from '../../index.js';

/** The text in the place of a hidden value. */
export const HIDDEN = '[redacted]';

/** Values under keys or names. */
type Values = Readonly<Record<string, Json>>;

/** The members of an event that are its place in the log and facts about the run, none of them said by anybody. */
const STRUCTURE = new Set([
  ...['id', 'invocationId', 'author', 'timestamp', 'branch', 'partial', 'longRunningToolIds', 'turnComplete'],
  ...[
    'turnCompleteReason',
    'interrupted',
    'errorCode',
    'finishReason',
    'modelVersion',
    'usageMetadata',
    'avgLogprobs',
  ],
]);
/** The same of its actions. */
const STRUCTURE_OF_ACTIONS = new Set([
  ...['skipSummarization', 'transferToAgent', 'escalate', 'rewindBeforeInvocationId', 'endInvocation', 'endOfAgent'],
]);
/** Members of actions that are objects in every event. */
const OBJECTS = new Set(['artifactDelta', 'requestedAuthConfigs', 'requestedToolConfirmations']);

/**
 * The values that patterns hide. A pattern means a name, `*` in it any text; capitals do not matter. Hidden are
 *
 * - the values of keys with such a name, with their prefix or without it: in states, in deltas and in histories
 * - members with such a name, at any depth: in all values, and in what events have besides their structure
 * - with a pattern that means `content`, all that was said and done in events, whatever the members are called: what
 *   stays of an event is its ids, author and times, its flags and counts, and its delta
 *
 * Names themselves, of apps, users, sessions, authors, keys and members, are never hidden; nor is `null`, which is the
 * delta of a deleted key. A text is not searched: not for JSON in it, and not for a value that is hidden elsewhere.
 */
export class Redaction {
  readonly #patterns: readonly NamePattern[];
  readonly #hidesContent: boolean;

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns.map((pattern) => new NamePattern(pattern, 'i'));
    this.#hidesContent = this.#hides('content');
  }

  /** False when nothing is hidden. */
  get isActive(): boolean {
    return this.#patterns.length > 0;
  }

  /** The value of a key, which has its prefix. */
  value(key: string, value: Json): Json {
    return value !== null && this.#hidesKey(key) ? HIDDEN : this.#inside(value);
  }

  /** Values under their keys; with a `prefix`, `app:` or `user:`, under their names. */
  state(state: Values, prefix: '' | 'app:' | 'user:' = ''): Values {
    return this.isActive ? mapped(state, (name, value) => this.value(prefix + name, value)) : state;
  }

  /** An event, of the same shape. */
  event(event: Event): Event {
    return this.isActive
      ? (mapped(event as unknown as Values, (name, value) => this.#member(name, value)) as unknown as Event)
      : event;
  }

  /** A member of an event. */
  #member(name: string, value: Json): Json {
    if (name === 'actions' && isValues(value)) {
      return mapped(value, (action, content) => this.#action(action, content));
    }
    if (name === 'customMetadata' && isValues(value)) {
      return mapped(value, (own, content) => (own === 'statepad' ? this.#ownData(content) : this.#said(own, content)));
    }
    if (STRUCTURE.has(name)) {
      return value;
    }
    if (name === 'content' && this.#hidesContent && isValues(value)) {
      return { ...('role' in value && { role: value['role'] ?? null }), parts: [{ text: HIDDEN }] };
    }
    return this.#said(name, value);
  }

  /** The data of statepad itself: the deleted keys, and the operators of the delta, with their operands. */
  #ownData(data: Json): Json {
    if (!isValues(data) || !('operators' in data)) {
      return data;
    }
    const { operators = null, ...others } = data;
    const shown = isValues(operators) ? Object.entries(operators).filter(([key]) => !this.#hidesKey(key)) : [];
    return shown.length === 0
      ? others
      : { ...others, operators: mapped(Object.fromEntries(shown), (_, operator) => this.#inside(operator)) };
  }

  #action(name: string, value: Json): Json {
    if (name === 'stateDelta' && isValues(value)) {
      return this.state(value);
    }
    if (STRUCTURE_OF_ACTIONS.has(name)) {
      return value;
    }
    return OBJECTS.has(name) && isValues(value) ? this.#object(value) : this.#said(name, value);
  }

  #object(value: Values): Values {
    return this.#hidesContent ? {} : mapped(value, (name, content) => this.#said(name, content));
  }

  /** A member with what was said, done or found. */
  #said(name: string, value: Json): Json {
    return value !== null && (this.#hidesContent || this.#hides(name)) ? HIDDEN : this.#inside(value);
  }

  /** A value without the hidden members in it. */
  #inside(value: Json): Json {
    if (Array.isArray(value)) {
      return (value as readonly Json[]).map((item) => this.#inside(item));
    }
    if (!isValues(value)) {
      return value;
    }
    return mapped(value, (name, member) => (member !== null && this.#hides(name) ? HIDDEN : this.#inside(member)));
  }

  #hidesKey(key: string): boolean {
    return this.#hides(key) || this.#hides(key.replace(/^(?:app|user|temp):/, ''));
  }

  #hides(name: string): boolean {
    return this.#patterns.some((pattern) => pattern.matches(name));
  }
}

function isValues(value: Json): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function mapped(values: Values, change: (name: string, value: Json) => Json): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(name, value)]));
}
