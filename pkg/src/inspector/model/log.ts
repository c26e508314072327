// The log of a session for the inspector's components, with an index of each event.

import type { Event } from '../../index.js';
import { parallelsOf, type Parallel } from './branches.js';
import { isError, summaryOf } from './contents.js';
import { forkIn, type Origin } from './forks.js';
import { membersOf } from './members.js';
import { Rewinds, type Rewind } from './rewinds.js';
import { ToolPairing, type ToolUse } from './tools.js';

/** The scopes, in the order in which a reader sees them. */
export const SCOPES = ['session', 'app', 'user', 'temp'] as const;

/** The scope of a key. */
export type Scope = (typeof SCOPES)[number];

/** The prefix of the keys that are not stored. */
const TEMP = 'temp:';

/** The bit of a scope in {@link Log.scopes}. */
export const SCOPE_BIT: Readonly<Record<Scope, number>> = { session: 1, app: 2, user: 4, temp: 8 };

/** The scope and the name of a key: `user:theme` is `theme` of the user. */
export function splitKey(key: string): { readonly scope: Scope; readonly name: string } {
  const colon = key.indexOf(':');
  const prefix = key.slice(0, Math.max(colon, 0));
  return prefix === 'app' || prefix === 'user' || prefix === 'temp'
    ? { scope: prefix, name: key.slice(colon + 1) }
    : { scope: 'session', name: key };
}

/**
 * The keys that an event wrote, and those of them that it deleted; and the `temp:` keys that it noted. A log never has
 * those keys: their writer may note their names, without the prefix, as `customMetadata.tempKeys`.
 */
export function deltaOf(event: Event): {
  readonly delta: Readonly<Record<string, unknown>>;
  readonly deleted: ReadonlySet<string>;
  readonly temp: readonly string[];
} {
  const { actions, customMetadata } = event as Partial<Event>;
  const metadata = customMetadata as { statepad?: { deleted?: readonly string[] }; tempKeys?: unknown } | undefined;
  const names = Array.isArray(metadata?.tempKeys) ? (metadata.tempKeys as unknown[]) : [];
  const temp = names.flatMap((name) => (typeof name === 'string' ? [`${TEMP}${name}`] : []));
  return { delta: actions?.stateDelta ?? {}, deleted: new Set(metadata?.statepad?.deleted ?? []), temp };
}

/** The metadata that notes the `temp:` keys among those that an event writes; empty when there are none. */
export function noteOfTemp(keys: readonly string[]): { readonly tempKeys?: string[] } {
  const tempKeys = keys.flatMap((key) => (key.startsWith(TEMP) ? [key.slice(TEMP.length)] : []));
  return tempKeys.length === 0 ? {} : { tempKeys };
}

/** The metadata by which an event notes the template of its session: a fork may have another one. */
export function noteOfTemplate(template: string): Readonly<Record<string, unknown>> {
  return { inspector: { template } };
}

function templateIn(event: Event): string | undefined {
  const { customMetadata } = event as Partial<Event>;
  if (customMetadata === undefined) {
    return undefined;
  }
  const { template } = membersOf(membersOf(customMetadata)['inspector']);
  return typeof template === 'string' ? template : undefined;
}

/** All keys that an event wrote, `temp:` keys last. */
export function keysOf(event: Event): string[] {
  const { delta, temp } = deltaOf(event);
  return [...Object.keys(delta), ...temp];
}

/** True when a list of events begins with all of an earlier one: a log only grows. */
export function isContinued(earlier: readonly object[], events: readonly object[]): boolean {
  const last = earlier.length - 1;
  return last < 0 || (earlier[0] === events[0] && earlier[last] === events[last]);
}

/**
 * The events of a session, with the data for a picture of them. Events are counted by revision: the first one is 1.
 */
export class Log {
  /** In the order of appending: the event of revision `r` is `events[r - 1]`. */
  events: readonly Event[] = [];
  /** The number of first events that are not loaded yet: others stand in their places, without content. */
  missing = 0;
  /** The template that the log notes last; see {@link noteOfTemplate}. */
  template: string | undefined;
  /** Every author, in the order in which they first spoke. */
  readonly authors: string[] = [];
  /** By index: the author's index in {@link Log.authors}. */
  readonly lanes: number[] = [];
  /** By index: the {@link SCOPE_BIT}s of the event's writes. */
  readonly scopes: number[] = [];
  /**
   * By index: the revision of the first event of the same turn, which is an unbroken run of events with one invocation
   * id.
   */
  readonly turns: number[] = [];
  /** By index: the number of turns up to it, its own included. */
  readonly turnNumbers: number[] = [];
  /** The revisions of the events that report an error, ascending. */
  readonly errors: number[] = [];
  /**
   * The moment of another session that this one continues from; `undefined` when it is no fork. The session is one of
   * the same user.
   */
  fork: Origin | undefined;
  readonly #lanes = new Map<string, number>();
  readonly #tools = new ToolPairing();
  readonly #rewinds = new Rewinds();
  #parallels: readonly Parallel[] | undefined;
  readonly #texts: (string | undefined)[] = [];

