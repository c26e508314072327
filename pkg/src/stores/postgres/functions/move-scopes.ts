// How the function that commits moves the scopes of a change. Its variables are those of `commitFunction`.

import { moveBase } from './log.js';
import { changedCall, markOf } from './moves.js';
import { MOVES_BETWEEN_TRIMS, TOLD_MOVES } from '../../shared/limits.js';

/** Notes the mark that a scope had before the change, and what others have done to it. */
const NOTE = `if scope_place = app_place then app_mark := found_text; app_told := told;
            else user_mark := found_text; user_told := told;
            end if;`;

/**
 * The statements that move the scopes of a change, and find out what others have done to those of which something is
 * known. A scope that is locked already is moved in the variables alone, and written with the others at the end of the
 * batch.
 *
 * What may be null in JSON is read as text: before Postgres 18 a number cannot be cast from the JSON null.
 */
export function moveScopes(schema: string): string {
  return `if change ? 'moves' or (change->'app_known')::bigint <> app_pos or (change->'user_known')::bigint <> user_pos then
      for index in 0..jsonb_array_length(change->'scopes') - 1 loop
        item := change->'scopes'->index;
        scope_place := (item->0)::int;
        if jsonb_typeof(item->1) = 'array' and (is_single or is_locked[scope_place] is null) then
          with moved as (
            update ${schema}.scopes scope set pos = scope.pos + 1, mark = change_call, marked = scope.pos + 1,
                ${moveBase('scope', 'scope.pos + 1')}
              where scope.no = scope_no[scope_place] returning scope.no, scope.pos)
          insert into ${schema}.moves as move (scope, pos, mark, names)
            select moved.no, moved.pos, change_call, item->1 from moved
            returning move.scope, move.pos, move.pos - 1, (item->>2)::bigint, (item->>2)::bigint < move.pos - 1
            into found_no, found_pos, before_pos, known_pos, is_behind;
          if is_behind or before_pos <> (case when scope_place = app_place then app_pos else user_pos end) then
            select (select move.mark from ${schema}.moves move where move.scope = found_no and move.pos = before_pos),
                case when is_behind then ${changedCall(schema, 'found_no', 'known_pos', 'item->>3', 'before_pos')} end
              into found_text, told;
            ${NOTE}
          end if;
        else
          found_no := scope_no[scope_place];
          found_pos := case when scope_place = app_place then app_pos else user_pos end;
          found_text := case when scope_place = app_place then app_mark else user_mark end;
          known_pos := (item->>2)::bigint;
          told := null;
          if known_pos < found_pos and is_locked[scope_place] then
            told := ${changedCall(schema, 'found_no', 'known_pos', 'item->>3', 'found_pos')};
          elsif known_pos <> found_pos then
            -- It is not locked: its position and what is told have to be of one moment.
            select scope.pos, ${markOf('scope')},
                case when known_pos < scope.pos then ${changedCall(schema, 'scope.no', 'known_pos', 'item->>3', 'scope.pos')} end
              into found_pos, found_text, told from ${schema}.scopes scope where scope.no = found_no;
          end if;
          ${NOTE}
          if jsonb_typeof(item->1) = 'array' then
            found_pos := found_pos + 1;
            insert into ${schema}.moves (scope, pos, mark, names) values (found_no, found_pos, change_call, item->1);
            scope_pos[scope_place] := found_pos;
            scope_mark[scope_place] := change_call;
          end if;
        end if;
        if scope_place = app_place then
          app_pos := found_pos;
        else
          user_pos := found_pos;
        end if;
        if found_pos % ${MOVES_BETWEEN_TRIMS} = 0 and jsonb_typeof(item->1) = 'array' then
          delete from ${schema}.moves move where move.scope = found_no and move.pos <= found_pos - ${TOLD_MOVES};
        end if;
      end loop;
    end if;`;
}
