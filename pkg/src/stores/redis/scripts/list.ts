// The script that lists sessions. The keys are described in `script.ts`.

import { versionLua } from './common.js';
import type { Script } from './script.js';

/**
 * Lists sessions. KEYS: the version's, the list, the values and the moves of the app. ARGV: `descending` or not, how
 * many to pass over, how many at most, and the place to go on behind, if any: its time and its member.
 *
 * Answers `found`, the number of all, the values of the app, the members, the values of each, those of each of their
 * users in the order in which they come up, and the time of the last member. Values that are no hash, or were dropped,
 * are nothing.
 */
export const listScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}
local list, app, appMoves = unpack(KEYS, 2)
local base = string.sub(KEYS[1], 1, -2)
local isDescending, skip, limit, time, after = ARGV[1] == 'descending', tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4], ARGV[5]
local total = redis.call('ZCARD', list)

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

if after then
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
  skip = (isDescending and total - first - count or first) + low
end

local members = {}
local stop = math.min(total, skip + limit)
if skip < stop and not isDescending then
  members = redis.call('ZRANGE', list, skip, stop - 1)
elseif skip < stop then
  -- Redis gives ties in descending order, too: each run of them is read again, the other way round.
  local got = redis.call('ZREVRANGE', list, skip, stop - 1, 'WITHSCORES')
  local size = stop - skip
  local start = 1
  while start <= size do
    local score = got[2 * start]
    local last = start
    while last < size and got[2 * last + 2] == score do last = last + 1 end
    if start == last and start > 1 and last < size then
      members[start] = got[2 * start - 1]
    else
      local first, count = tied(score)
      local from = first + skip + start - 1 - (total - first - count)
      for index, member in ipairs(redis.call('ZRANGE', list, from, from + last - start)) do
        members[start + index - 1] = member
      end
    end
    start = last + 1
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
return { 'found', total, appValues, members, rows, users, last }
`,
};