  /**
   * Takes over the current events, of which the first ones may be missing. Known ones are not examined again.
   */
  update(loaded: readonly Event[], missing = 0): void {
    const events = missing === 0 ? loaded : [...placesFor(loaded, missing), ...loaded];
    this.missing = missing;
    if (!isContinued(this.events, events)) {
      this.#clear();
    }
    const eventOf = (revision: number): Event | undefined => events[revision - 1];
    this.#parallels = events.length === this.events.length ? this.#parallels : undefined;
    for (let place = this.lanes.length; place < events.length; place++) {
      this.#add(events[place] as Event, place, eventOf);
    }
    this.events = events;
  }

  /** The rewinds of the session and their undoing, in their order. */
  get rewinds(): readonly Rewind[] {
    return this.#rewinds.all;
  }

  /** The rewind that the event of a revision is the marker of. */
  rewindAt(revision: number): Rewind | undefined {
    return this.#rewinds.at(revision);
  }

  /** True for an event that a rewind has taken back: by the end of the log, or by an earlier revision. */
  undone(revision: number, at = this.events.length): boolean {
    return this.#rewinds.isUndone(revision, at);
  }

  /** All calls of tools, in their order, by their id. */
  get tools(): ReadonlyMap<string, ToolUse> {
    return this.#tools.uses;
  }

  /** The calls that the event of a revision makes, and those that it has the results of. */
  toolsAt(revision: number): readonly ToolUse[] {
    return this.#tools.at(revision);
  }

  /** The runs of events in which agents worked in parallel, in their order. */
  get branches(): readonly Parallel[] {
    return (this.#parallels ??= parallelsOf(this.events, this.turns));
  }

  /** The time since the event before in the same turn, in ms; `undefined` for the first one of a turn. */
  latency(revision: number): number | undefined {
    const [before, event] = [this.at(revision - 1), this.at(revision)];
    const isFirst = this.turns[revision - 1] === revision;
    return before === undefined || event === undefined || isFirst
      ? undefined
      : Math.max(event.timestamp - before.timestamp, 0);
  }

  /** The event of a revision. */
  at(revision: number): Event | undefined {
    return this.events[revision - 1];
  }

  /** The name of an event's author. */
  author(revision: number): string {
    return this.authors[this.lanes[revision - 1] ?? -1] ?? '';
  }

  /** The revisions whose event has a text in its words, author, keys or values, ignoring case; ascending. */
  find(query: string): number[] {
    const needle = query.toLowerCase();
    const matches: number[] = [];
    this.events.forEach((event, place) => {
      if ((this.#texts[place] ??= searchText(event)).includes(needle)) {
        matches.push(place + 1);
      }
    });
    return matches;
  }

  #add(event: Event, place: number, eventOf: (revision: number) => Event | undefined): void {
    const author = event.author ?? 'no author';
    let lane = this.#lanes.get(author);
    if (lane === undefined) {
      lane = this.authors.push(author) - 1;
      this.#lanes.set(author, lane);
    }
    this.lanes[place] = lane;
    this.scopes[place] = keysOf(event).reduce((bits, key) => bits | SCOPE_BIT[splitKey(key).scope], 0);
    if (isError(event)) {
      this.errors.push(place + 1);
    }
    this.#tools.add(event, place + 1, eventOf);
    this.#rewinds.add(event, place + 1);
    this.fork = forkIn(event, place + 1) ?? this.fork;
    this.template = templateIn(event) ?? this.template;
    const before = eventOf(place);
    const isSameTurn = before !== undefined && event.invocationId !== '' && before.invocationId === event.invocationId;
    this.turns[place] = isSameTurn ? (this.turns[place - 1] ?? place + 1) : place + 1;
    this.turnNumbers[place] = (this.turnNumbers[place - 1] ?? 0) + (isSameTurn ? 0 : 1);
  }

  #clear(): void {
    this.#lanes.clear();
    this.#tools.clear();
    this.#rewinds.clear();
    this.#parallels = undefined;
    this.fork = undefined;
    this.template = undefined;
    const { authors, lanes, scopes, turns, turnNumbers, errors } = this;
    for (const list of [authors, lanes, scopes, turns, turnNumbers, errors, this.#texts]) {
      list.length = 0;
    }
  }
}

/** Events without content, in the places of those that are not loaded yet. */
function placesFor([next]: readonly Event[], missing: number): Event[] {
  const { author, timestamp = 0 } = next ?? {};
  const actions = { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} };
  const place: Event = { id: '', invocationId: '', timestamp, actions, ...(author === undefined ? {} : { author }) };
  return new Array<Event>(missing).fill(Object.freeze(place));
}

function searchText(event: Event): string {
  const { delta, temp } = deltaOf(event);
  const values = Object.entries(delta).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
  return [summaryOf(event), event.author ?? '', ...values, ...temp].join('\n').toLowerCase();
}
