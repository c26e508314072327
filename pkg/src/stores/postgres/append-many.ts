// Encodes a batch of events for the function that writes many, and reads the outcome of each from its answer.

import { deltaOf, textIn, type ReportedChanges } from './answers.js';
import { arrayOf, plainArrayOf } from './arrays.js';
import { expiresIn, outcomeIn } from './commit.js';
import { growthBy, roomFor, type Growth } from './limits.js';
import { PARTS, resultsIn } from './operators.js';
import { columnsOf, type PlainAppend } from './plain-append.js';
import { inLockOrder, Scopes } from './scopes.js';
import { ScopeInBatch } from './scope-in-batch.js';
import { scopeTitle, sessionTitle } from '../../store/refusals.js';
import { fromColumn, toColumn } from '../shared/column-text.js';
import { beforeOf, changedOf } from '../shared/parts.js';
import { isEmpty } from '../shared/values.js';
import type { Statement } from './client.js';
import type { Outcome } from '../shared/outcome.js';
import type { Delta } from '../../store/contract.js';

/** The answer of the function. */
interface Answer {
  /** A refusal is what the function for every change answers. */
  readonly events: readonly (readonly [
    ...[ruling: string, rev: number],
    last?: string | null,
    dataOrExpires?: string | number | null,
    results?: string | null,
    expires?: number | null,
  ])[];
  readonly scopes: readonly (readonly [no: number | null, pos: number, mark: string | null])[];
  readonly deltas: readonly (ReportedChanges | null)[] | null;
  readonly written: readonly (readonly [no: number, name: string, at: number])[] | null;
}

/** A batch on its way. */
export interface Batch {
  readonly statement: Statement;
  /** The outcome of each change, in their order, as the text of the answer says. */
  outcomes(answer: string): Outcome[];
}

/** An event with its place in the batch and the places of its scopes, from 1. */
interface Placed {
  readonly change: PlainAppend;
  readonly batchIndex: number;
  readonly app: number;
  readonly usr: number;
  readonly session: string;
  /** The values that it sets, in the order of `PARTS`, and the most that they add. */
  readonly values: readonly (readonly (readonly [name: string, text: string])[])[];
  readonly growth: readonly Growth[];
}

/** The known state of a scope. */
interface KnownScope {
  readonly place: number;
  readonly pos: number;
  readonly mark: string;
}

/** The statement that writes events. `log`: whether what they write goes into the log. */
export function appendManyStatement(schema: string, changes: readonly PlainAppend[], log: boolean): Batch {
  const scopes = new Scopes(changes);
  const placed = changes
    .map((change, batchIndex): Placed => {
      const { app, usr = 0 } = scopes.of(change.key);
      const values = PARTS.map((part) => valuesOf(change.delta[part]));
      const session = toColumn(change.key.sessionId ?? '');
      return { change, batchIndex, app, usr, session, values, growth: values.map(growthBy) };
    })
    .sort(inLockOrder);
  const columns = placed.map(({ change, growth }) => columnsOf(change, growth));
  const moved = new Set(
    placed.flatMap(({ change: { delta }, app, usr }) => [
      ...(isEmpty(delta.app) ? [] : [app]),
      ...(isEmpty(delta.user) ? [] : [usr]),
    ]),
  );
  const known = new KnownScopes(placed);
  const rooms = scopeRooms(placed);
  const values = [
    String(log),
    plainArrayOf(scopes.list.map(([parent]) => parent)),
    arrayOf(scopes.list.map(([, name]) => name)),
    plainArrayOf(scopes.list.map((_, index) => moved.has(index + 1))),
    plainArrayOf(scopes.list.map((_, index) => rooms.get(index + 1)?.[0] ?? null)),
    plainArrayOf(scopes.list.map((_, index) => rooms.get(index + 1)?.[1] ?? null)),
    plainArrayOf(placed.map(({ batchIndex }) => batchIndex)),
    plainArrayOf(placed.map(({ app }) => app)),
    plainArrayOf(placed.map(({ usr }) => usr)),
    arrayOf(placed.map(({ session }) => session)),
    arrayOf(columns.map(({ created }) => created)),
    plainArrayOf(columns.map(({ rev }) => rev)),
    plainArrayOf(columns.map(({ fence }) => fence)),
    arrayOf(columns.map(({ id }) => id)),
    arrayOf(columns.map(({ call }) => call)),
    plainArrayOf(columns.map(({ time }) => time)),
    plainArrayOf(columns.map(({ at }) => at)),
    arrayOf(columns.map(({ data }) => data)),
    arrayOf(columns.map(({ appNames }) => appNames)),
    arrayOf(columns.map(({ userNames }) => userNames)),
    plainArrayOf(columns.map(({ maxRev }) => maxRev)),
    plainArrayOf(columns.map(({ maxNames }) => maxNames)),
    plainArrayOf(columns.map(({ maxBytes }) => maxBytes)),
    ...valueArrays(placed),
    ...known.arrays(),
  ];
  const parameters = values.map((_, index) => `$${index + 1}`);
  const text = `select ${schema}.append_many(${parameters.join(', ')}) as answers`;
  return {
    statement: { text, values },
    outcomes: (answer) => outcomesOf(JSON.parse(answer) as Answer, placed, known),
  };
}

