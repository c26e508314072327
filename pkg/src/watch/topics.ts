// What is being watched: who waits for which target, and when it is looked at again.

import type { Hint, Known } from '../store/contract.js';
import type { SessionKey, UpdateStateTarget } from '../model/types.js';

/** The longest that a host's timer can wait, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Scopes that a change has written to. */
interface ScopeSet {
  readonly app: boolean;
  readonly user: boolean;
}

/** Where a session is. */
export interface SessionHead extends Known {
  readonly created: string;
  readonly rev: number;
}

/** One target, for all its readers. */
export class Topic {
  /** What was read last, for all readers: what it is depends on the kind of the target. */
  head: unknown;
  /** How many readers it has. */
  readers = 0;
  /** Of a session: how many of its readers watch it whole. */
  wholeReaders = 0;
  /** One more for each time that the values of its app, or of its user, may have moved while it was watched whole. */
  scopeMoves = 0;
  readonly #topics: Topics;
  /** One more for each time that it was woken. */
  #wakes = 0;
  /** One more for each time that the head was left behind, and how many of these the last reading has seen. */
  #moves = 1;
  #seen = 0;
  /** When the head was read last, in milliseconds. */
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;
  /** The readers that wait, and what to call when it is woken. */
  readonly #waiting = new Map<object, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When the timer is due, in milliseconds; never, when there is none. */
  #due = Infinity;

  constructor(topics: Topics) {
    this.#topics = topics;
  }

  /** Tells a wake from the ones before. */
  get wakes(): number {
    return this.#wakes;
  }

  /** Wakes all who wait. */
  wake(): void {
    this.#wakes += 1;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#stopTimer();
    waiting.forEach((resolve) => resolve());
  }

  /** The head is not what there is now. */
  expire(): void {
    this.#moves += 1;
  }

  /** Whether a reader waits. */
  get isWaitedFor(): boolean {
    return this.#waiting.size > 0;
  }

  /** Reads the head, unless what was read last is young enough: once for all who ask at the same time. */
  async refresh(poll: number, read: () => Promise<void>): Promise<void> {
    const isOld = this.#topics.hasOthers && performance.now() - this.#readAt >= poll;
    if (this.#seen < this.#moves || isOld) {
      this.#reading ??= this.#read(read);
      await this.#reading;
    }
  }

  async #read(read: () => Promise<void>): Promise<void> {
    const moves = this.#moves;
    try {
      await read();
      this.#seen = moves;
      this.#readAt = performance.now();
    } finally {
      this.#reading = undefined;
    }
    if (this.isWaitedFor) {
      // One who looks more often has found what they wait for.
      this.wake();
    }
  }

  /**
   * Waits until it is woken after the wake `wakes`, and no longer than it takes until the head is old. One that stops
   * waiting is never answered.
   */
  async wait(reader: object, wakes: number, poll: number): Promise<void> {
    if (this.#wakes === wakes && !this.#topics.isClosed) {
      await new Promise<void>((resolve) => {
        this.#waiting.set(reader, resolve);
        this.#startTimer(poll);
      });
    }
  }

  /** A reader does not wait any more. */
  stopWaiting(reader: object): void {
    this.#waiting.delete(reader);
    if (this.#waiting.size === 0) {
      this.#stopTimer();
    }
  }

  readonly #timedOut = (): void => {
    this.expire();
    this.wake();
  };

  /** Looks again when the head is so old, unless that is done sooner. There are timers only while readers wait. */
  #startTimer(poll: number): void {
    const due = this.#readAt + poll;
    if (this.#topics.hasOthers && due < this.#due) {
      clearTimeout(this.#timer);
      this.#due = due;
      this.#timer = setTimeout(this.#timedOut, Math.min(MAX_TIMER_MS, Math.max(0, due - performance.now())));
    }
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#due = Infinity;
  }
}

/** All that is watched in one service. */
export class Topics {
  /** Whether others can write: it is looked at from time to time. */
  readonly hasOthers: boolean;
  readonly #topics = new Map<string, Topic>();
  /** By the name of an app, or of a user: the sessions that are watched whole. */
  readonly #followers = new Map<string, Set<Topic>>();
  #isClosed = false;

