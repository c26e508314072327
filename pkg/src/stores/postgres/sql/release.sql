-- Releases a reservation, or gives up a place in the queue.
create function statepad.release(target_hash bigint, own bigint) returns void language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off
as $release$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from statepad.reservations reservation
    where reservation.target = target_hash and reservation.ticket = own;
end
$release$;
