// Turns of those who would get into each other's way: one after the other, under a name.

import { orAborted } from './abort.js';
import type { Signal } from './abort.js';

/** How long a function runs until a call that may be its own goes by itself, in milliseconds. Longer at further runs. */
const PATIENCE = 200;
/** How many times as long at most. */
const MOST = 8;

/** What moments of one service are told apart by: one more each time. */
let moments = 0;

/** One task whose turn it is, or that has broken out. */
export class Turn {
  /** When it was asked for, or has waited for something else than its lines. */
  #asked = (moments += 1);
  readonly #lines = new Set<Line>();
  #runs = 0;
  #isCalling = false;
  /** Since when its function is waited for, in milliseconds. */
  #since: number | undefined;

  /** Whether its function is on the stack: whatever is asked for now, the function asks for. */
  get isCalling(): boolean {
    return this.#isCalling;
  }

  /** Which run of its function is waited for now, and since when. */
  get pending(): { readonly run: number; readonly since: number } | undefined {
    return this.#since === undefined ? undefined : { run: this.#runs, since: this.#since };
  }

  /** Whether it runs in turn in all of its lines: one that has broken out of a line runs besides the one whose turn it is. */
  get isHead(): boolean {
    return [...this.#lines].every((line) => line.head === this);
  }

  /** Calls the function of the task. */
  call<T>(fn: () => T): T {
    this.#runs += 1;
    this.#isCalling = true;
    try {
      return fn();
    } finally {
      this.#isCalling = false;
    }
  }

  /** Waits for what the function has answered. */
  async wait<T>(answer: PromiseLike<T>): Promise<T> {
    this.#since = performance.now();
    this.#lines.forEach((line) => line.look());
    try {
      return await answer;
    } finally {
      this.#since = undefined;
    }
  }

  /**
   * What the turn before has left, if that was written after this one was asked for: as good as read now, and one round trip
   * less.
   */
  left(): unknown {
    const [line] = this.#lines;
    return line?.left !== undefined && line.left.moment > this.#asked ? line.left.value : undefined;
  }

  /** It has waited while others may have written: what the turn before has left is as good as read now no longer. */
  forget(): void {
    this.#asked = moments += 1;
  }

  /** Begins to write. What is left for the next turn, once that is done, is given to the function that it answers. */
  writes(): (value: unknown) => void {
    const moment = (moments += 1);
    const [line] = this.#lines;
    if (line !== undefined) {
      line.left = undefined;
    }
    return (value) => {
      if (line !== undefined) {
        line.left = { moment, value };
      }
    };
  }

  /** @internal */
  enter(line: Line): void {
    this.#lines.add(line);
  }

  /** @internal */
  leave(line: Line): void {
    this.#lines.delete(line);
  }
}

/** A task that waits. */
interface Waiting {
  readonly start: () => void;
  readonly since: number;
  /** The runs that were waited for when it came: it may be theirs. `'any'`: it may always break out. */
  readonly within: ReadonlyMap<Turn, number> | 'any';
}

/** The tasks of one name. */
class Line {
  /** What the last turn has left, and when it was written. */
  left: { readonly moment: number; readonly value: unknown } | undefined;
  /** The one whose turn it is, and those that have broken out, the last one last. */
  readonly #running: Turn[] = [];
  readonly #waiting: Waiting[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  get isEmpty(): boolean {
    return this.#running.length === 0 && this.#waiting.length === 0;
  }

  /** The one whose turn it is. */
  get head(): Turn | undefined {
    return this.#running[0];
  }

  /** Whether a task that comes now is one that a running function has just asked for. */
  get isWithin(): boolean {
    return this.#running.some((turn) => turn.isCalling);
  }

  /** Runs a task at once. */
  async start<T>(turn: Turn, task: () => Promise<T>): Promise<T> {
    this.#running.push(turn);
    turn.enter(this);
    try {
      return await task();
    } finally {
      turn.leave(this);
      this.#running.splice(this.#running.indexOf(turn), 1);
      if (this.#running.length === 0) {
        this.#waiting.shift()?.start();
      }
      this.look();
    }
  }

  /** Runs a task in turn. */
  async queue<T>(turn: Turn, task: () => Promise<T>, mayBreakOut: boolean, signal: Signal | undefined): Promise<T> {
    const pending = this.#running.filter((each) => each.pending !== undefined);
    const within = mayBreakOut ? 'any' : new Map(pending.map((each) => [each, each.pending?.run ?? 0]));
    let result: Promise<T> | undefined;
    let waiting: Waiting | undefined;
    const started = new Promise<void>((resolve) => {
      const start = (): void => {
        result = this.start(turn, task);
        // A caller that was aborted no longer listens.
        result.catch(() => undefined);
        resolve();
      };
      waiting = { start, since: performance.now(), within };
      this.#waiting.push(waiting);
      this.look();
    });
    try {
      await orAborted(started, signal);
    } finally {
      if (result === undefined) {
        this.#waiting.splice(this.#waiting.indexOf(waiting as Waiting), 1);
        this.look();
      }
    }
    return await (result as unknown as Promise<T>);
  }

  /**
   * Looks whether a task that waits has to break out: a function that updates what it is updating would wait for itself. That is
   * so for none that came before the function was called, or after it has answered.
   */
  look(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const pending = this.#running.at(-1)?.pending;
    const isWithin = (within: Waiting['within']): boolean =>
      within === 'any' || this.#running.some((turn) => turn.pending !== undefined && within.get(turn) === turn.pending.run);
    const next = pending && this.#waiting.find(({ within }) => isWithin(within));
    if (pending === undefined || next === undefined) {
      return;
    }
    const patience = PATIENCE * Math.min(MOST, 2 ** (pending.run - 1));
    const left = Math.max(pending.since, next.since) + patience - performance.now();
    if (left > 0) {
      this.#timer = setTimeout(() => this.look(), left);
    } else {
      this.#waiting.splice(this.#waiting.indexOf(next), 1);
      next.start();
    }
  }
}

/** Tasks under names. */
export class Turns {
  readonly #lines = new Map<string, Line>();

  /**
   * Runs a task when all earlier ones of its name are done; at once when there are none, and when a running one asks for it. A
   * `turn` that another name has given goes on with this one; it waits for speed alone, and may always break out.
   */
  async run<T>(name: string, signal: Signal | undefined, task: (turn: Turn) => Promise<T>, given?: Turn): Promise<T> {
    let line = this.#lines.get(name);
    if (line === undefined) {
      line = new Line();
      this.#lines.set(name, line);
    }
    const turn = given ?? new Turn();
    const run = async (): Promise<T> => await task(turn);
    try {
      return await (line.isEmpty || line.isWithin ? line.start(turn, run) : line.queue(turn, run, given !== undefined, signal));
    } finally {
      if (line.isEmpty && this.#lines.get(name) === line) {
        this.#lines.delete(name);
      }
    }
  }
}