  constructor(hasOthers: boolean) {
    this.hasOthers = hasOthers;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The topic of a target, for a reader: it has to leave it. */
  enter(target: UpdateStateTarget): Topic {
    const name = nameOf(target);
    let topic = this.#topics.get(name);
    if (topic === undefined) {
      topic = new Topic(this);
      this.#topics.set(name, topic);
    }
    topic.readers += 1;
    return topic;
  }

  /** A reader is done with a topic. */
  leave(target: UpdateStateTarget, topic: Topic, reader: object): void {
    topic.stopWaiting(reader);
    topic.readers -= 1;
    if (topic.readers === 0) {
      this.#topics.delete(nameOf(target));
    }
  }

  /** The topic of a session, for a reader of its app's values and its user's, too: it has to leave it. */
  enterWhole(key: SessionKey): Topic {
    const topic = this.enter(key);
    topic.wholeReaders += 1;
    for (const name of scopeNamesOf(key)) {
      const followers = this.#followers.get(name) ?? new Set();
      this.#followers.set(name, followers.add(topic));
    }
    return topic;
  }

  /** A reader is done with what {@link Topics.enterWhole} gave it. */
  leaveWhole(key: SessionKey, topic: Topic, reader: object): void {
    topic.wholeReaders -= 1;
    for (const name of topic.wholeReaders === 0 ? scopeNamesOf(key) : []) {
      const followers = this.#followers.get(name);
      followers?.delete(topic);
      if (followers?.size === 0) {
        this.#followers.delete(name);
      }
    }
    this.leave(key, topic, reader);
  }

  /** A session has moved. `head`: where it is now, if that is known. */
  movedSession(key: SessionKey, head?: SessionHead): void {
    const topic = this.#find(key);
    if (topic !== undefined && head === undefined) {
      topic.expire();
    } else if (topic !== undefined) {
      topic.head = laterHead(topic.head as SessionHead | undefined, head as SessionHead);
    }
    topic?.wake();
  }

  /** The values of an app have moved, or those of a user in it. */
  movedScope(appName: string, userId: string | undefined): void {
    this.#expireTopic(this.#find({ appName, userId }));
    for (const follower of this.#followersOf(appName, userId)) {
      // What is cached of them has moved with it.
      follower.scopeMoves += 1;
      follower.wake();
    }
  }

  /** A change was made, in these scopes. */
  written(key: UpdateStateTarget, scopes: ScopeSet): void {
    this.writtenScopes(key, scopes);
    const { appName, userId, sessionId } = key;
    if (userId !== undefined && sessionId !== undefined) {
      this.movedSession({ appName, userId, sessionId });
    }
  }

  /** A change was made, in these scopes: of its session is told elsewhere. */
  writtenScopes({ appName, userId }: UpdateStateTarget, { app, user }: ScopeSet): void {
    if (app) {
      this.movedScope(appName, undefined);
    }
    if (userId !== undefined && user) {
      this.movedScope(appName, userId);
    }
  }

  /** Whether a reader waits for a session. */
  isWaitedFor(key: SessionKey): boolean {
    return this.#find(key)?.isWaitedFor === true;
  }

  /** Others may have moved a session, or the values of its app and its user. */
  hinted({ appName, userId, sessionId }: Hint): void {
    this.#expireTopic(this.#find({ appName }));
    if (userId !== undefined) {
      this.#expireTopic(this.#find({ appName, userId }));
      if (sessionId !== undefined) {
        this.movedSession({ appName, userId, sessionId });
      }
    }
    this.#expireFollowers(this.#followersOf(appName, userId));
    if (userId !== undefined) {
      this.#expireFollowers(this.#followersOf(appName, undefined));
    }
  }

  /**
   * Others may have moved what these sessions are watched with. One that waits looks for all of them: by what it loads
   * the others hear of it. Those that do not wait look for themselves, when they read.
   */
  #expireFollowers(followers: readonly Topic[]): void {
    const [first] = followers.filter(({ isWaitedFor }) => isWaitedFor);
    for (const follower of followers) {
      if (follower === first || !follower.isWaitedFor) {
        follower.scopeMoves += 1;
        this.#expireTopic(follower);
      }
    }
  }

  /** What was read last of a target is not what there is now. */
  #expireTopic(topic: Topic | undefined): void {
    topic?.expire();
    topic?.wake();
  }

  #followersOf(appName: string, userId: string | undefined): readonly Topic[] {
    const followers = this.#followers.size === 0 ? undefined : this.#followers.get(nameOf({ appName, userId }));
    return followers === undefined ? [] : [...followers];
  }

  /** Nothing more will come. */
  close(): void {
    this.#isClosed = true;
    this.#topics.forEach((topic) => topic.wake());
  }

  #find(target: UpdateStateTarget): Topic | undefined {
    return this.#topics.size === 0 ? undefined : this.#topics.get(nameOf(target));
  }
}

/** What is known of where a session is: what was known of it before may say more of its scopes. */
function laterHead(before: SessionHead | undefined, now: SessionHead): SessionHead {
  if (before?.created !== now.created) {
    return now;
  }
  return before.rev < now.rev ? { ...before, ...now } : before;
}

function nameOf({ appName, userId, sessionId }: UpdateStateTarget): string {
  return JSON.stringify([appName, userId, sessionId]);
}

function scopeNamesOf({ appName, userId }: SessionKey): readonly string[] {
  return [nameOf({ appName }), nameOf({ appName, userId })];
}
