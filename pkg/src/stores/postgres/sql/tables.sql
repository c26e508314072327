-- The tables. Texts are in the order of their bytes. Values and events are texts: jsonb would refuse some of them and
-- change others.

create sequence statepad.numbers;

-- Apps, which have the parent 0, and users, which have their app's number as theirs. pos is the position, mark the
-- call that has moved the scope there, null where all values were deleted; all positions above base are in the log.
-- names is the number of its values, bytes their size as check_limits measures it, changed the time of the last move.
--
-- A sweep looks at the users whose due is long enough ago. Where that comes to nothing, they are not due any more
-- (infinity), until they are moved or lose a session: so most of the users that have sessions are looked at once.
create table statepad.scopes (
  no bigint primary key default nextval('statepad.numbers'),
  parent bigint not null,
  name text collate "C" not null,
  pos bigint not null default 0,
  mark text collate "C",
  base bigint not null default 0,
  names integer not null default 0,
  bytes bigint not null default 0,
  changed timestamp with time zone not null default now(),
  due timestamp with time zone not null default now(),
  unique (parent, name)
) with (fillfactor = 70);

create index users_by_due on statepad.scopes ((-parent), due) where parent <> 0 and due < 'infinity';

-- A session has a number that no other ever had: what belongs to it can never belong to a later one under its key.
-- It is leased to a holder until a time in milliseconds since the epoch; each holder has a greater fence than the one
-- before. digest is the one that its creation was made with, as in updates, creations and refused. names and bytes are
-- those of its own values, as in scopes. From expires on, in milliseconds since the epoch, it is not there for anyone,
-- and a sweep removes it; with a ttl each append moves that time on.
create table statepad.sessions (
  usr bigint not null,
  id text collate "C" not null,
  no bigint not null default nextval('statepad.numbers'),
  app bigint not null,
  user_id text collate "C" not null,
  created text collate "C" not null,
  digest text collate "C",
  rev integer not null,
  time double precision not null,
  fence integer not null default 0,
  holder text collate "C",
  held_until double precision,
  names integer not null default 0,
  bytes bigint not null default 0,
  ttl double precision,
  expires double precision,
  primary key (usr, id)
) with (fillfactor = 90);

create index sessions_of_app on statepad.sessions (app, time);

-- Each question has an index that fits no other one. A planner knows averages: where most users have one session, it
-- would as soon go through all sessions of a user as to the one it is asked for. So these are indexes of negative
-- numbers, or inverted ones, for no other purpose than that no other index fits.
create index sessions_of_user on statepad.sessions ((-usr), time);

-- Only what can expire is in this one: for sweeps, and for how many sessions an app or a user has that have expired. It
-- is the only one of its kind, as every append opens and locks all indexes, also for a session that never expires.
create index sessions_by_expiry on statepad.sessions ((~app), expires) where expires is not null;

-- The users of an app who have a session with an id. It is a table and not an index of the sessions: each append writes
-- to all of their indexes, as it changes the time. Only the sessions that can expire are looked at.
create table statepad.owners (
  app bigint not null,
  id text collate "C" not null,
  usr bigint not null,
  expires boolean not null default false,
  primary key (app, id, usr)
);

-- results is the results of the operators of an event, see resultsIn; app_pos and user_pos are the positions of the
-- scopes after it, if there is a log.
create table statepad.events (
  session bigint not null,
  rev integer not null,
  id text collate "C" not null,
  time double precision not null,
  data text collate "C" not null,
  results text collate "C",
  app_pos bigint,
  user_pos bigint,
  primary key (session, rev)
);

create unique index events_by_id on statepad.events ((-session), id);

create index events_by_time on statepad.events ((~session), time);

-- A row for each value of a session, a user or an app, whose numbers are never the same. Names that were written later
-- have a later at (the revision, or the position), or the same and a later nth. was is the size of the value before
-- this one, null where there was none: a statement that writes many values learns from it how much they have grown.
create table statepad.state (
  owner bigint not null,
  name text collate "C" not null,
  value text collate "C" not null,
  at bigint not null,
  nth integer not null,
  was integer,
  primary key (owner, name)
) with (fillfactor = 80);

-- Each move of a scope, the last :reported_moves at least: the position that it came to, the call that moved it, and
-- the names that were written or deleted. What has happened since a position can be reported when it and all after it
-- have rows.
create table statepad.moves (
  scope bigint not null,
  pos bigint not null,
  mark text collate "C" not null,
  names jsonb not null,
  primary key (scope, pos)
);

-- What was written to a scope at each position, and by which event, in the order of writing (nth). A position at which
-- names were deleted has a row without a name, as there may have been none of them.
create table statepad.log (
  scope bigint not null,
  pos bigint not null,
  nth integer not null,
  name text collate "C",
  was text collate "C",
  value text collate "C",
  time double precision not null,
  user_id text collate "C",
  session_id text collate "C",
  event text collate "C",
  primary key (scope, pos, nth)
);

create index log_by_name on statepad.log ((-scope), name, pos);

-- How many sessions a scope has, with those that have expired and were not removed yet, is the sum of its rows.
create table statepad.counts (
  scope bigint not null,
  shard integer not null,
  sessions bigint not null,
  primary key (scope, shard)
) with (fillfactor = 70);

-- The updates of scopes, and what their operators came to, as in events.
create table statepad.updates (
  scope bigint not null,
  id text collate "C" not null,
  at timestamp with time zone not null default now(),
  results text collate "C",
  digest text collate "C",
  primary key (scope, id)
);

create index updates_by_time on statepad.updates (at);

-- Leases of names, such as that of the process that sweeps.
create table statepad.claims (
  name text collate "C" primary key,
  fence integer not null default 0,
  holder text collate "C",
  held_until double precision
);

-- The creation ids of deleted sessions.
create table statepad.creations (
  id text collate "C" primary key,
  at timestamp with time zone not null default now(),
  digest text collate "C"
);

create index creations_by_time on statepad.creations (at);

-- Calls of which a second or later attempt was refused: none of their attempts is written any more.
create table statepad.refused (
  call text collate "C" primary key,
  at timestamp with time zone not null default now(),
  digest text collate "C"
);

create index refused_by_time on statepad.refused (at);

-- The queues for reservations: worth nothing after a crash, so unlogged.
create unlogged table statepad.reservations (
  target bigint not null,
  ticket bigint not null,
  due timestamp with time zone not null,
  primary key (target, ticket)
) with (fillfactor = 70);

create sequence statepad.tickets;

create table statepad.statepad_version (
  version integer primary key,
  layout text not null
);
