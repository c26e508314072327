// The scripts that read a session and a scope. The keys are described in `script.ts`.

import { clockLua, scopeLua, versionLua } from './common.js';
import type { Script } from './script.js';

/**
 * Reads a session. KEYS: the version's, the session's values, events, times and ids, the list of the app, the values
 * and moves of the app and the user. ARGV: the member, what is known (creation, revision, id of the last event,
 * `@position` or `@position=mark` of the app and the user; empty when it is not), the first and last revision, the
 * earliest time (or empty), how many at most.
 *
 * Answers nothing, or `['corrupt']`, or
 * `['found', creation, revision, time, positions of app and user, the values of session, app and user (or nothing
 * where they are known), the revision of the first event or those of all, the events, their ids, the id of the last
 * one, the marks of app and user, what has changed in them, whether what is known has diverged, when it expires]`.
 */
export const loadScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}${clockLua}${scopeLua}
local key, events, times, ids, list, appKey, appMoves, userKey, userMoves = unpack(KEYS, 2)
local member, knownCreated, knownRev, knownLast, knownApp, knownUser = unpack(ARGV, 1, 6)
local from, to, since, last = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10])

local created, rev, time, start, seenApp, seenUser, ends = unpack(redis.call('HMGET', key, 'c', 'r', 't', 'f', 'a', 'u', 'e'))
local count, isListed = redis.call('LLEN', events), redis.call('ZSCORE', list, member)
if not created and not isListed and count == 0 and redis.call('EXISTS', key) == 0 then return false end
rev, start = tonumber(rev), tonumber(start or 1)
local lastOf = redis.call('ZRANGE', ids, -1, -1, 'WITHSCORES')
local lastId = lastOf[1]
local isWhole = created and isListed and tonumber(time) and rev and start
  and count == rev + 1 - start and redis.call('LLEN', times) == count and tonumber(lastOf[2] or 0) == rev
local isGone = isOver(ends)
if not isWhole or isGone == nil then return { 'corrupt' } end
if isGone then return false end
-- It would never be removed.
if ends and not redis.call('ZSCORE', string.sub(KEYS[1], 1, -2) .. 'expiring', member) then return { 'corrupt' } end

local instead
local app = scopeAt(appKey, appMoves, function(answer) instead = answer end)
local user = scopeAt(userKey, userMoves, function(answer) instead = answer end)
if instead then return instead end
-- A session that has seen a scope further on than it is says that the scope was dropped.
if tonumber(seenApp or 0) > app.pos or tonumber(seenUser or 0) > user.pos then return { 'corrupt' } end

from, to = math.max(from, start), math.min(to, rev)
-- The ids of some events that follow each other; the creation's has none.
local function idsOf(first, last)
  local eventIds = redis.call('ZRANGE', ids, math.max(first, 1) - 1, last - 1)
  if first == 0 then table.insert(eventIds, 1, false) end
  return eventIds
end
local revs, datas, names
if not since then
  revs = math.max(from, to - last + 1)
  datas = revs <= to and redis.call('LRANGE', events, revs - start, to - start) or {}
  names = #datas > 0 and idsOf(revs, to) or {}
else
  -- From the end, some at a time, until there are enough or no earlier one can be late enough.
  revs, datas, names = {}, {}, {}
  local isEnd = false
  while from <= to and #revs < last and not isEnd do
    local low = math.max(from, to - 255)
    local some = redis.call('LRANGE', times, low - start, to - start)
    local first, places = nil, {}
    for place = to, low, -1 do
      local text = some[place - low + 1]
      if tonumber(string.match(text, '%S+$')) < since then
        isEnd = true
        break
      end
      if tonumber(string.match(text, '^%S+')) >= since and #revs + #places < last then
        first = place
        places[#places + 1] = place
      end
    end
    if first then
      local some, someIds = redis.call('LRANGE', events, first - start, places[1] - start), idsOf(first, places[1])
      for _, place in ipairs(places) do
        revs[#revs + 1] = place
        datas[#revs] = some[place - first + 1]
        names[#revs] = someIds[place - first + 1]
      end
    end
    to = low - 1
  end
end

local function values(key, isKnown)
  return not isKnown and redis.call('HGETALL', key)
end
-- Two marks are compared only when both are there.
local function isSame(scope, known)
  local pos, mark = string.match(known, '^@(%d+)(.*)$')
  return tonumber(pos) == scope.pos and (mark == '' or not scope.mark or mark == scope.mark)
end
local isThis, known = knownCreated == created, tonumber(knownRev)
local function isAt(id, place)
  if place == rev then return id == lastId end
  return tonumber(redis.call('ZSCORE', ids, id)) == place
end
local isOther = isThis and known and known > 0 and knownLast ~= '' and not isAt(knownLast, known)
local hasDiverged = isThis and known and (known > rev or isOther) or false
local changedApp, changedUser = changedSince(app, knownApp), changedSince(user, knownUser)
return {
  'found', created, rev, time, app.pos, user.pos,
  values(key, isThis and known == rev and not hasDiverged),
  values(appKey, changedApp or isSame(app, knownApp)), values(userKey, changedUser or isSame(user, knownUser)),
  revs, datas, names, lastId or false, app.mark, user.mark, changedApp, changedUser, hasDiverged and 1,
  ends,
}
`,
};

/** Reads the values of a scope. KEYS: the version's, the values and their moves. */
export const scopeScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}
local values = redis.call('HGETALL', KEYS[2])
if #values == 0 and redis.call('EXISTS', KEYS[3]) == 1 then return { 'corrupt' } end
return { 'found', values }
`,
};
