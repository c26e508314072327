// What runs inside Redis: one script for each operation, so that each is one round trip and sees one moment.
//
// The keys of an app, all of them with its hash tag, so that they lie in one slot of a cluster (`redis-keys.ts`). A script gets
// all that it may write among its KEYS: Redis then refuses it as a whole while some of them are on another server.
//
//   :a              string   the version of the app: every script looks at it first, and does nothing under another one
//   :l              string   the fence, see below
//   :app, :v:user   hash     the values of the app, of a user: `=name` is `order@position:JSON`, by the order of the first
//                            writing and the position of the last (without `@position` where version 1 has written it); `p` is
//                            the position, `m` its mark, `n` the last order
//   :log, :u:user   zset     what happened to the scope lately, by position: `@position=mark`, and the mark alone is missing
//                            where it is not known; `=name` was set; `-=name` came into being, or was deleted. Never empty
//                            when the position is not 0
//   :s:member       hash     a session: its values, and `c` the creation, `r` the revision, `t` the time, `f` the revision of
//                            the first event where that is 0, the creation's; `a`, `u` the positions of the app and the user
//                            when it was last written to. Kept free for leases: `k` the fencing token (0 when absent), `o` who
//                            holds it, `x` until when
//   :e:member       list     its events
//   :t:member       list     the time of each event and, where it is another one, the latest time so far
//   :i:member       zset     `=id` of each event by revision, but for the creation's: nothing is a duplicate of that
//   :sessions, :l:user  zset the members of the app, of a user, by time
//   :updates        zset     the updates that were made, by when
//   :refused        zset     the calls that were refused after the first try, by when
//   :removed        zset     the removed sessions, each with its creation, by when
//   :changes        stream   kept free for a log of the scopes that sessions share
//
// The version of all, `prefix:version`, lies in some other slot of a cluster. It is only looked at when opening.
//
// Version 1 had `:a` a hash (the values of the app), `:l` a zset (the list), `:d` (now `:updates`), `:u:user` a hash (the values
// of the user) and `:i:member` a hash. Processes of version 1 that go on running are fenced by the types: their scripts read `:a`
// or `:l` before they write, and a user's values at `:u:user`, and fail with WRONGTYPE. The first script of this version that
// writes to an app puts up the fence; one that finds version 1's keys refuses to do anything. So no app is ever written to by
// both, and what either has acknowledged stays where the other one sees that it is there.
//
// Redis takes nothing back when a script fails. So every change is first looked at, by reads that fail where a key is of
// another type, and then written by commands that cannot. When Redis refuses writes (no memory, a replica, a broken disk)
// it refuses the first one of a script: after that one it lets all of them through.

import { keepLua, scopeLua, VERSION, versionLua } from './common.js';

/** A script, and what it means that a key has a type that it should not have. */
export interface Script {
  readonly text: string;
  readonly onForeign: 'rejected' | 'corrupt';
}

/**
 * Deletes a session. KEYS: the version's, the session's values, events, times and ids, the lists of the app and the user, the
 * removed sessions. ARGV: the channel, the sender, the hint, the member, the creation that it must have (or empty).
 */
export const removeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${keepLua}
local key, events, times, ids, list, userList, removed = unpack(KEYS, 4)
local channel, sender, hint, member, expected = unpack(ARGV)
local inApp, inUser = redis.call('ZSCORE', list, member), redis.call('ZSCORE', userList, member)
local created = redis.call('HGET', key, 'c')
local count = redis.call('HLEN', key) + redis.call('LLEN', events) + redis.call('LLEN', times)
if isOf(ids, 'hash') then return { 'version', '1' } end
count = count + redis.call('ZCARD', ids)
redis.call('ZCARD', removed) -- fails where something else is
if not inApp and not inUser and count == 0 then return { 'done' } end
if expected ~= '' and not created then return { 'corrupt' } end
if expected ~= '' and created ~= expected then return { 'done' } end
redis.call('ZREM', list, member)
redis.call('ZREM', userList, member)
redis.call('UNLINK', key, events, times, ids)
if created then keep(removed, removedId(member, created)) end
redis.pcall('PUBLISH', channel, sender .. ' ' .. hint)
return { 'done' }
`,
};

/**
 * Deletes the values of a scope. KEYS: the version's, the values and their log. ARGV: the channel, the sender, the hint.
 */
export const removeScopeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${scopeLua}
local answer
local scope = scopeAt(KEYS[4], KEYS[5], function(instead) answer = instead end)
if answer then return answer end
if scope.pos == 0 then return { 'done' } end
redis.call('ZCARD', scope.log) -- fails where something else is
redis.call('UNLINK', scope.key, scope.log)
redis.call('HSET', scope.key, 'p', scope.pos + 1)
redis.call('ZADD', scope.log, scope.pos + 1, '@' .. scope.pos + 1)
redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
return { 'done' }
`,
};

/** Reads the values of a scope. KEYS: the version's, the values and their log. */
export const scopeScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}
local values = redis.call('HGETALL', KEYS[4])
if #values == 0 and redis.call('EXISTS', KEYS[5]) == 1 then
  return isOf(KEYS[5], 'hash') and { 'version', '1' } or { 'corrupt' }
