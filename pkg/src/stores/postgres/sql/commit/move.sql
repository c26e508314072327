-- Of the function in declare.sql: moves the scopes of a change.
    if is_unused is not null then
      if not is_append then
        is_unused[app_place] := false;
        is_unused[coalesce(user_place, app_place)] := false;
      end if;
    end if;

    -- Moves the scopes, and finds out what others have done to those of which something is known. A scope that is
    -- locked already is moved in the variables alone, and written with the others at the end of the batch. What may be
    -- null in JSON is read as text: before Postgres 18 a number cannot be cast from the JSON null.
    if is_moving or (change->'app_known')::bigint <> app_pos or (change->'user_known')::bigint <> user_pos then
      for index in 0..jsonb_array_length(change->'scopes') - 1 loop
        item := change->'scopes'->index;
        scope_place := (item->0)::int;
        row_no := scope_no[scope_place];
        row_pos := case when scope_place = app_place then app_pos else user_pos end;
        row_text := case when scope_place = app_place then app_mark else user_mark end;
        known_pos := (item->>2)::bigint;
        delta := null;
        if jsonb_typeof(item->1) = 'array' and (is_single or is_locked[scope_place] is null) then
          before_pos := row_pos;
          with moved as (
            update statepad.scopes scope set pos = scope.pos + 1, mark = change_call, changed = now(),
                due = least(scope.due, now()), base = case when keeps_log then scope.base else scope.pos + 1 end
              where scope.no = row_no and coalesce(is_near or scope.bytes <= (change->'room')::float8, true)
              returning scope.no, scope.pos)
          insert into statepad.moves as move (scope, pos, mark, names)
            select moved.no, moved.pos, change_call, item->1 from moved
            returning move.pos, known_pos < move.pos - 1 into row_pos, is_behind;
          if row_pos is null then
            raise exception using errcode = ':crowded', message = 'a scope has grown meanwhile';
          end if;
          if is_behind or before_pos <> row_pos - 1 then
            select (select move.mark from statepad.moves move where move.scope = row_no and move.pos = row_pos - 1),
                case when is_behind then statepad.changed(row_no, known_pos, item->>3, row_pos - 1) end
              into row_text, delta;
          end if;
        else
          if known_pos < row_pos and is_locked[scope_place] then
            delta := statepad.changed(row_no, known_pos, item->>3, row_pos);
          elsif known_pos <> row_pos then
            -- It is not locked: its position and what has happened to it have to be of one moment.
            select scope.pos, scope.mark,
                case when known_pos < scope.pos then statepad.changed(scope.no, known_pos, item->>3, scope.pos) end
              into row_pos, row_text, delta from statepad.scopes scope where scope.no = row_no;
          end if;
          if jsonb_typeof(item->1) = 'array' then
            row_pos := row_pos + 1;
            insert into statepad.moves (scope, pos, mark, names) values (row_no, row_pos, change_call, item->1);
            scope_pos[scope_place] := row_pos;
            scope_mark[scope_place] := change_call;
          end if;
        end if;
        if scope_place = app_place then
          app_pos := row_pos;
          app_mark := row_text;
          app_delta := delta;
        else
          user_pos := row_pos;
          user_mark := row_text;
          user_delta := delta;
        end if;
        if row_pos % :moves_between_trims = 0 and jsonb_typeof(item->1) = 'array' then
          delete from statepad.moves move where move.scope = row_no and move.pos <= row_pos - :reported_moves;
        end if;
      end loop;
    end if;
