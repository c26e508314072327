-- Refuses to write in a schema of another version. Each function that writes compares the version, after it has looked
-- at the scopes, which comes first in all of them. An upgrade locks the table of the scopes as a whole before anything
-- else: it waits for those that have begun, and those that begin later see what it has made of the version.
create function statepad.refuse_version() returns void language plpgsql
  set search_path = pg_catalog, pg_temp
as $refuse$
begin
  raise exception using errcode = ':wrong_version', message = format('the schema %s', 'statepad'),
    detail = (select coalesce(max(version.version), 0)::text from statepad.statepad_version version);
end
$refuse$;
