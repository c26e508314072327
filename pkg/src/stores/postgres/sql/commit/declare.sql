-- Commits a batch of changes, one after the other: what changes something does so in one call, which is one statement
-- and one transaction. It takes the parts of a batch as batchOf writes them, and answers a JSON list with an answer
-- for each change, in their order:
--
-- - [rev, app, user, last, appMark, userMark, appChanged, userChanged, results, expires]: written; the positions of the
--   app and the user after it; the event and the marks before it; what others have changed since what the caller knew;
--   what the operators came to; and when the session expires
-- - ["duplicate", rev, app, user, last, appMark, userMark, data, results, digest, expires]: all as it is now
-- - ["conflict", actual], ["fenced", actual], ["exists"], ["not-found"], and ["late", digest] where another attempt of
--   the call was refused
-- - ["misfit", index, fault]: the operator at that index does not fit
-- - ["limit", limit, scope, size, name]: there would be more than the change allows
--
-- Limits are compared by check_limits, and only where a change may come near one: where there are more bytes, or events,
-- than the room that it leaves; there are never more names than bytes. It raises :crowded where a scope has grown beyond that between the look at it
-- and its move: nothing is written, and the same change is right with that scope among the locks.
--
-- It locks first and looks then: a statement sees what was committed before it began. All calls lock in one order, so
-- that none waits in a circle: new scopes, sessions, scopes, counts, refused calls, and each of them in the order of
-- their names or numbers.
--
-- A call that was refused is found by its other attempts, which do not look for it before they have their locks: both
-- lock the session, or its place among all sessions, or the scopes of an update. An update locks its scopes always.
--
-- Its parts follow each other in the files beside this one: lock, look, judge, move, write, finish.
--
-- Most of its time goes into getting each of its statements and expressions ready, once in a transaction: so what is
-- looked for at one moment is one statement, and so is what is written together, and what is rare is behind one
-- condition.
create function statepad.commit(scopes text, sessions text, locks text, changes text, keeps_log boolean) returns text
language plpgsql
  :settings
as $commit$
declare
  scope_list jsonb[] := scopes::jsonb[];
  session_list jsonb[] := sessions::jsonb[];
  change_list jsonb[] := changes::jsonb[];
  is_single boolean := cardinality(change_list) = 1;
  item jsonb;
  change jsonb;
  change_id text;
  change_call text;
  is_append boolean;
  -- Whether it moves a scope.
  is_moving boolean;
  place integer := 0;
  row_no bigint;
  row_pos bigint;
  row_rev integer;
  row_text text;
  row_names integer;
  row_bytes bigint;
  row_ttl double precision;
  row_expires double precision;
  -- By the place of a scope in the request.
  scope_no bigint[];
  scope_pos bigint[];
  scope_mark text[];
  is_locked boolean[];
  is_unused boolean[];
  -- By the place of a change in the request.
  session_no bigint[];
  session_rev integer[];
  session_created text[];
  session_names integer[];
  session_bytes bigint[];
  session_ttl double precision[];
  session_expires double precision[];
  is_new boolean[];
  -- The numbers of the sessions that have expired, in whose places others are created.
  expired_no bigint[];
  -- Whether there is one session or app alone, which was found at once.
  is_one boolean := false;
  -- Of the change.
  app_place integer;
  user_place integer;
  app_no bigint;
  user_no bigint;
  own_no bigint;
  own_rev integer;
  own_created text;
  own_names integer;
  own_bytes bigint;
  own_ttl double precision;
  own_expires double precision;
  is_near boolean;
  -- The names and bytes that are added to the session, the app and the user, or taken from them.
  added bigint[];
  removed bigint[];
  app_pos bigint;
  user_pos bigint;
  app_mark text;
  user_mark text;
  last_id text;
  is_late boolean;
  is_ours boolean;
  answer text;
  answers text[];
  -- Of a scope of the change: what it is at before it, its mark there, and what others did.
  scope_place integer;
  before_pos bigint;
  known_pos bigint;
  delta json;
  app_delta json;
  user_delta json;
  is_behind boolean;
  -- Of the operators of the change: what they set, what is kept of that, and the index of the first that does not fit.
  op_sets jsonb;
  op_results text;
  misfit integer;
  fault text;
  -- The calls that are refused now, and the digests of these changes.
  refused text[];
  refused_digests text[];
  -- The sessions that are created: their apps, their users and their ids.
  new_apps bigint[];
  new_users bigint[];
  new_ids text[];
  new_expire boolean[];
  has_updates boolean := false;
