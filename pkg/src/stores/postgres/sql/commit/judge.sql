-- Of the function in declare.sql: answers a change that was made before, or is refused.
    -- What was made before and what is refused. One condition comes before all of it: most changes are new and carry
    -- no guard.
    if row_text is not null or is_late or refused is not null or not is_ours or change ? 'guard'
      or not is_append or own_no is null or change->>'created' <> own_created or change ? 'ops' or is_near
    then
      if not is_ours then
        perform statepad.refuse_version();
      end if;
      case change->>'kind'
        when 'append' then
          if own_no is null or change->>'created' <> own_created then
            answer := '["not-found"]';
          elsif row_text is not null then
            answer := 'duplicate';
          end if;
        when 'create' then
          if row_text is not null or own_created = change_id then
            answer := 'duplicate';
            if own_created is distinct from change_id then
              own_rev := 0;
            end if;
            row_text := null;
          elsif is_new[place] is null then
            answer := '["exists"]';
          end if;
        else
          if row_text is not null then
            answer := 'duplicate';
            row_text := null;
          end if;
      end case;
      if answer = 'duplicate' then
        answer := json_build_array(answer, own_rev, app_pos, user_pos, last_id, app_mark, user_mark, row_text,
          case change->>'kind'
            when 'append' then
              (select event.results from statepad.events event
                where -event.session = -own_no and event.id = change_id)
            when 'update' then
              (select done.results from statepad.updates done
                where done.scope = coalesce(user_no, app_no) and done.id = change_id)
          end,
          case change->>'kind'
            when 'create' then
              case when own_created = change_id
                then (select session.digest from statepad.sessions session
                  where session.usr = user_no and session.id = change->>'session')
                else (select creation.digest from statepad.creations creation where creation.id = change_id) end
            when 'update' then
              (select done.digest from statepad.updates done
                where done.scope = coalesce(user_no, app_no) and done.id = change_id)
          end, case when change->>'kind' <> 'create' or own_created = change_id then own_expires end);
        if change ? 'reservation' then
          delete from statepad.reservations reservation
            where reservation.target = (change->'reservation'->>0)::bigint
              and reservation.ticket = (change->'reservation'->>1)::bigint;
        end if;
      elsif is_late or change_call = any(refused) then
        answer := json_build_array('late', case
          when is_late then (select late.digest from statepad.refused late where late.call = change_call)
          else refused_digests[array_position(refused, change_call)] end);
      elsif answer is null and change ? 'guard' then
        answer := statepad.check_guard(change, app_no, app_pos, user_no, user_pos, own_no, own_rev);
      end if;
      if answer is null and change ? 'ops' then
        -- What operators come to is set behind all else.
        select resolved.sets, resolved.results, resolved.misfit, resolved.fault
          into op_sets, op_results, misfit, fault
          from statepad.resolve_operators(change->'ops', app_no, user_no, own_no) resolved;
        if misfit is null then
          change := change || jsonb_build_object('set', coalesce(change->'set', '[]') || op_sets);
          if change ? 'room' and octet_length(op_sets::text) > :reserved_bytes then
            is_near := true;
          end if;
        else
          answer := json_build_array('misfit', misfit - 1, substr(fault, 2));
        end if;
      end if;
      if answer is null and is_near then
        if is_single then
          -- The app first: it has no parent.
          perform from statepad.scopes scope
            where scope.no in (
              select scope_no[(moved.item->0)::int] from jsonb_array_elements(change->'scopes') moved (item)
                where jsonb_typeof(moved.item->1) = 'array')
            order by scope.parent for no key update;
        end if;
        answer := statepad.check_limits(change, app_no, user_no, own_no, own_rev);
      end if;
      if answer is not null then
        answers[place] := answer;
        if is_new[place] then
          delete from statepad.sessions session
            where session.usr = user_no and session.id = change->>'session' and session.no = own_no;
        end if;
        if change ? 'attempt' and answer not like '["duplicate%' then
          refused := refused || change_call;
          refused_digests := array_append(refused_digests, change->>'digest');
        end if;
        continue;
      end if;
    end if;
