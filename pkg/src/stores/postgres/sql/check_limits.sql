-- Answers a change, as batchOf writes it, after which there would be more than its limits allow, when all else has been
-- found to be right: ["limit", limit, scope, size, name]; null where there would not. What operators come to is the end
-- of what the change sets. The scopes are locked. It runs with the settings of commit, which calls it.
--
-- The size of a scope is the number of bytes of its names and its values.
create function statepad.check_limits(
  change jsonb,
  app_no bigint,
  user_no bigint,
  own_no bigint,
  own_rev integer
) returns text language plpgsql
as $limits$
declare
  limits double precision[] := string_to_array(change->>'limits', ',', '')::float8[];
  max_value double precision := limits[1];
  max_state double precision := limits[2];
  max_keys double precision := limits[3];
  max_events double precision := limits[4];
  given integer := coalesce(jsonb_array_length(change->'set'), 0) - coalesce(jsonb_array_length(change->'ops'), 0);
begin
  return (with places as (
      select place.*, coalesce(scope.names, session.names, 0) as names, coalesce(scope.bytes, session.bytes, 0) as bytes
        from (values (1, 'app', app_no), (2, 'user', user_no), (3, 'session', own_no)) place (nth, scope, owner)
        left join statepad.scopes scope on scope.no = place.owner
        left join statepad.sessions session
          on session.usr = user_no and session.id = change->>'session' and session.no = place.owner),
    entries as (
      select new.key->>0 as scope, new.key->>1 as name, new.key->>2 as value,
          case when new.nth > given then new.nth end as nth
        from jsonb_array_elements(change->'set') with ordinality new (key, nth)
      union all
      select unset.key->>0, unset.key->>1, null, null from jsonb_array_elements(change->'unset') unset (key)),
    -- A name that is deleted and set again has the value.
    written as materialized (
      select entries.scope, entries.name, max(entries.value) as value, max(entries.nth) as nth
        from entries group by entries.scope, entries.name),
    sized as materialized (
      select places.nth as place, written.scope, written.name, written.nth, octet_length(written.value) as size,
          octet_length(old.value) as was, statepad.name_size(written.name) as name_size
        from written join places on places.scope = written.scope
        left join lateral (select state.value from statepad.state state
          where state.owner = places.owner and state.name = written.name collate "C" limit 1) old on true),
    grown as materialized (
      select places.nth as place, places.scope, places.names, places.bytes,
          places.names + sum((sized.size is not null)::integer - (sized.was is not null)::integer) as new_names,
          places.bytes
            + sum(coalesce(sized.size + sized.name_size, 0) - coalesce(sized.was + sized.name_size, 0)) as new_bytes
        from places join sized on sized.place = places.nth
        group by places.nth, places.scope, places.names, places.bytes),
    beyond as (
      select 0 as place, 0 as part, 0 as nth, json_build_array('limit', 'events', null, own_rev + 1) as answer
        where change->>'kind' = 'append' and own_rev >= max_events
      union all
      select sized.place, 1, sized.nth, json_build_array('limit', 'value', sized.scope, sized.size, sized.name)
        from sized where sized.nth is not null and sized.size > greatest(max_value, sized.was)
          and max_value is not null
      union all
      select grown.place, 2, 0, json_build_array('limit', 'keys', grown.scope, grown.new_names)
        from grown where grown.new_names > greatest(max_keys, grown.names)
          and max_keys is not null
      union all
      select grown.place, 3, 0, json_build_array('limit', 'state', grown.scope, grown.new_bytes)
        from grown where grown.new_bytes > greatest(max_state, grown.bytes)
          and max_state is not null)
    select beyond.answer from beyond order by beyond.place, beyond.part, beyond.nth limit 1);
end
$limits$;
