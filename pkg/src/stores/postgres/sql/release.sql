-- Gives a turn, or a place in the queue, back.
create function statepad.release(wanted bigint, own bigint) returns void language plpgsql
  set search_path = pg_catalog, pg_temp
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set jit = off
as $release$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from statepad.turns turn where turn.target = wanted and turn.ticket = own;
end
$release$;
