-- Resolves the operators of a change, as batchOf writes them: the values that they set, what is kept of that (see
-- resultsIn), and the place of the first operator that does not fit, from 1, with its fault behind an exclamation mark.
-- The owners are those of the values. It runs with the settings of commit, which calls it.
create function statepad.resolve_operators(
  ops jsonb,
  app_no bigint,
  user_no bigint,
  own_no bigint,
  out sets jsonb,
  out results text,
  out misfit integer,
  out fault text
) language plpgsql
as $resolve$
begin
  with resolved as materialized (
    select op.nth, op.item, statepad.resolve(op.item->>2, op.item->>3, op.item->>4, (
        select state.value from statepad.state state where state.name = op.item->>1
          and state.owner = case op.item->>0 when 'app' then app_no when 'user' then user_no else own_no end
      )) as value
      from jsonb_array_elements(ops) with ordinality op (item, nth))
  select jsonb_agg(jsonb_build_array(resolved.item->0, resolved.item->1, resolved.value) order by resolved.nth),
      json_build_array(
        json_agg(case resolved.item->>0 when 'session' then 0 when 'app' then 1 else 2 end order by resolved.nth),
        json_agg(resolved.item->>1 order by resolved.nth),
        json_agg(resolved.value order by resolved.nth)),
      min(resolved.nth) filter (where resolved.value ^@ '!'),
      (array_agg(resolved.value order by resolved.nth) filter (where resolved.value ^@ '!'))[1]
    into sets, results, misfit, fault from resolved;
end
$resolve$;
