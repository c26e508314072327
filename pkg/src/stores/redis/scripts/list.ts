// The script that lists sessions. The keys are described in `script.ts`.

import { clockLua, versionLua } from './common.js';
import { livingLua } from './living.js';
import type { Script } from './script.js';

/**
 * Lists sessions. KEYS: the version's, the list, those of it that expire, the values and the moves of the app. ARGV:
 * `descending` or not, how many to pass over, how many at most, and the place to go on behind, if any: its time and
 * its member.
 *
 * Answers `found`, the number of all, the values of the app, the members, the values of each, those of each of their
 * users in the order in which they come up, the time of the last member, and the server's clock. Values that are no
 * hash, or were dropped, are nothing.
 */
export const listScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}${clockLua}${livingLua}
local list, expiring, app, appMoves = unpack(KEYS, 2)
local base = string.sub(KEYS[1], 1, -2)
local isDescending, skip, limit, time, after = ARGV[1] == 'descending', tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local size, expired = redis.call('ZCARD', list), expiredCount(expiring)

-- Byte by byte: Lua's own comparison follows the server's locale.
local function isBehind(a, b)
  for index = 1, math.min(#a, #b) do
    local x, y = string.byte(a, index), string.byte(b, index)
    if x ~= y then return x > y end
  end
  return #a > #b
end

-- How many stand before the sessions of a time, ascending, and how many these are.
local function tied(time)
  return redis.call('ZCOUNT', list, '-inf', '(' .. time), redis.call('ZCOUNT', list, time, time)
end

-- The number of members before the first one behind a place.
local function placeOf(time, after)
  local first, count = tied(time)
  local low, high = 0, count
  while low < high do
    local middle = math.floor((low + high) / 2)
    if isBehind(redis.call('ZRANGE', list, first + middle, first + middle)[1], after) then
      high = middle
    else
      low = middle + 1
    end
  end
  return (isDescending and size - first - count or first) + low
end

-- The members behind the first so many, up to so many: the expired ones are among them.
local function membersAt(start, stop)
  if start >= stop then return {} end
  if not isDescending then return redis.call('ZRANGE', list, start, stop - 1) end
  -- Redis gives ties in descending order, too: each run of them is read again, the other way round.
  local members, got, count = {}, redis.call('ZREVRANGE', list, start, stop - 1, 'WITHSCORES'), stop - start
  local at = 1
  while at <= count do
    local score = got[2 * at]
    local last = at
    while last < count and got[2 * last + 2] == score do last = last + 1 end
    if at == last and at > 1 and last < count then
      members[at] = got[2 * at - 1]
    else
      local first, ties = tied(score)
      local from = first + start + at - 1 - (size - first - ties)
      for index, member in ipairs(redis.call('ZRANGE', list, from, from + last - at)) do
        members[at + index - 1] = member
      end
    end
    at = last + 1
  end
  return members
end

local start = after and placeOf(time, after) or 0
local members = {}
if expired == 0 then
  members = membersAt(start + skip, math.min(size, start + skip + limit))
else
  -- Some at a time, as the expired ones among them are not counted.
  while start < size and #members < limit do
    local stop = math.min(size, start + math.min(1000, math.max(100, skip + limit - #members)))
    for _, member in ipairs(livingOf(expiring, membersAt(start, stop))) do
      if skip > 0 then
        skip = skip - 1
      elseif #members < limit then
        members[#members + 1] = member
      end
    end
    start = stop
  end
end

local failure
local function values(key)
  local got = redis.pcall('HGETALL', key)
  if not got.err then return got end
  if not string.find(got.err, 'WRONGTYPE', 1, true) then failure = got end
  return false
end
local rows, users, readUsers = {}, {}, {}
for index, member in ipairs(members) do
  rows[index] = values(base .. 's:' .. member)
  local user = string.sub(member, string.find(member, '\0', 1, true) + 1)
  if not readUsers[user] then
    readUsers[user] = true
    local got = values(base .. 'u:' .. user)
    if got and #got == 0 then
      got = redis.call('EXISTS', base .. 'm:' .. user) == 0 and got
    end
    users[#users + 1] = got
  end
end
if failure then return failure end
local appValues = redis.call('HGETALL', app)
if #appValues == 0 and redis.call('EXISTS', appMoves) == 1 then return { 'corrupt' } end
-- The list has its time, also when the session does not tell it any more.
local last = #members > 0 and redis.call('ZSCORE', list, members[#members])
return { 'found', size - expired, appValues, members, rows, users, last, textOf(now()) }
`,
};
