-- Asks for a reservation, where many write the same values: own is null at first, and then the ticket of the answer.
-- Answers a number for the target, the ticket, how many are before it, and how many behind; a ticket that was not
-- asked for in time is replaced by a new one. The first has the reservation, for hold milliseconds. It never waits for
-- others to end theirs: the connection might be the one that the holder needs.
create function statepad.reserve(name text, own bigint, hold integer, timeout integer) returns text language plpgsql
  :settings
as $reserve$
declare
  target_hash bigint := hashtextextended(name, 0);
  until timestamp with time zone;
  before_it integer;
  behind_it integer;
begin
  perform set_config('synchronous_commit', 'off', true);
  -- One at a time: otherwise two could both be the first.
  perform pg_advisory_xact_lock(target_hash);
  delete from statepad.reservations reservation
    where reservation.target = target_hash and reservation.due < clock_timestamp();
  select reservation.due into until from statepad.reservations reservation
    where reservation.target = target_hash and reservation.ticket = own;
  if not found then
    insert into statepad.reservations as reservation (target, ticket, due)
      values (target_hash, nextval('statepad.tickets'), clock_timestamp() + timeout * interval '1 ms')
      returning reservation.ticket, reservation.due into own, until;
  end if;
  select count(*) filter (where reservation.ticket < own), count(*) filter (where reservation.ticket > own)
    into before_it, behind_it from statepad.reservations reservation where reservation.target = target_hash;
  if before_it = 0 then
    update statepad.reservations reservation set due = clock_timestamp() + hold * interval '1 ms'
      where reservation.target = target_hash and reservation.ticket = own;
  elsif until < clock_timestamp() + timeout * interval '0.5 ms' then
    update statepad.reservations reservation set due = clock_timestamp() + timeout * interval '1 ms'
      where reservation.target = target_hash and reservation.ticket = own;
  end if;
  return json_build_array(target_hash::text, own::text, before_it, behind_it);
end
$reserve$;
