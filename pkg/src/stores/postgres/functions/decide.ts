// What the function that commits answers to a change that it does not make. Its variables are those of
// `commitFunction`.

import { wrongVersion } from './common.js';
import { endOfTurn } from './turns.js';

/**
 * The statements that tell what was made before and what is refused, and go on with the next change then. One
 * condition comes before all of it: most changes are new and carry no guard.
 */
export function decide(schema: string): string {
  return `if found_text is not null or is_late or refused is not null or not is_ours or change ? 'guard'
      or change->>'kind' <> 'append' or own_no is null or change->>'created' <> own_created
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
        answer := json_build_array(answer, own_rev, app_pos, user_pos, last_id, app_mark, user_mark, found_text);
        if change ? 'turn' then
          ${endOfTurn(schema, "(change->'turn')")};
        end if;
      elsif is_late or change_call = any(refused) then
        answer := '["late"]';
      elsif answer is null and change ? 'guard' then
        if (change->'guard'->'rev')::float8 <> own_rev then
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
