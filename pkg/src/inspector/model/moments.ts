// All keys of a session at any of its moments. Own keys are computed here, from the state of the creation and the log;
// for `app:` and `user:` keys the source has the last word.

import type { Json, Session } from '../../index.js';
import { KeyPasts, type KeyPast, type KeyWrite } from './key-past.js';
import { isContinued, splitKey, type Log } from './log.js';
import { changeOf, isEqual, isSameRow, rowOf, type KeyRow, type KeyWriter } from './rows.js';
import { isShared, sharedIn, SharedMoments } from './shared-moments.js';
import type { InspectorSource } from './source.js';

/** A moment to compute the rows of. */
export interface MomentRequest {
  readonly revision: number;
  /** The `temp:` keys that are visible at the moment. */
  readonly temp?: Readonly<Record<string, Json>> | undefined;
  /** Rows that were computed before: those that have not changed are used again. */
  readonly previous?: readonly KeyRow[] | undefined;
}

/** The most keys whose creation the source is asked for at one moment. */
const ASKED_KEYS = 50;

/** The moments of one session. */
export class Moments {
  readonly #source: InspectorSource;
  readonly #session: () => Session;
  readonly #log: Log;
  readonly #shared = new SharedMoments();
  /** Own keys at the creation; `undefined` until the source has told them. */
  #creation: Readonly<Record<string, Json>> | undefined;
  #creating: Promise<void> | undefined;
  #pasts = new KeyPasts({});
  #events: readonly object[] = [];
  /** Of shared keys that no event has written: what the creation has written, or `undefined` for nothing. */
  readonly #creators = new Map<string, KeyWriter | undefined>();

  /** `session` answers the session as it is known now, and `log` has its events. */
  constructor(source: InspectorSource, session: () => Session, log: Log) {
    this.#source = source;
    this.#session = session;
    this.#log = log;
  }

  /** True when the moment is known exactly: its own keys, and its `app:` and `user:` keys as they were then. */
  isExact(revision: number): boolean {
    return this.#isNow(revision) || (this.#creation !== undefined && this.#shared.answer(revision)?.exact === true);
  }

  /** True when the source has nothing more to tell about a moment. */
  isSettled(revision: number): boolean {
    return (
      this.#creation !== undefined && this.#revisionsToAsk(revision).length + this.#keysToAsk(revision).length === 0
    );
  }

  /** All writes of a key by the session, its creation included, oldest first. */
  writesOf(key: string): readonly KeyWriter[] {
    return this.#current.of(key)?.writes ?? [];
  }

