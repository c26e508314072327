-- Releases a reservation, or gives up a place in the queue.
create function statepad.release(target_hash bigint, own bigint) returns void language plpgsql
  :settings
as $release$
begin
  perform set_config('synchronous_commit', 'off', true);
  delete from statepad.reservations reservation
    where reservation.target = target_hash and reservation.ticket = own;
end
$release$;
