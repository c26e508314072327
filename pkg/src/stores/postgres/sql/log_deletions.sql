-- Writes into the log what a change, as batchOf writes it, deletes of the app's and the user's values, before it does
-- that: before all that it sets, and without a name that it sets again, which is one write. The positions are those
-- after it. It runs with the settings of commit, which calls it.
create function statepad.log_deletions(
  change jsonb,
  app_no bigint,
  app_pos bigint,
  user_no bigint,
  user_pos bigint,
  user_name text
) returns void language plpgsql
as $log$
begin
  with deleted as materialized (
    select unset.key->>0 as scope, unset.key->>1 as name, min(unset.nth) as nth,
        case unset.key->>0 when 'app' then app_no else user_no end as owner
      from jsonb_array_elements(change->'unset') with ordinality unset (key, nth)
      where unset.key->>0 <> 'session' group by 1, 2),
  written as (
    select deleted.scope, deleted.owner, deleted.name, -1000000 + deleted.nth as nth, old.value as was
      from deleted join statepad.state old on old.owner = deleted.owner and old.name = deleted.name
      where (deleted.scope, deleted.name) not in (
        select new.key->>0, new.key->>1 from jsonb_array_elements(change->'set') new (key))
    union all
    select deleted.scope, deleted.owner, null, 0, null from deleted group by deleted.scope, deleted.owner)
  insert into statepad.log (scope, pos, nth, name, was, time, user_id, session_id, event)
    select written.owner, case written.scope when 'app' then app_pos else user_pos end, written.nth, written.name,
        written.was, (change->'time')::float8, case when change ? 'session' then user_name end, change->>'session',
        case change->>'kind' when 'append' then change->>'id' end
      from written;
end
$log$;
