// Turns: who may go next where many want to write the same values. For speed alone: none of it needs to be on disk.

import { literal, SETTINGS } from './functions/common.js';
import { toColumn } from '../shared/column-text.js';
import { sleep } from '../../async/sleep.js';
import type { Hint, StoreContext, Turn, TurnTimes } from '../../store/contract.js';

/** For how long a place in the queue is kept for a caller that has not asked again, in milliseconds. */
const PATIENCE = 1_500;
/** How long a caller that waits sleeps between two questions, in milliseconds, at least and at most. */
const SHORTEST = 2;
const LONGEST = 200;
/** What part of the time that the queue is expected to take is slept through before it is asked again. */
const PART = 0.5;

/** Asks the database for one text, the only value that a statement answers. */
type Ask = (text: string, ...values: (string | null)[]) => Promise<string>;

/**
 * The function that asks for a turn: `own` is null at first, and then the ticket that was answered. Answers a number for the
 * target, the ticket, how many are before it, and how many behind; a ticket that was not asked for in time is replaced by a
 * new one. The first has the turn, for `hold` milliseconds. It never waits for others to end theirs: the connection might be
 * the one that the holder needs.
 */
export function reserveFunction(schema: string): string {
  return `create function ${schema}.reserve_v2(name text, own bigint, hold integer, patience integer) returns text ${SETTINGS}
as $reserve$
declare
  wanted bigint := hashtextextended(name, 0);
  until timestamp with time zone;
  before_it integer;
  behind_it integer;
begin
  perform set_config('synchronous_commit', 'off', true);
  -- One at a time: otherwise two could both be the first.
  perform pg_advisory_xact_lock(wanted);
  delete from ${schema}.turns turn where turn.target = wanted and turn.due < clock_timestamp();
  select turn.due into until from ${schema}.turns turn where turn.target = wanted and turn.ticket = own;
  if not found then
    insert into ${schema}.turns as turn (target, ticket, due)
      values (wanted, nextval(${literal(`${schema}.tickets`)}), clock_timestamp() + patience * interval '1 ms')
      returning turn.ticket, turn.due into own, until;
  end if;
  select count(*) filter (where turn.ticket < own), count(*) filter (where turn.ticket > own) into before_it, behind_it
    from ${schema}.turns turn where turn.target = wanted;
  if before_it = 0 then
    update ${schema}.turns turn set due = clock_timestamp() + hold * interval '1 ms' where turn.target = wanted and turn.ticket = own;
  elsif until < clock_timestamp() + patience * interval '0.5 ms' then
    update ${schema}.turns turn set due = clock_timestamp() + patience * interval '1 ms'
      where turn.target = wanted and turn.ticket = own;
  end if;
  return json_build_array(wanted::text, own::text, before_it, behind_it);
end
$reserve$`;
}

/** The function that gives a turn, or a place in the queue, back. */
export function releaseFunction(schema: string): string {
  return `create function ${schema}.release_v2(wanted bigint, own bigint) returns void ${SETTINGS}
as $release$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from ${schema}.turns turn where turn.target = wanted and turn.ticket = own;
end
$release$`;
}

/** The statement of a commit that ends the turn of a change, whose target and ticket are a list of two texts. */
export function endOfTurn(schema: string, turn: string): string {
  return `delete from ${schema}.turns turn where turn.target = (${turn}->>0)::bigint and turn.ticket = (${turn}->>1)::bigint`;
}

/** The target and the ticket of a turn; `undefined` when it is none of this store's. */
export function partsOfTurn(id: string | undefined): readonly [target: string, ticket: string] | undefined {
  const [, target, ticket] = /^(-?\d{1,19}):(\d{1,18})$/.exec(id ?? '') ?? [];
  return target === undefined || ticket === undefined ? undefined : [target, ticket];
}

/** See `SessionStore.reserve`. */
export async function takeTurn(
  ask: Ask,
  schema: string,
  { appName, userId, sessionId }: Hint,
  { hold, wait }: TurnTimes,
  { signal }: StoreContext,
): Promise<Turn | undefined> {
  const parts = [appName, userId, sessionId].filter((part) => part !== undefined).map(toColumn);
  const name = `statepad turn ${schema} ${JSON.stringify(parts)}`;
  const begin = performance.now();
  let last: { readonly ticket: string; readonly before: number; readonly at: number } | undefined;
  // How long one turn takes, in milliseconds: a guess to begin with, then what the queue has shown.
  let pace = 5;
  for (;;) {
    const values = [name, last?.ticket ?? null, String(Math.ceil(hold)), String(PATIENCE)];
    const place = await ask(`select ${schema}.reserve_v2($1, $2, $3, $4) as answer`, ...values);
    const [target, ticket, before, behind] = JSON.parse(place) as readonly [string, string, number, number];
    const give = async (): Promise<void> => {
      await ask(`select ${schema}.release_v2($1, $2)::text as answer`, target, ticket).catch(() => undefined);
    };
    if (before === 0) {
      return { id: `${target}:${ticket}`, contended: last !== undefined || behind > 0, release: give };
    }
    const at = performance.now();
    if (last !== undefined) {
      const turns = last.before - before;
      pace = turns > 0 ? (at - last.at) / turns : Math.max(pace, at - last.at);
    }
    last = { ticket, before, at };
    // The next one asks as often as it may; the others are to be awake when they are the next one.
    const pause = Math.min(LONGEST, Math.max(SHORTEST, (before - 1) * pace * PART));
    if (signal.aborted || at + pause - begin > wait) {
      await give();
      return undefined;
    }
    await sleep(pause);
  }
}
