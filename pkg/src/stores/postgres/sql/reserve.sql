-- Asks for a turn, where many write the same values: own is null at first, and then the ticket that was answered.
-- Answers a number for the target, the ticket, how many are before it, and how many behind; a ticket that was not
-- asked for in time is replaced by a new one. The first has the turn, for hold milliseconds. It never waits for others
-- to end theirs: the connection might be the one that the holder needs.
create function statepad.reserve(name text, own bigint, hold integer, timeout integer) returns text language plpgsql
  :settings
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
  delete from statepad.turns turn where turn.target = wanted and turn.due < clock_timestamp();
  select turn.due into until from statepad.turns turn where turn.target = wanted and turn.ticket = own;
  if not found then
    insert into statepad.turns as turn (target, ticket, due)
      values (wanted, nextval('statepad.tickets'), clock_timestamp() + timeout * interval '1 ms')
      returning turn.ticket, turn.due into own, until;
  end if;
  select count(*) filter (where turn.ticket < own), count(*) filter (where turn.ticket > own)
    into before_it, behind_it from statepad.turns turn where turn.target = wanted;
  if before_it = 0 then
    update statepad.turns turn set due = clock_timestamp() + hold * interval '1 ms'
      where turn.target = wanted and turn.ticket = own;
  elsif until < clock_timestamp() + timeout * interval '0.5 ms' then
    update statepad.turns turn set due = clock_timestamp() + timeout * interval '1 ms'
      where turn.target = wanted and turn.ticket = own;
  end if;
  return json_build_array(wanted::text, own::text, before_it, behind_it);
end
$reserve$;
