// The scripts that bring an app of version 1 up to date. The keys are described in `script.ts`.

import { VERSION } from '../version.js';
import { rightsLua } from './rights.js';
import type { Script } from './script.js';

/**
 * Begins to bring an app up to date: puts up the fence and gives the app's own keys their new names. Until the end,
 * `:a` says that the app is still of version 1. KEYS: the version's, the app's values and moves, its list, its
 * updates. Answers the version, and whether the fence is new.
 */
export const beginUpgradeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${rightsLua}
local version, fence, updates, app, moves, newList, newUpdates = unpack(KEYS)
local function typeOf(key)
  return redis.call('TYPE', key).ok
end
local found = typeOf(version)
if found == 'string' then return { redis.call('GET', version), 0 } end
local foreign = { err = 'WRONGTYPE Operation against a key holding the wrong kind of value' }
if found ~= 'hash' and found ~= 'none' then return foreign end
if redis.call('EXISTS', app, moves, newList, newUpdates) > 0 then return foreign end
local types = { [fence] = typeOf(fence), [updates] = typeOf(updates) }
for _, kind in pairs(types) do
  if kind ~= 'zset' and kind ~= 'none' then return foreign end
end
local zset = types[fence] == 'zset' and fence or types[updates] == 'zset' and updates
local some = found == 'hash' and version or zset
if some then
  local needed = { { 'RENAME', some, some }, { 'SET', some, '', 'NX' } }
  if found == 'hash' then needed[3] = { 'ZADD', version, 0, '' } end
  local _, reason = deniedBy(needed, true)
  if reason then return reason end
end
if found == 'hash' then
  local pos = tonumber(redis.call('HGET', version, 'p') or 0)
  redis.call('RENAME', version, app)
  redis.call('ZADD', moves, pos or 0, '@' .. (pos or 0))
end
if types[fence] == 'zset' then redis.call('RENAME', fence, newList) end
if types[updates] == 'zset' then redis.call('RENAME', updates, newUpdates) end
redis.call('SET', version, '1')
redis.call('SET', fence, '1')
return { '1', 1 }
`,
};

/**
 * Brings what users and sessions of an app have up to date, some at a time. KEYS: for a user where version 1 has the
 * values and where they belong; for a session its ids. ARGV: for each, `u` or `i`. Answers how many were looked at.
 */
export const moveScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${rightsLua}
local ENOUGH = 20000 -- ids
local key, ids, isAllowed = 1, 0, false
for index, kind in ipairs(ARGV) do
  local old = KEYS[key]
  local isOld = redis.call('TYPE', old).ok == 'hash'
  if isOld and not isAllowed then
    local _, reason = deniedBy({ { 'RENAME', old, old }, { 'ZADD', old, 0, '' }, { 'UNLINK', old } }, true)
    if reason then return reason end
    isAllowed = true
  end
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