end
return { 'found', values }
`,
};

/**
 * Says which version wrote what is there. KEYS: the version of all. ARGV: this version, and whether to write it when there is
 * none; further commands that the user must be allowed.
 *
 * Makes sure that the user may run every command that the scripts need: a script that is not allowed its second write has
 * made the first.
 */
export const openScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
local key = KEYS[1]
local needed = {
  { 'EXISTS', key }, { 'GET', key }, { 'SET', key, '' }, { 'UNLINK', key }, { 'TIME' }, { 'TYPE', key },
  { 'HDEL', key, '' }, { 'HGET', key, '' }, { 'HGETALL', key }, { 'HLEN', key }, { 'HMGET', key, '' }, { 'HSET', key, '', '' },
  { 'LINDEX', key, 0 }, { 'LLEN', key }, { 'LRANGE', key, 0, 0 }, { 'RPUSH', key, '' },
  { 'ZADD', key, 0, '' }, { 'ZCARD', key }, { 'ZCOUNT', key, 0, 0 }, { 'ZRANGE', key, 0, 0 }, { 'ZRANGEBYSCORE', key, 0, 0 },
  { 'ZREM', key, '' }, { 'ZREMRANGEBYSCORE', key, 0, 0 }, { 'ZREVRANGE', key, 0, 0 }, { 'ZSCORE', key, '' },
}
if ARGV[3] == 'upgrade' then
  needed[#needed + 1] = { 'RENAME', key, key }
  needed[#needed + 1] = { 'SCAN', 0 }
end
local denied = {}
for _, command in ipairs(redis.acl_check_cmd and needed or {}) do
  if not redis.acl_check_cmd(unpack(command)) then denied[#denied + 1] = command[1] end
end
if #denied > 0 then return { 'denied', table.concat(denied, ', ') } end

local found = redis.call('GET', key)
if not found and ARGV[2] == 'create' then
  redis.call('SET', key, ARGV[1])
  found = ARGV[1]
end
return { 'found', found }
`,
};

/** Notes that an app of an older version was met, for the next upgrade. KEYS: where. */
export const noteScript: Script = { onForeign: 'rejected', text: "return redis.call('SET', KEYS[1], '1')" };

/** Whether there is such a note. KEYS: where. */
export const isThereScript: Script = { onForeign: 'rejected', text: "return redis.call('EXISTS', KEYS[1])" };

/** Forgets such a note. KEYS: where. */
export const forgetScript: Script = { onForeign: 'rejected', text: "return redis.call('UNLINK', KEYS[1])" };

/**
 * Begins to bring an app up to date: puts up the fence and gives the app's own keys their new names. Until the end, `:a` says
 * that the app is still of version 1. KEYS: the version's, the app's values and log, its list, its updates. Answers the version,
 * and whether the fence is new.
 */
export const beginUpgradeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
local version, fence, updates, app, log, newList, newUpdates = unpack(KEYS)
local function typeOf(key)
  return redis.call('TYPE', key).ok
end
local found = typeOf(version)
if found == 'string' then return { redis.call('GET', version), 0 } end
local foreign = { err = 'WRONGTYPE Operation against a key holding the wrong kind of value' }
if found ~= 'hash' and found ~= 'none' then return foreign end
if redis.call('EXISTS', app, log, newList, newUpdates) > 0 then return foreign end
local types = { [fence] = typeOf(fence), [updates] = typeOf(updates) }
for _, kind in pairs(types) do
  if kind ~= 'zset' and kind ~= 'none' then return foreign end
end
if found == 'hash' then
  local pos = tonumber(redis.call('HGET', version, 'p') or 0)
  redis.call('RENAME', version, app)
  redis.call('ZADD', log, pos or 0, '@' .. (pos or 0))
end
if types[fence] == 'zset' then redis.call('RENAME', fence, newList) end
if types[updates] == 'zset' then redis.call('RENAME', updates, newUpdates) end
redis.call('SET', version, '1')
redis.call('SET', fence, '1')
return { '1', 1 }
`,
};

/**
 * Brings what users and sessions of an app have up to date, some at a time. KEYS: for a user where version 1 has the values and
 * where they belong; for a session its ids. ARGV: for each, `u` or `i`. Answers how many were looked at.
 */
export const moveScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
local ENOUGH = 20000 -- ids
local key, ids = 1, 0
for index, kind in ipairs(ARGV) do
  local old = KEYS[key]
  local isOld = redis.call('TYPE', old).ok == 'hash'
  if kind == 'u' then
    local new = KEYS[key + 1]
    key = key + 2
    if isOld and redis.call('EXISTS', new) == 0 then
      local pos = tonumber(redis.call('HGET', old, 'p') or 0) or 0
      redis.call('RENAME', old, new)
      redis.call('ZADD', old, pos, '@' .. pos)
    end
  else
    key = key + 1
    if isOld then
      local found = redis.call('HGETALL', old)
      local rows = {}
      for place = 1, #found, 2 do
        rows[place] = found[place + 1]
        rows[place + 1] = '=' .. found[place]
      end
      redis.call('UNLINK', old)
      for first = 1, #rows, 1000 do
        redis.call('ZADD', old, unpack(rows, first, math.min(first + 999, #rows)))
      end
      ids = ids + #rows / 2
    end
  end
  if ids > ENOUGH then return index end
end
return #ARGV
`,
};

/** Ends what {@link beginUpgradeScript} has begun. KEYS: the version of the app, and its fence. */
export const endUpgradeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
if redis.call('GET', KEYS[1]) == '1' then
  redis.call('SET', KEYS[2], '${VERSION}')
  redis.call('SET', KEYS[1], '${VERSION}')
end
return 1
`,
};

/** The version of all, once every app has it. KEYS: where. */
export const upgradedScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
if redis.call('GET', KEYS[1]) == '1' then redis.call('SET', KEYS[1], '${VERSION}') end
return 1
`,
};
