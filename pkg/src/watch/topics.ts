// The targets that are watched: the readers of each, and the times at which it is read again.

import type { Hint, Known } from '../store/contract.js';
import { keepRunning } from '../async/keep-running.js';
import type { Pace } from './change-source.js';
import type { SessionKey, UpdateStateTarget } from '../model/types.js';

/** The longest delay of a host's timer, in milliseconds. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Scopes that a change has written to. */
interface ScopeSet {
  readonly app: boolean;
  readonly user: boolean;
}

/** The identity and the revision of a session. */
export interface SessionHead extends Known {
  readonly created: string;
  readonly rev: number;
}

/** One target, for all its readers. */
export class Topic {
  /** The answer of the last read, for all readers; its type depends on the kind of target. */
  head: unknown;
  /** The number of readers. */
  readers = 0;
  /** Of a session: the number of readers that watch it whole. */
  wholeReaders = 0;
  /** Counts the times that the values of the app or the user of a session that is watched whole may have changed. */
  scopeMoves = 0;
  /** True for a session that expires: it is read again from time to time, whoever can write to it. */
  #isTimed = false;
  readonly #topics: Topics;
  /** Counts the wakes. */
  #wakes = 0;
  /** Counts the times that the head became outdated; `#movesRead` is that count at the last read. */
  #moves = 1;
  #movesRead = 0;
  /** The time of the last read, in milliseconds. */
  #readAt = -Infinity;
  #reading: Promise<void> | undefined;
  /** The waiting readers, with the functions that wake them. */
  readonly #waiting = new Map<object, () => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The time at which the timer is due, in milliseconds; `Infinity` without one. */
  #due = Infinity;
  /** True when one of the waiting readers keeps the process running. */
  #isForeground = false;

  constructor(topics: Topics) {
    this.#topics = topics;
  }

  /** Distinguishes a wake from earlier ones. */
  get wakes(): number {
    return this.#wakes;
  }

  /** Wakes all waiting readers. */
  wake(): void {
    this.#wakes += 1;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#stopTimer();
    waiting.forEach((resolve) => resolve());
  }

  /** Marks the head as outdated. */
  expire(): void {
    this.#moves += 1;
  }

  /** Notes that a session was read that expires. */
  readAgain(): void {
    this.#isTimed = true;
    this.#readAt = performance.now();
  }

  /** Begins the reading of another reader: it must not see a session that has expired since the last read. */
  entered(): void {
    this.readers += 1;
    if (this.#isTimed) {
      this.expire();
    }
  }

  get #isPolled(): boolean {
    return this.#topics.hasOthers || this.#isTimed;
  }

  /** True when a reader waits. */
  get isWaitedFor(): boolean {
    return this.#waiting.size > 0;
  }

  /** Reads the head, unless the last read is recent enough; once for all concurrent callers. */
  async refresh(poll: number, read: () => Promise<void>): Promise<void> {
    const isOld = this.#isPolled && performance.now() - this.#readAt >= poll;
    if (this.#movesRead < this.#moves || isOld) {
      this.#reading ??= this.#read(read);
      await this.#reading;
    }
  }

  async #read(read: () => Promise<void>): Promise<void> {
    const moves = this.#moves;
    try {
      await read();
      this.#movesRead = moves;
      this.#readAt = performance.now();
    } finally {
      this.#reading = undefined;
    }
    if (this.isWaitedFor) {
      // A reader with a shorter interval has found the change that they wait for.
      this.wake();
    }
  }

  /**
   * Waits for a wake after `wakes`, and no longer than until the head is old. A reader that stops waiting is never
   * answered.
   */
  async wait(reader: object, wakes: number, pace: Pace): Promise<void> {
    if (this.#wakes === wakes && !this.#topics.isClosed) {
      await new Promise<void>((resolve) => {
        this.#waiting.set(reader, resolve);
        this.#startTimer(pace);
      });
    }
  }

  /** Ends the wait of a reader. */
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

  /**
   * Expires the head after `poll` milliseconds, unless it is due sooner. There are timers only while readers wait, and
   * one that a reader in the foreground needs keeps the process running.
   */
  #startTimer({ poll, background }: Pace): void {
    const due = this.#readAt + poll;
    if (this.#isPolled && due < this.#due) {
      clearTimeout(this.#timer);
      this.#due = due;
      this.#timer = setTimeout(this.#timedOut, Math.min(MAX_TIMER_MS, Math.max(0, due - performance.now())));
    }
    this.#isForeground ||= !background;
    keepRunning(this.#timer, this.#isForeground);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#due = Infinity;
    this.#isForeground = false;
  }
}