/** The most names and bytes of each scope that is far from all limits before the batch, by their places. */
function scopeRooms(placed: readonly Placed[]): ReadonlyMap<number, ReturnType<typeof roomFor>> {
  const scopes = new Map<number, { growth: Growth; keys: number; state: number }>();
  for (const { change, app, usr, growth } of placed) {
    const { keys = Infinity, state = Infinity } = change.limits ?? {};
    [app, usr].forEach((place, index) => {
      const { names, bytes } = growth[index + 1] as Growth;
      const sum = scopes.get(place) ?? { growth: { names: 0, bytes: 0 }, keys: Infinity, state: Infinity };
      scopes.set(place, {
        growth: { names: sum.growth.names + names, bytes: sum.growth.bytes + bytes },
        keys: Math.min(sum.keys, keys),
        state: Math.min(sum.state, state),
      });
    });
  }
  return new Map([...scopes].map(([place, { growth, ...limits }]) => [place, roomFor(growth, limits)]));
}

/** The arrays of the values that are set and deleted. */
function valueArrays(placed: readonly Placed[]): (string | null)[] {
  const [events, parts, names, texts]: [number[], number[], string[], string[]] = [[], [], [], []];
  const [unsetEvents, unsetNames]: [number[], string[]] = [[], []];
  placed.forEach(({ change: { delta }, values }, index) => {
    values.forEach((entries, part) => {
      for (const [name, text] of entries) {
        events.push(index + 1);
        parts.push(part);
        names.push(name);
        texts.push(text);
      }
    });
    for (const name of delta.session?.unset ?? []) {
      unsetEvents.push(index + 1);
      unsetNames.push(toColumn(name));
    }
  });
  return [
    plainArrayOf(events),
    plainArrayOf(parts),
    arrayOf(names),
    arrayOf(texts),
    ...(unsetNames.length > 0 ? [plainArrayOf(unsetEvents), arrayOf(unsetNames)] : [null, null]),
  ];
}

/** The values that a delta sets: their names as columns, and their texts. */
function valuesOf({ set = {} }: Delta = {}): (readonly [name: string, text: string])[] {
  return Object.keys(set).map((name) => [toColumn(name), JSON.stringify(set[name])]);
}

/** The positions and marks of scopes that the callers of a batch know: each once. */
class KnownScopes {
  readonly list: KnownScope[] = [];
  readonly #indices = new Map<string, number>();

