-- Takes the lease of a name, makes it last longer or gives it back, see decide_lease. Answers as lease does.
create function statepad.claim(
  claim_name text,
  new_holder text,
  ttl double precision,
  known_fence double precision
) returns text language plpgsql
  :settings
as $claim$
declare
  own statepad.claims;
  decided record;
begin
  -- What upgrades the schema has this table for itself, see refuse_version.
  perform from statepad.scopes scope where scope.no = 0;
  if not exists (select from statepad.statepad_version version where version.version = :version) then
    perform statepad.refuse_version();
  end if;
  insert into statepad.claims (name) values (claim_name) on conflict do nothing;
  select claim.* into own from statepad.claims claim where claim.name = claim_name for no key update;
  select lease.* into decided
    from statepad.decide_lease(own.fence, own.holder, own.held_until, new_holder, ttl, known_fence) lease;
  if decided.refusal is not null then
    return decided.refusal;
  end if;
  update statepad.claims claim
    set fence = decided.fence, holder = decided.holder, held_until = decided.held_until
    where claim.name = claim_name;
  return json_build_array(decided.fence, coalesce(decided.held_until, decided.now_ms));
end
$claim$;