/** The targets that are watched in one service. */
export class Topics {
  /** True when others can write: targets are then read again from time to time. */
  readonly hasOthers: boolean;
  readonly #topics = new Map<string, Topic>();
  /** The sessions that are watched whole, by the name of their app and of their user. */
  readonly #followers = new Map<string, Set<Topic>>();
  #isClosed = false;

  constructor(hasOthers: boolean) {
    this.hasOthers = hasOthers;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Enters a reader for a target; it has to leave. */
  enter(target: UpdateStateTarget): Topic {
    const name = nameOf(target);
    let topic = this.#topics.get(name);
    if (topic === undefined) {
      topic = new Topic(this);
      this.#topics.set(name, topic);
    }
    topic.entered();
    return topic;
  }

  /** Ends the use of a topic by a reader. */
  leave(target: UpdateStateTarget, topic: Topic, reader: object): void {
    topic.stopWaiting(reader);
    topic.readers -= 1;
    if (topic.readers === 0) {
      this.#topics.delete(nameOf(target));
    }
  }

  /** Enters a reader for a session, its app's values and its user's; it has to leave. */
  enterWhole(key: SessionKey): Topic {
    const topic = this.enter(key);
    topic.wholeReaders += 1;
    for (const name of scopeNamesOf(key)) {
      const followers = this.#followers.get(name) ?? new Set();
      this.#followers.set(name, followers.add(topic));
    }
    return topic;
  }

  /** Ends the use of a topic that {@link Topics.enterWhole} returned. */
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

  /** A session has changed. `head` is its new state, if that is known. */
  movedSession(key: SessionKey, head?: SessionHead): void {
    const topic = this.#find(key);
    if (topic !== undefined && head === undefined) {
      topic.expire();
    } else if (topic !== undefined) {
      topic.head = laterHead(topic.head as SessionHead | undefined, head as SessionHead);
    }
    topic?.wake();
  }

  /** The values of an app have changed, or those of a user in it. */
  movedScope(appName: string, userId: string | undefined): void {
    this.#expireTopic(this.#find({ appName, userId }));
    for (const follower of this.#followersOf(appName, userId)) {
      // The cached values have changed as well.
      follower.scopeMoves += 1;
      follower.wake();
    }
  }

  /** A change was committed in these scopes. */
  written(key: UpdateStateTarget, scopes: ScopeSet): void {
    this.writtenScopes(key, scopes);
    const { appName, userId, sessionId } = key;
    if (userId !== undefined && sessionId !== undefined) {
      this.movedSession({ appName, userId, sessionId });
    }
  }

  /** A change was committed in these scopes; its session is reported separately. */
  writtenScopes({ appName, userId }: UpdateStateTarget, { app, user }: ScopeSet): void {
    if (app) {
      this.movedScope(appName, undefined);
    }
    if (userId !== undefined && user) {
      this.movedScope(appName, userId);
    }
  }

  /** True when a reader waits for a session. */
  isWaitedFor(key: SessionKey): boolean {
    return this.#find(key)?.isWaitedFor === true;
  }

  /** Others may have changed a session, or the values of its app and its user. */
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
   * Others may have changed scopes of these sessions. One waiting reader reads for all of them: the load reports to
   * the others. Readers that do not wait read by themselves.
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

  /** Expires the last read of a target, and wakes its readers. */
  #expireTopic(topic: Topic | undefined): void {
    topic?.expire();
    topic?.wake();
  }

  #followersOf(appName: string, userId: string | undefined): readonly Topic[] {
    const followers = this.#followers.size === 0 ? undefined : this.#followers.get(nameOf({ appName, userId }));
    return followers === undefined ? [] : [...followers];
  }

  /** Ends all watches. */
  close(): void {
    this.#isClosed = true;
    this.#topics.forEach((topic) => topic.wake());
  }

  #find(target: UpdateStateTarget): Topic | undefined {
    return this.#topics.size === 0 ? undefined : this.#topics.get(nameOf(target));
  }
}

/** The later of two heads of a session. An earlier one of the same revision may know more of its scopes. */
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
