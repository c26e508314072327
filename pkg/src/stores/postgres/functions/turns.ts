// The functions inside the database for turns: who may go next where many write the same values.

import { literal, SETTINGS } from './common.js';

/**
 * The function that asks for a turn: `own` is null at first, and then the ticket that was answered. Answers a number
 * for the target, the ticket, how many are before it, and how many behind; a ticket that was not asked for in time is
 * replaced by a new one. The first has the turn, for `hold` milliseconds. It never waits for others to end theirs: the
 * connection might be the one that the holder needs.
 */
export function reserveFunction(schema: string): string {
  return `create function ${schema}.reserve_v2(name text, own bigint, hold integer, timeout integer) returns text ${SETTINGS}
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
      values (wanted, nextval(${literal(`${schema}.tickets`)}), clock_timestamp() + timeout * interval '1 ms')
      returning turn.ticket, turn.due into own, until;
  end if;
  select count(*) filter (where turn.ticket < own), count(*) filter (where turn.ticket > own) into before_it, behind_it
    from ${schema}.turns turn where turn.target = wanted;
  if before_it = 0 then
    update ${schema}.turns turn set due = clock_timestamp() + hold * interval '1 ms' where turn.target = wanted and turn.ticket = own;
  elsif until < clock_timestamp() + timeout * interval '0.5 ms' then
    update ${schema}.turns turn set due = clock_timestamp() + timeout * interval '1 ms'
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
