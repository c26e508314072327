-- Answers a change, as batchOf writes it, whose guard does not hold: ["fenced", actual], ["conflict", actual] or
-- ["conflict"]; null where it holds. It runs with the settings of commit, which calls it.
create function statepad.check_guard(
  change jsonb,
  app_no bigint,
  app_pos bigint,
  user_no bigint,
  user_pos bigint,
  own_no bigint,
  own_rev integer
) returns text language plpgsql
as $guard$
declare
  guard jsonb := change->'guard';
  own_fence integer;
begin
  if guard ? 'fence' then
    -- Of an update, and of what is created now, there is no lease.
    own_fence := coalesce((select session.fence from statepad.sessions session
      where session.usr = user_no and session.id = change->>'session' and session.no = own_no), 0);
  end if;
  if (guard->'fence')::float8 <> own_fence then
    return '["fenced",' || own_fence || ']';
  elsif (guard->'rev')::float8 <> own_rev then
    return '["conflict",' || own_rev || ']';
  elsif (guard->'app')::float8 <> app_pos or (guard->'user')::float8 <> user_pos then
    return '["conflict"]';
  elsif guard ? 'keys' then
    -- A name that is expected to be absent has null here, and so has one that is.
    perform from jsonb_array_elements(guard->'keys') expected (key)
      left join statepad.state state on state.name = expected.key->>1
        and state.owner = case expected.key->>0 when 'app' then app_no when 'user' then user_no else own_no end
      where state.value is distinct from expected.key->>2;
    if found then
      return '["conflict"]';
    end if;
  end if;
  return null;
end
$guard$;
