-- Tells what has happened to a scope after the position since, which has to have the mark, until the position until,
-- as JSON: {"set": [[name, value], …], "unset": [name, …]}, both in the order of writing; null when that cannot be
-- told for sure. The values are those of now: the scope may not have moved beyond until in what the statement sees
-- that calls it, which is what the function sees.
--
-- A name was deleted when it is not there any more. One that has come into being since is in both lists: it may have
-- been there before, in another place.
--
-- It is a function because few statements come to call it: it costs nothing before that.
create function statepad.changed(of_scope bigint, since bigint, since_mark text, until bigint) returns json
stable language plpgsql
  :settings
as $changed$
begin
  -- Values are found name by name through the index, whatever number of rows the planner expects.
  return (with steps as materialized (
      select move.pos, move.mark, move.names from statepad.moves move
        where move.scope = of_scope and move.pos between since and until),
    written as materialized (
      select item.name, max(steps.pos) as pos from steps, jsonb_array_elements_text(steps.names) item (name)
        where steps.pos > since group by item.name),
    looked as materialized (
      select written.name, written.pos, state.value, state.at, state.nth from written
        left join lateral (select state.* from statepad.state state
          where state.owner = of_scope and state.name = written.name collate "C" limit 1) state on true)
    select json_build_object(
      'set', (
        select coalesce(json_agg(json_build_array(looked.name, looked.value) order by looked.at, looked.nth), '[]')
          from looked where looked.value is not null),
      'unset', (
        select coalesce(json_agg(looked.name order by looked.pos, looked.name collate "C"), '[]')
          from looked where looked.value is null or looked.at > since))
    where (select count(*) from steps) = until - since + 1
      and exists (select from steps where steps.pos = since and steps.mark = since_mark));
end
$changed$;
