-- Gives a turn, or a place in the queue, back.
create function statepad.release(wanted bigint, own bigint) returns void language plpgsql
  :settings
as $release$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from statepad.turns turn where turn.target = wanted and turn.ticket = own;
end
$release$;
