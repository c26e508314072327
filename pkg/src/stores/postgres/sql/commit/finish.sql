-- Of the function in declare.sql: writes the parts that the changes of a batch have in common.
  -- What the changes of a batch have in common is written at its end.
  if not is_one or refused is not null or has_updates then
    if not is_single then
      foreach place in array locks::integer[] loop
        update statepad.scopes scope set pos = scope_pos[place], mark = scope_mark[place], changed = now(),
            due = least(scope.due, now()), base = case when keeps_log then scope.base else scope_pos[place] end
          where scope.no = scope_no[place] and scope.pos <> scope_pos[place];
      end loop;
    end if;
    if is_unused is not null then
      delete from statepad.scopes scope where scope.no = any(
        select scope_no[new.place] from generate_subscripts(is_unused, 1) new (place) where is_unused[new.place]);
    end if;
    if new_ids is not null then
      with owned as (
        insert into statepad.owners (app, id, usr, expires)
          select created.app, created.id, created.usr, created.expires
            from unnest(new_apps, new_ids, new_users, new_expire) created (app, id, usr, expires))
      insert into statepad.counts as old (scope, shard, sessions)
        select scope.no, pg_backend_pid() % :shards, count(*) from unnest(new_apps || new_users) scope (no)
          group by scope.no order by scope.no
        on conflict (scope, shard) do update set sessions = old.sessions + excluded.sessions;
    end if;
    if refused is not null then
      insert into statepad.refused (call, digest)
        select distinct on (late.call) late.call, late.digest
          from unnest(refused, refused_digests) with ordinality late (call, digest, nth) order by late.call, late.nth
        on conflict do nothing;
      delete from statepad.refused old where old.ctid = any(array(
        select done.ctid from statepad.refused done where done.at < now() - :remembered
        order by done.at limit 100 for update skip locked));
    end if;
    if has_updates then
      delete from statepad.updates old where old.ctid = any(array(
        select done.ctid from statepad.updates done where done.at < now() - :remembered
        order by done.at limit 100 for update skip locked));
    end if;
  end if;
  return '[' || array_to_string(answers, ',') || ']';
end
$commit$;