  /** All keys at a moment, including those that its turn has deleted, by what is known now. */
  rows({ revision, temp = {}, previous = [] }: MomentRequest): readonly KeyRow[] {
    const pasts = this.#current;
    const first = this.#log.turns[revision - 1] ?? revision + 1;
    const rows: KeyRow[] = this.#unwritten(pasts);
    pasts.forEachAt(revision, (past, write) => rows.push(ownRow(past, write, first)));
    pasts.forEachGone(first - 1, revision, (past) => rows.push(goneRow(past, revision, first)));
    const others = [...this.#sharedRows(pasts, revision, first), ...Object.entries(temp).map(tempRow)];
    return rows.concat(kept(others, previous));
  }

  /**
   * Asks the source for what is not known of a moment. Throws the errors of the source; a moment that it does not tell
   * remains as the log has it.
   */
  async settle(revision: number, signal: AbortSignal): Promise<void> {
    await this.#readCreation(signal);
    const { appName, userId, id } = this.#session();
    const name = { appName, userId, id };
    await Promise.all(
      this.#revisionsToAsk(revision).map(async (at) => {
        const { state, exact } = await this.#source.stateAt(name, at, { detailed: true, signal });
        this.#shared.settle(at, state, exact);
      }),
    );
    await Promise.all(
      this.#keysToAsk(revision).map(async (key) => {
        const [step] = await this.#source.history(name, key, { until: 0, last: 1, signal });
        this.#creators.set(key, step === undefined ? undefined : { revision: 0, to: step.to });
      }),
    );
  }

  /** The pasts of all keys, up to date with the log. */
  get #current(): KeyPasts {
    const { events } = this.#log;
    if (!isContinued(this.#events, events)) {
      this.#pasts = new KeyPasts(this.#creation ?? {});
    }
    this.#events = events;
    this.#pasts.extend(events);
    return this.#pasts;
  }

  #isNow(revision: number): boolean {
    return revision >= this.#session().revision;
  }

  async #readCreation(signal: AbortSignal): Promise<void> {
    if (this.#creation === undefined) {
      const { appName, userId, id } = this.#session();
      // Not aborted: every later moment needs it.
      this.#creating ??= this.#source
        .stateAt({ appName, userId, id }, 0, { detailed: true })
        .then(({ state, exact }) => {
          this.#shared.settle(0, state, exact);
          this.#creation = Object.fromEntries(Object.entries(state).filter(([key]) => !isShared(key)));
          this.#pasts = new KeyPasts(this.#creation);
        })
        .finally(() => {
          this.#creating = undefined;
        });
      await this.#creating;
      signal.throwIfAborted();
    }
  }

  /** The revisions whose shared keys are not known: the moment, and that before a turn that wrote such keys. */
  #revisionsToAsk(revision: number): readonly number[] {
    const first = this.#log.turns[revision - 1] ?? revision + 1;
    const hasWritten = this.#current.shared.some((past) => (past.at(revision)?.revision ?? 0) >= first);
    return [revision, ...(hasWritten ? [first - 1] : [])].filter(
      (at) => !this.#isNow(at) && this.#shared.answer(at) === undefined,
    );
  }

  /** The shared keys that perhaps the creation has written: no event has, and the source was not asked. */
  #keysToAsk(revision: number): readonly string[] {
    const pasts = this.#current;
    return [...this.#sharedAt(pasts, revision).keys()]
      .filter((key) => !this.#creators.has(key) && pasts.of(key)?.at(revision) === undefined)
      .slice(0, Math.max(ASKED_KEYS - this.#creators.size, 0));
  }

  /**
   * The own keys that no event has written, while the creation is not known: they are from it, because nothing else
   * writes them, unless the events are not all there.
   */
  #unwritten(pasts: KeyPasts): KeyRow[] {
    if (this.#creation !== undefined) {
      return [];
    }
    const source = this.#log.missing > 0 ? 'elsewhere' : 'creation';
    return Object.entries(this.#session().state).flatMap(([key, value]) =>
      splitKey(key).scope === 'session' && pasts.of(key) === undefined
        ? [rowOf(key, value, { change: undefined, before: undefined, writer: undefined, source })]
        : [],
    );
  }

  #sharedAt(pasts: KeyPasts, revision: number): ReadonlyMap<string, Json> {
    const session = this.#session();
    return this.#isNow(revision) ? sharedIn(session.state) : this.#shared.at(revision, session, pasts);
  }

  #sharedRows(pasts: KeyPasts, revision: number, first: number): readonly KeyRow[] {
    const values = this.#sharedAt(pasts, revision);
    const written = new Set(pasts.shared.filter((past) => (past.at(revision)?.revision ?? 0) >= first));
    const before = written.size === 0 ? new Map<string, Json>() : this.#sharedAt(pasts, first - 1);
    const rows = [...values].map(([key, value]) => {
      const past = pasts.of(key);
      const write = past?.at(revision);
      const turn = past !== undefined && written.has(past) ? turnOf(before.get(key), value) : NO_TURN;
      const writer = write ?? this.#creators.get(key);
      const isIts = writer !== undefined && isEqual(writer.to, value);
      const source = !isIts ? 'elsewhere' : writer.event === undefined ? 'creation' : 'event';
      return rowOf(key, value, { ...turn, writer, source });
    });
    const gone = [...written].flatMap((past) => {
      const was = before.get(past.key);
      const writer = past.at(revision);
      const isGone = was !== undefined && !values.has(past.key);
      return isGone ? [rowOf(past.key, undefined, { change: 'deleted', before: was, writer, source: 'event' })] : [];
    });
    return [...rows, ...gone];
  }
}

const NO_TURN = { change: undefined, before: undefined } as const;

/** The effect of a turn, with the value before if it changed it. */
function turnOf(before: Json | undefined, after: Json | undefined): Pick<KeyRow, 'change' | 'before'> {
  const change = changeOf(before, after);
  return change === undefined ? NO_TURN : { change, before };
}

/** The row of an own key at a moment whose turn begins at `first`. */
function ownRow(past: KeyPast, write: KeyWrite, first: number): KeyRow {
  const source = write.event === undefined ? 'creation' : 'event';
  if (write.revision < first) {
    return (write.row ??= rowOf(past.key, write.to, { ...NO_TURN, writer: write, source }));
  }
  if (write.turn?.first !== first) {
    const turn = turnOf(past.at(first - 1)?.to, write.to);
    write.turn = { first, row: rowOf(past.key, write.to, { ...turn, writer: write, source }) };
  }
  return write.turn.row;
}

/** The row of an own key that the turn has deleted. */
function goneRow(past: KeyPast, revision: number, first: number): KeyRow {
  const write = past.at(revision) as KeyWrite;
  if (write.turn?.first !== first) {
    const before = past.at(first - 1)?.to;
    write.turn = {
      first,
      row: rowOf(past.key, undefined, { change: 'deleted', before, writer: write, source: 'event' }),
    };
  }
  return write.turn.row;
}

function tempRow([key, value]: readonly [string, Json]): KeyRow {
  return rowOf(key, value, { ...NO_TURN, writer: undefined, source: 'temp' });
}

/** Rows, or those before that show the same. */
function kept(rows: readonly KeyRow[], previous: readonly KeyRow[]): readonly KeyRow[] {
  if (rows.length === 0 || previous.length === 0) {
    return rows;
  }
  const known = new Map<string, KeyRow>();
  for (const row of previous) {
    if (row.scope !== 'session') {
      known.set(row.key, row);
    }
  }
  return rows.map((row) => {
    const before = known.get(row.key);
    return before !== undefined && isSameRow(before, row) ? before : row;
  });
}
