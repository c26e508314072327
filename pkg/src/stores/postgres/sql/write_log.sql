-- Writes into the log what a change, as batchOf writes it, does to the app and the user, before it does that. The
-- positions are those after it. A name that is deleted and set again is one write, in the place of the latter;
-- deletions come before all else. It runs with the settings of commit, which calls it.
create function statepad.write_log(
  change jsonb,
  app_no bigint,
  app_pos bigint,
  user_no bigint,
  user_pos bigint,
  user_name text
) returns void language plpgsql
as $log$
begin
  with items as materialized (
    select kind.name as kind, each.item->>0 as scope, each.item->>1 as name, each.item->>2 as value, each.nth
      from unnest(array['set', 'unset']) kind (name),
        jsonb_array_elements(change->kind.name) with ordinality each (item, nth)
      where each.item->>0 <> 'session'),
  written as (
    select sets.scope, sets.name, sets.value, sets.nth from items sets where sets.kind = 'set'
    union all
    select unset.scope, unset.name, null, -1000000 + min(unset.nth) from items unset
      where unset.kind = 'unset'
        and (unset.scope, unset.name) not in (select sets.scope, sets.name from items sets where sets.kind = 'set')
      group by unset.scope, unset.name
    union all
    select unset.scope, null, null, 0 from items unset where unset.kind = 'unset' group by unset.scope)
  insert into statepad.log (scope, pos, nth, name, was, value, time, user_id, session_id, event)
    select case written.scope when 'app' then app_no else user_no end,
        case written.scope when 'app' then app_pos else user_pos end,
        written.nth, written.name, old.value, written.value, (change->'time')::float8,
        case when change ? 'session' then user_name end, change->>'session',
        case change->>'kind' when 'append' then change->>'id' end
      from written left join statepad.state old
        on old.owner = case written.scope when 'app' then app_no else user_no end and old.name = written.name
      where written.name is null or written.value is not null or old.value is not null;
end
$log$;
