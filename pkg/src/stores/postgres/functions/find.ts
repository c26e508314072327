// How the function that commits finds what its changes are about. Its variables are those of `commitFunction`.

import { isOurVersion } from './common.js';
import { markOf } from './moves.js';

/**
 * The statements that find the scopes. Those that are missing are made, and taken back if nothing is written there.
 * For many of them one statement finds all that are there.
 */
export function findScopes(schema: string): string {
  return `if cardinality(scope_list) > 2 then
      select array_agg(scope.no order by wanted.place) into scope_no
        from unnest(scope_list) with ordinality wanted (item, place)
        left join ${schema}.scopes parent on parent.parent = 0 and parent.name = scope_list[(wanted.item->0)::int]->>1
        left join ${schema}.scopes scope on scope.name = wanted.item->>1
          and scope.parent = case when (wanted.item->0)::int = 0 then 0 else parent.no end;
    end if;
    foreach item in array scope_list loop
      place := place + 1;
      while scope_no[place] is null loop
        select scope.no into found_no from ${schema}.scopes scope
          where scope.parent = coalesce(scope_no[(item->0)::int], 0) and scope.name = item->>1;
        if found then
          scope_no[place] := found_no;
        else
          insert into ${schema}.scopes (parent, name) values (coalesce(scope_no[(item->0)::int], 0), item->>1)
            on conflict do nothing;
          if found then
            is_unused[place] := true;
          end if;
        end if;
      end loop;
    end loop;`;
}

/**
 * The statements that lock the sessions. One is created at once, and taken back if the change is refused: so no other
 * call creates it meanwhile. Where none is to be created, one statement locks all, in their order.
 */
export function lockSessions(schema: string): string {
  return `if strpos(sessions, 'created') = 0 then
      for place, own_no, found_rev, found_text in
        select (wanted.item->'i')::int, session.no, session.rev, session.created
          from unnest(session_list) with ordinality wanted (item, nth)
          join ${schema}.sessions session
            on session.usr = scope_no[(wanted.item->'usr')::int] and session.id = wanted.item->>'session'
          order by wanted.nth for no key update of session
      loop
        session_no[place] := own_no;
        session_rev[place] := found_rev;
        session_created[place] := found_text;
      end loop;
      session_list := '{}';
    end if;
    foreach item in array session_list loop
      place := (item->'i')::int;
      user_place := (item->'usr')::int;
      if item ? 'created' then
        insert into ${schema}.sessions (usr, id, app, user_id, created, rev, time)
          values (scope_no[user_place], item->>'session', scope_no[(item->'app')::int], item->>'user_id', item->>'created', 0,
            (item->'time')::float8)
          on conflict do nothing returning no into found_no;
        if found then
          session_no[place] := found_no;
          session_rev[place] := 0;
          is_new[place] := true;
          continue;
        end if;
      end if;
      select session.no, session.rev, session.created into found_no, found_rev, found_text from ${schema}.sessions session
        where session.usr = scope_no[user_place] and session.id = item->>'session' for no key update;
      if found then
        session_no[place] := found_no;
        session_rev[place] := found_rev;
        session_created[place] := found_text;
      end if;
    end loop;`;
}

/**
 * The statement that looks for a change before it is made, when all that has to be locked is. What was written under
 * its id comes from `written`; another call that had the session locked may have moved the scopes meanwhile.
 */
export function look(schema: string, written: string): string {
  // What is locked, or was moved by the batch, is known already.
  const at = (scope: string, place: string): string => `coalesce(scope_pos[${place}], ${scope}.pos, 0),
        case when scope_pos[${place}] is null then ${markOf(scope)} else scope_mark[${place}] end`;
  return `select ${at('app', 'app_place')},
        ${at('usr', 'user_place')}, ${written},
        (select event.id from ${schema}.events event where event.session = own_no and event.rev = own_rev and own_rev > 0),
        ${rest(schema)}
        from ${schema}.scopes app left join ${schema}.scopes usr on usr.no = scope_no[user_place]
        where app.no = scope_no[app_place];`;
}

/** The same for an update, all of whose scopes are locked. */
export function lookForUpdate(schema: string, written: string): string {
  return `select scope_pos[app_place], scope_mark[app_place], coalesce(scope_pos[user_place], 0), scope_mark[user_place],
        ${written}, null, ${rest(schema)};`;
}

function rest(schema: string): string {
  return `exists (select from ${schema}.refused late where late.call = change_call), ${isOurVersion(schema)}
        into app_pos, app_mark, user_pos, user_mark, found_text, last_id, is_late, is_ours`;
}
