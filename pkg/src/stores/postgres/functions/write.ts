// What the function that commits writes. Its variables are those of `commitFunction`.

import { forgetOld, SHARDS } from './common.js';
import { DELETED, LOG_COLUMNS, moveBase } from './log.js';
import { endOfTurn } from './turns.js';

/** The statements that write a change: all but the positions of its scopes. */
export function writeChange(schema: string): string {
  return `if change->>'kind' = 'append' then
      own_rev := own_rev + 1;
      with written as (
        insert into ${schema}.events (session, rev, id, time, data, results, app_pos, user_pos)
          values (own_no, own_rev, change_id, (change->'at')::float8, change->>'data', op_results,
            case when keeps_log then app_pos end, case when keeps_log then user_pos end))
      update ${schema}.sessions session set rev = own_rev, time = (change->'time')::float8
        where session.usr = scope_no[user_place] and session.id = change->>'session';
    elsif change->>'kind' = 'create' then
      if is_unused is not null then
        is_unused[app_place] := false;
        is_unused[user_place] := false;
      end if;
      counted := counted || scope_no[app_place] || scope_no[user_place];
      if change ? 'data' then
        -- It has an id that no other event can have (toColumn never writes it): nothing appended is a duplicate of it.
        insert into ${schema}.events (session, rev, id, time, data, results, app_pos, user_pos)
          values (own_no, 0, chr(1), (change->'at')::float8, change->>'data', op_results,
            case when keeps_log then app_pos end, case when keeps_log then user_pos end);
      end if;
    else
      if is_unused is not null then
        is_unused[app_place] := false;
        is_unused[coalesce(user_place, app_place)] := false;
      end if;
      insert into ${schema}.updates (scope, id, results) values (scope_no[coalesce(user_place, app_place)], change_id, op_results);
      has_updates := true;
    end if;
    if keeps_log and change ? 'moves' then
      ${log(schema)}
    end if;
    if change ?| array['unset', 'turn'] then
      delete from ${schema}.state state using jsonb_array_elements(change->'unset') gone (key)
        where state.name = gone.key->>1 and state.owner =
          case gone.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end;
      ${endOfTurn(schema, "(change->'turn')")};
    end if;
    if change ? 'set' then
      insert into ${schema}.state as old (owner, name, value, at, nth, wrote)
        select case new.key->>0 when 'app' then scope_no[app_place] when 'user' then scope_no[user_place] else own_no end,
          new.key->>1, new.key->>2,
          case new.key->>0 when 'app' then app_pos when 'user' then user_pos else own_rev end, new.nth,
          case new.key->>0 when 'app' then app_pos when 'user' then user_pos else own_rev end
        from jsonb_array_elements(change->'set') with ordinality new (key, nth)
        on conflict (owner, name) do update set value = excluded.value, wrote = excluded.wrote where old.value <> excluded.value;
    end if;`;
}

/**
 * The statement that writes into the log what a change does to the app and the user, before it does that. A name that
 * is deleted and set again is one write, in the place of the latter.
 */
function log(schema: string): string {
  const elements = (member: string): string =>
    `jsonb_array_elements(change->'${member}') with ordinality each (item, nth) where each.item->>0 <> 'session'`;
  const of = (app: string, user: string): string => `case written.scope when 'app' then ${app} else ${user} end`;
  const owner = of('scope_no[app_place]', 'scope_no[user_place]');
  return `with sets as materialized (
        select each.item->>0 as scope, each.item->>1 as name, each.item->>2 as value, each.nth from ${elements('set')}),
      gone as materialized (
        select each.item->>0 as scope, each.item->>1 as name, min(each.nth) as nth from ${elements('unset')} group by 1, 2),
      written as (
        select sets.* from sets
        union all
        select gone.scope, gone.name, null, ${DELETED} + gone.nth from gone
          where (gone.scope, gone.name) not in (select sets.scope, sets.name from sets)
        union all
        select gone.scope, null, null, 0 from gone group by gone.scope)
      insert into ${schema}.log (${LOG_COLUMNS})
        select ${owner}, ${of('app_pos', 'user_pos')}, written.nth, written.name, old.value, written.value,
            (change->'time')::float8, case when change ? 'session' then scope_list[user_place]->>1 end, change->>'session',
            case change->>'kind' when 'append' then change_id end
          from written left join ${schema}.state old on old.owner = ${owner} and old.name = written.name
          where written.name is null or written.value is not null or old.value is not null;`;
}

/** The statements that write what the changes of a batch have in common, at its end. */
export function writeTogether(schema: string): string {
  return `if not is_one or refused is not null or has_updates then
    if not is_single then
      foreach place in array locks::integer[] loop
        update ${schema}.scopes scope set pos = scope_pos[place], mark = scope_mark[place], marked = scope_pos[place],
            ${moveBase('scope', 'scope_pos[place]')}
          where scope.no = scope_no[place] and scope.pos <> scope_pos[place];
      end loop;
    end if;
    if is_unused is not null then
      delete from ${schema}.scopes scope where scope.no = any(
        select scope_no[new.place] from generate_subscripts(is_unused, 1) new (place) where is_unused[new.place]);
    end if;
    if counted is not null then
      insert into ${schema}.counts as old (scope, shard, sessions)
        select scope.no, pg_backend_pid() % ${SHARDS}, count(*) from unnest(counted) scope (no) group by scope.no order by scope.no
        on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
    end if;
    if refused is not null then
      insert into ${schema}.refused (call) select distinct late.call from unnest(refused) late (call) order by late.call
        on conflict do nothing;
      ${forgetOld(`${schema}.refused`)}
    end if;
    if has_updates then
      ${forgetOld(`${schema}.updates`)}
    end if;
  end if;`;
}
