// The scripts that delete. The keys are described in `script.ts`.

import { clockLua, keepLua, namesLua, scopeLua, versionLua } from './common.js';
import { logLua } from './log.js';
import { dropLua, emptyLua, fateLua } from './removal.js';
import { EMPTYING, KEEPING, appRightsLua, deniedOf } from './rights.js';
import type { Script } from './script.js';

/**
 * Deletes a session. KEYS: the version's, the keys of the app that `../sweep.ts` puts before those of sessions, the
 * session's values, events, times and ids, the user's list, expiring sessions and values. ARGV: the channel, the
 * sender, the hint, the member, the creation and the token that it must have (or empty). Answers `done`, or `fenced`
 * with the token that it has.
 *
 * A session that has expired is not there: no token is compared. What is left of it is deleted all the same.
 */
export const removeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}${clockLua}${namesLua}${keepLua}
local LIST, REMOVED, NOTES, IDS, USERS, EXPIRING, IDLE = unpack(KEYS, 2, 8)
${dropLua}${fateLua}
local key, events, times, ids, userList, userExpiring, userValues = unpack(KEYS, 9)
local channel, sender, hint, member, expected, fence = unpack(ARGV)
local inApp, inUser = redis.call('ZSCORE', LIST, member), redis.call('ZSCORE', userList, member)
local isInIds = redis.call('ZSCORE', IDS, member)
local created, digest, ends = unpack(redis.call('HMGET', key, 'c', 'd', 'e'))
local count = redis.call('HLEN', key) + redis.call('LLEN', events) + redis.call('LLEN', times) + redis.call('ZCARD', ids)
-- These fail where something else is.
redis.call('ZCARD', REMOVED)
redis.call('HLEN', NOTES)
redis.call('ZCARD', USERS)
redis.call('ZCARD', IDLE)
if ends or not created then
  redis.call('ZCARD', EXPIRING)
  redis.call('ZCARD', userExpiring)
end
if not inApp and not inUser and not isInIds and count == 0 then return { 'done' } end
if expected ~= '' and not created then return { 'corrupt' } end
if expected ~= '' and created ~= expected then return { 'done' } end
if fence ~= '' and not isOver(ends) then
  local token = tonumber(redis.call('HGET', key, 'k') or 0)
  if not token then return { 'corrupt' } end
  if token ~= tonumber(fence) then return { 'fenced', textOf(token) } end
end
local fate = fateOf(userList, userValues, inUser)
local fault = ${deniedOf("'UNLINK', KEYS[1]", ...KEEPING)}
if fault then return fault end
dropSession({
  member = member, key = key, events = events, times = times, ids = ids,
  userList = userList, userExpiring = userExpiring, created = created, digest = digest, ends = ends,
})
leaveUser(fate, userList)
redis.pcall('PUBLISH', channel, sender .. ' ' .. hint)
return { 'done' }
`,
};

/**
 * Deletes the values of a scope. KEYS: the version's, the values, their moves and their log, the idle users. ARGV: the
 * channel, the sender, the hint, whether a log is kept (or empty), whether it is that of a user (or empty).
 */
export const removeScopeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}${clockLua}${scopeLua}${keepLua}${logLua}
local IS_LOGGED, IDLE = ARGV[4] ~= '', KEYS[5]
${emptyLua}
local answer
local scope = scopeAt(KEYS[2], KEYS[3], function(instead) answer = instead end)
if answer then return answer end
if scope.pos == 0 then return { 'done' } end
-- These fail where something else is.
redis.call('ZCARD', scope.moves)
redis.call('ZCARD', IDLE)
local writes = findValues(scope)
local fault = ${deniedOf(...EMPTYING)}
if fault then return fault end
emptyScope(scope, KEYS[4], writes)
if ARGV[5] ~= '' then redis.call('ZREM', IDLE, userName(scope.key)) end
redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
return { 'done' }
`,
};
