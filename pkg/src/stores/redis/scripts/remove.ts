// The scripts that delete. The keys are described in `script.ts`.

import { keepLua, scopeLua, versionLua } from './common.js';
import { logLua } from './log.js';
import { KEEPING, appRightsLua } from './rights.js';
import type { Script } from './script.js';

/**
 * Deletes a session. KEYS: the version's, the session's values, events, times and ids, the lists of the app and the
 * user, the removed sessions, the notes, the sessions by their ids, the users, the values of the user. ARGV: the
 * channel, the sender, the hint, the member, the creation and the token that it must have (or empty). Answers `done`,
 * or `fenced` with the token that it has.
 */
export const removeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}${keepLua}
local key, events, times, ids, list, userList, removed, notes, allIds, users, userValues = unpack(KEYS, 2)
local channel, sender, hint, member, expected, fence = unpack(ARGV)
local inApp, inUser = redis.call('ZSCORE', list, member), redis.call('ZSCORE', userList, member)
local isInIds = redis.call('ZSCORE', allIds, member)
local created, digest = unpack(redis.call('HMGET', key, 'c', 'd'))
local count = redis.call('HLEN', key) + redis.call('LLEN', events) + redis.call('LLEN', times) + redis.call('ZCARD', ids)
-- These fail where something else is.
redis.call('ZCARD', removed)
redis.call('HLEN', notes)
redis.call('ZCARD', users)
if not inApp and not inUser and not isInIds and count == 0 then return { 'done' } end
if expected ~= '' and not created then return { 'corrupt' } end
if expected ~= '' and created ~= expected then return { 'done' } end
if fence ~= '' then
  local token = tonumber(redis.call('HGET', key, 'k') or 0)
  if not token then return { 'corrupt' } end
  if token ~= tonumber(fence) then return { 'fenced', string.format('%.17g', token) } end
end
-- Whoever has a position stays among the users.
local isLast = redis.call('ZCARD', userList) <= (inUser and 1 or 0) and redis.call('EXISTS', userValues) == 0
local fault = denied({ 'UNLINK', KEYS[1] }, ${KEEPING})
if fault then return fault end
redis.call('UNLINK', key, events, times, ids)
redis.call('ZREM', list, member)
redis.call('ZREM', userList, member)
redis.call('ZREM', allIds, member)
if isLast then redis.call('ZREM', users, userName(userList)) end
if created then keep(removed, removedId(member, created), notes, 'r', digest or '') end
redis.pcall('PUBLISH', channel, sender .. ' ' .. hint)
return { 'done' }
`,
};

/**
 * Deletes the values of a scope. KEYS: the version's, the values, their moves and their log. ARGV: the channel, the
 * sender, the hint, whether a log is kept (or empty).
 */
export const removeScopeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}${scopeLua}${logLua}
local answer
local scope = scopeAt(KEYS[2], KEYS[3], function(instead) answer = instead end)
if answer then return answer end
if scope.pos == 0 then return { 'done' } end
redis.call('ZCARD', scope.moves) -- fails where something else is
local isLogged = ARGV[4] ~= ''
local names, values = {}, {}
local got = isLogged and redis.call('HGETALL', scope.key) or {}
for place = 1, #got, 2 do
  local name = got[place]
  if string.sub(name, 1, 1) == '=' then
    names[#names + 1] = name
    values[name] = got[place + 1]
  end
end
local fault = denied(
  { 'UNLINK', KEYS[1] }, { 'LTRIM', KEYS[1], 0, 0 }, { 'HSET', KEYS[1], '', '' }, { 'ZADD', KEYS[1], 0, '' },
  { 'RPUSH', KEYS[1], '' }, { 'TIME' }
)
if fault then return fault end
scope.pos = scope.pos + 1
redis.call('UNLINK', scope.key, scope.moves)
redis.call('HSET', scope.key, 'p', scope.pos, 'b', scope.base)
redis.call('ZADD', scope.moves, scope.pos, '@' .. scope.pos)
if isLogged then
  local function orderOf(name) return tonumber(string.match(values[name], '^%d+')) or 0 end
  table.sort(names, function(a, b) return orderOf(a) < orderOf(b) end)
  local writes = {}
  for index, name in ipairs(names) do writes[index] = writeText(name, valueText(values[name]), '') end
  local time = redis.call('TIME')
  pushEntry(scope, KEYS[4], string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), '', '', writes)
end
redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
return { 'done' }
`,
};
