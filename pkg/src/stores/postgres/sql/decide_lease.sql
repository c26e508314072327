-- Decides a request for a lease by the rules of decideLease: without known_fence it is taken, with it and a ttl above 0
-- it lasts longer, with 0 it is given back. Times are in milliseconds since the epoch, by the clock of the database; the
-- row is locked. It runs with the settings of what calls it.
create function statepad.decide_lease(
  inout fence integer,
  inout holder text,
  inout held_until double precision,
  new_holder text,
  ttl double precision,
  known_fence double precision,
  -- Null where the request is granted; otherwise the answer, with the row as it is and stays:
  -- ["refused", fence, holder, until, now].
  out refusal text,
  out now_ms double precision
) language plpgsql
as $decide$
begin
  -- Looked at when the row is locked: another one may have been waited for.
  now_ms := floor(extract(epoch from clock_timestamp()) * 1000);
  if known_fence is null and holder <> new_holder and held_until > now_ms
    or fence <> known_fence or known_fence is not null and holder is distinct from new_holder
  then
    refusal := json_build_array('refused', fence, holder, held_until, now_ms);
  elsif known_fence is null then
    fence := fence + case when holder = new_holder then 0 else 1 end;
    holder := new_holder;
    held_until := now_ms + ttl;
  elsif ttl > 0 then
    held_until := now_ms + ttl;
  else
    fence := fence + 1;
    holder := null;
    held_until := null;
  end if;
end
$decide$;
