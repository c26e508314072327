// What the function that commits answers to a change that it does not make. Its variables are those of
// `commitFunction`.

import { wrongVersion } from './common.js';
import { resolveCall } from './operators.js';
import { endOfTurn } from './turns.js';

/**
 * The statements that tell what was made before and what is refused, and go on with the next change then. One
 * condition comes before all of it: most changes are new and carry no guard.
 */
export function decide(schema: string): string {
  return `if found_text is not null or is_late or refused is not null or not is_ours or change ? 'guard'
      or change->>'kind' <> 'append' or own_no is null or change->>'created' <> own_created or change ? 'ops'
    then
      if not is_ours then
        ${wrongVersion(schema)}
      end if;
      case change->>'kind'
        when 'append' then
          if own_no is null or change->>'created' <> own_created then
            answer := '["not-found"]';
          elsif found_text is not null then
            answer := 'duplicate';
          end if;
        when 'create' then
          if found_text is not null or own_created = change_id then
            answer := 'duplicate';
            if own_created is distinct from change_id then
              own_rev := 0;
            end if;
            found_text := null;
          elsif is_new[place] is null then
            answer := '["exists"]';
          end if;
        else
          if found_text is not null then
            answer := 'duplicate';
            found_text := null;
          end if;
      end case;
      if answer = 'duplicate' then
        answer := json_build_array(answer, own_rev, app_pos, user_pos, last_id, app_mark, user_mark, found_text,
          case change->>'kind'
            when 'append' then
              (select event.results from ${schema}.events event where -event.session = -own_no and event.id = change_id)
            when 'update' then
              (select done.results from ${schema}.updates done
                where done.scope = scope_no[coalesce(user_place, app_place)] and done.id = change_id)
          end);
        if change ? 'turn' then
          ${endOfTurn(schema, "(change->'turn')")};
        end if;
      elsif is_late or change_call = any(refused) then
        answer := '["late"]';
      elsif answer is null and change ? 'guard' then
        if change->'guard' ? 'fence' then
          -- Of an update, and of what is created now, there is no lease.
          own_fence := coalesce((select session.fence from ${schema}.sessions session
            where session.usr = scope_no[user_place] and session.id = change->>'session'), 0);
        end if;
        if (change->'guard'->'fence')::float8 <> own_fence then
          answer := '["fenced",' || own_fence || ']';
        elsif (change->'guard'->'rev')::float8 <> own_rev then
          answer := '["conflict",' || own_rev || ']';
        elsif (change->'guard'->'app')::float8 <> app_pos or (change->'guard'->'user')::float8 <> user_pos then
          answer := '["conflict"]';
        elsif change->'guard' ? 'keys' then
          -- A name that is expected to be absent has null here, and so has one that is.
          perform from jsonb_array_elements(change->'guard'->'keys') expected (key)
            left join ${schema}.state state on state.name = expected.key->>1 and state.owner =
              case expected.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end
            where state.value is distinct from expected.key->>2;
          if found then
            answer := '["conflict"]';
          end if;
        end if;
      end if;
      if answer is null and change ? 'ops' then
        ${resolve(schema)}
      end if;
      if answer is not null then
        answers[place] := answer;
        if is_new[place] then
          delete from ${schema}.sessions session where session.usr = scope_no[user_place] and session.id = change->>'session';
        end if;
        if change ? 'attempt' and answer not like '["duplicate%' then
          refused := refused || change_call;
        end if;
        continue;
      end if;
    end if;`;
}

/** The statements that resolve the operators of a change, which is to set what they come to behind all else. */
function resolve(schema: string): string {
  const present = `(select state.value from ${schema}.state state where state.name = op.item->>1 and state.owner =
              case op.item->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end)`;
  const part = "case resolved.item->>0 when 'session' then 0 when 'app' then 1 else 2 end";
  return `with resolved as materialized (
          select op.nth, op.item, ${resolveCall(schema, 'op.item->>2', 'op.item->>3', 'op.item->>4', present)} as value
            from jsonb_array_elements(change->'ops') with ordinality op (item, nth))
        select jsonb_agg(jsonb_build_array(resolved.item->0, resolved.item->1, resolved.value) order by resolved.nth),
            json_build_array(json_agg(${part} order by resolved.nth), json_agg(resolved.item->>1 order by resolved.nth),
              json_agg(resolved.value order by resolved.nth)),
            min(resolved.nth) filter (where resolved.value ^@ '!'),
            (array_agg(resolved.value order by resolved.nth) filter (where resolved.value ^@ '!'))[1]
          into op_sets, op_results, misfit, fault from resolved;
        if misfit is null then
          change := change || jsonb_build_object('set', coalesce(change->'set', '[]') || op_sets);
        else
          answer := json_build_array('misfit', misfit - 1, substr(fault, 2));
        end if;`;
}