  constructor(placed: readonly Placed[]) {
    for (const { change, app, usr } of placed) {
      this.#add(app, change.known?.pos?.app, change.known?.marks?.app);
      this.#add(usr, change.known?.pos?.user, change.known?.marks?.user);
    }
  }

  /** The place in the list; `undefined` where nothing useful is known. */
  indexOf(place: number, pos: number | undefined, mark: string | undefined): number | undefined {
    return this.#indices.get(nameOf(place, pos, mark));
  }

  arrays(): string[] {
    return [
      plainArrayOf(this.list.map(({ place }) => place)),
      plainArrayOf(this.list.map(({ pos }) => pos)),
      arrayOf(this.list.map(({ mark }) => toColumn(mark))),
    ];
  }

  /** A position without its mark proves nothing. */
  #add(place: number, pos: number | undefined, mark: string | undefined): void {
    const name = nameOf(place, pos, mark);
    if (pos !== undefined && mark !== undefined && Number.isSafeInteger(pos) && !this.#indices.has(name)) {
      this.#indices.set(name, this.list.push({ place, pos, mark }) - 1);
    }
  }
}

function nameOf(place: number, pos: number | undefined, mark: string | undefined): string {
  return `${place} ${pos} ${mark}`;
}

/** The outcome of each change, in the order of the batch, in which the scopes go on from where they were before it. */
function outcomesOf(
  { events, scopes: bases, deltas, written }: Answer,
  placed: readonly Placed[],
  known: KnownScopes,
): Outcome[] {
  const numbers = new Map(bases.map(([no], index) => [no, index + 1]));
  const scopes = bases.map(([, pos, mark]) => new ScopeInBatch(pos, textIn(mark)));
  const scopeAt = (place: number): ScopeInBatch => scopes[place - 1] as ScopeInBatch;
  (written ?? []).forEach(([no, name, at]) => scopeAt(numbers.get(no) ?? 0).wasWritten(fromColumn(name), at));
  known.list.forEach(({ place, pos, mark }, index) => {
    const { app, usr, change } = placed.find((each) => each.app === place || each.usr === place) as Placed;
    const title = scopeTitle({
      app: change.key.appName,
      ...(place === usr && place !== app && { user: change.key.userId }),
    });
    scopeAt(place).knows(index, { pos, mark, changes: deltaOf(deltas?.[index], title) });
  });
  const outcomes: Outcome[] = [];
  const inBatchOrder = placed
    .map((each, index) => ({ ...each, event: events[index] }))
    .sort((a, b) => a.batchIndex - b.batchIndex);
  for (const { change, app, usr, event = ['not-found', 0] as const } of inBatchOrder) {
    const [ruling, rev, last, data, results, expires] = event;
    const [ofApp, ofUser] = [scopeAt(app), scopeAt(usr)];
    const before = beforeOf(ofApp.mark, ofUser.mark, textIn(last));
    switch (ruling) {
      case 'written': {
        const { pos, marks } = change.known ?? {};
        const changed = changedOf(
          ofApp.changedSince(known.indexOf(app, pos?.app, marks?.app)),
          ofUser.changedSince(known.indexOf(usr, pos?.user, marks?.user)),
        );
        ofApp.apply(change, change.delta.app);
        ofUser.apply(change, change.delta.user);
        const at = { app: ofApp.pos, user: ofUser.pos };
        outcomes.push({ rev: rev + 1, prev: rev, pos: at, ...changed, before, ...expiresIn(data as number | null) });
        break;
      }
      case 'duplicate': {
        const at = { app: ofApp.pos, user: ofUser.pos };
        const duplicate = {
          rev,
          prev: rev,
          pos: at,
          duplicate: true as const,
          before,
          data: fromColumn(data as string),
        };
        outcomes.push({ ...duplicate, ...resultsIn(results, sessionTitle(change.key)), ...expiresIn(expires) });
        break;
      }
      default:
        outcomes.push(outcomeIn(event, change));
    }
  }
  return outcomes;
}
