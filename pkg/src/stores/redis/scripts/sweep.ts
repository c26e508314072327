// The scripts that find what has expired, and remove it. The keys are described in `script.ts`.

import { clockLua, keepLua, namesLua, scopeLua, versionLua } from './common.js';
import { logLua } from './log.js';
import { dropLua, emptyLua, fateLua } from './removal.js';
import { EMPTYING, KEEPING, appRightsLua, deniedOf } from './rights.js';
import type { Script } from './script.js';

/**
 * Finds what has expired in an app. KEYS: the version's, the sessions that expire, the idle users. ARGV: how many of
 * each at most, and for how many milliseconds users have been idle (or empty for none). Answers `found`, the members,
 * each with the time when it expired, and the users.
 */
export const expiredScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}${clockLua}
local limit, idleFor = ARGV[1], tonumber(ARGV[2])
local sessions = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', textOf(now()), 'WITHSCORES', 'LIMIT', 0, limit)
local users = idleFor and redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', textOf(now() - idleFor), 'LIMIT', 0, limit) or {}
return { 'found', sessions, users }
`,
};

/**
 * Counts what has expired in an app. KEYS and ARGV: as those of `expiredScript`, without the number. Answers
 * `counted`, the number of sessions and that of users.
 */
export const countScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}${clockLua}
local idleFor = tonumber(ARGV[1])
local sessions = redis.call('ZCOUNT', KEYS[2], '-inf', textOf(now()))
return { 'counted', sessions, idleFor and redis.call('ZCOUNT', KEYS[3], '-inf', textOf(now() - idleFor)) or 0 }
`,
};

/**
 * Answers `found` and some of the sessions of an app that have expired, by their place among those. KEYS: the
 * version's, the sessions that expire. ARGV: the first place, from 0, and how many.
 */
export const expiredPartScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}${clockLua}
local first, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local last = math.min(first + count, redis.call('ZCOUNT', KEYS[2], '-inf', textOf(now()))) - 1
return { 'found', last < first and {} or redis.call('ZRANGE', KEYS[2], first, last) }
`,
};

/**
 * Counts users of an app who have expired sessions alone, and values that are old enough for a sweep. KEYS: the
 * version's, and for each session that has expired the list of its user, those of that list that expire, the user's
 * values. ARGV: for how many milliseconds users have been idle, and the member of each session. Answers `counted` and
 * the number.
 *
 * A user counts with the session that expired first: nobody has to remember the others.
 */
export const leftByAllScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}${clockLua}${namesLua}
local time, latest, count = textOf(now()), now() - tonumber(ARGV[1]), 0
for place = 2, #ARGV do
  local at = 3 * place - 4
  local userList, userExpiring, values = KEYS[at], KEYS[at + 1], KEYS[at + 2]
  local first = redis.call('ZRANGE', userExpiring, 0, 0)[1]
  if first == ARGV[place] and redis.call('ZCOUNT', userExpiring, '-inf', time) >= redis.call('ZCARD', userList) then
    local isOld = (tonumber(redis.call('HGET', values, 'w')) or now()) <= latest
    if isOld and redis.call('EXISTS', values) == 1 and nameCount(values) > 0 then count = count + 1 end
  end
end
return { 'counted', count }
`,
};

/** The commands that a sweep reads by once it has written. */
const READING: readonly string[] = [
  "'HMGET', KEYS[1], ''",
  "'HLEN', KEYS[1]",
  "'HGET', KEYS[1], ''",
  "'EXISTS', KEYS[1]",
  "'ZCARD', KEYS[1]",
  "'ZSCORE', KEYS[1], ''",
  "'HGETALL', KEYS[1]",
];

/**
 * Removes those of some sessions of an app that have expired. KEYS: as those of `removeScript`, with some for each
 * session. ARGV: the channel, the sender, and for each session its member and the hint. Answers `done`, how many were
 * removed, and the members of those that have a key of another type: they stay, and the others are removed.
 *
 * What the session says itself is right: where the list of those that expire says another thing, it is corrected.
 */
export const sweepScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}${clockLua}${namesLua}${keepLua}
local LIST, REMOVED, NOTES, IDS, USERS, EXPIRING, IDLE = unpack(KEYS, 2, 8)
${dropLua}${fateLua}
-- These fail where something else is.
for _, key in ipairs({ LIST, REMOVED, IDS, USERS, EXPIRING, IDLE }) do redis.call('ZCARD', key) end
redis.call('HLEN', NOTES)
local fault = ${deniedOf("'UNLINK', KEYS[1]", ...KEEPING, ...READING)}
if fault then return fault end
-- Reads all that says what is done with a session, and fails where something else is.
local function look(member, at)
  local key, events, times, ids, userList, userExpiring, userValues = unpack(KEYS, at, at + 6)
  local created, digest, ends = unpack(redis.call('HMGET', key, 'c', 'd', 'e'))
  local isListed = redis.call('ZSCORE', userList, member)
  redis.call('ZCARD', userExpiring)
  local its = {
    member = member, key = key, events = events, times = times, ids = ids,
    userList = userList, userExpiring = userExpiring, created = created, digest = digest, ends = ends,
  }
  return its, fateOf(userList, userValues, isListed)
end
local hints, foreign, at = {}, {}, 9
for place = 3, #ARGV, 2 do
  local member = ARGV[place]
  local ok, its, fate = pcall(look, member, at)
  at = at + 7
  if not ok then
    if not string.find(type(its) == 'table' and its.err or tostring(its), 'WRONGTYPE', 1, true) then error(its) end
    foreign[#foreign + 1] = member
  elseif its.created and not isOver(its.ends) then
    if tonumber(its.ends) then
      redis.call('ZADD', EXPIRING, its.ends, member)
    else
      redis.call('ZREM', EXPIRING, member)
    end
  elseif redis.call('ZSCORE', EXPIRING, member) then
    dropSession(its)
    leaveUser(fate, its.userList)
    hints[#hints + 1] = ARGV[place + 1]
  end
end
if #hints > 0 then redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. table.concat(hints, ' ')) end
return { 'done', #hints, foreign }
`,
};

/**
 * Deletes the values of those of some users of an app who are idle. KEYS: the version's, the idle users, and for each
 * user the values, their moves and their log, the list of sessions. ARGV: the channel, the sender, whether a log is
 * kept (or empty), for how many milliseconds users have been idle, and for each the hint. Answers `done` and how many
 * there were.
 */
export const sweepUsersScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}${clockLua}${scopeLua}${keepLua}${logLua}
local IS_LOGGED, IDLE, idleSince = ARGV[3] ~= '', KEYS[2], now() - tonumber(ARGV[4])
${emptyLua}
local fault = ${deniedOf(...EMPTYING, ...READING)}
if fault then return fault end
local hints, at = {}, 3
for place = 5, #ARGV do
  local values, moves, log, userList = unpack(KEYS, at, at + 3)
  at = at + 4
  local user = userName(values)
  local since = redis.call('ZSCORE', IDLE, user)
  if since and tonumber(since) <= idleSince then
    local isCorrupt = false
    local scope = scopeAt(values, moves, function() isCorrupt = true end)
    if not isCorrupt and scope.pos > 0 and redis.call('ZCARD', userList) == 0 then
      redis.call('ZCARD', moves) -- fails where something else is
      emptyScope(scope, log, findValues(scope))
      hints[#hints + 1] = ARGV[place]
    end
    redis.call('ZREM', IDLE, user)
  end
end
if #hints > 0 then redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. table.concat(hints, ' ')) end
return { 'done', #hints }
`,
};
