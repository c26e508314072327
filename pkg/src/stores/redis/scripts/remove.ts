// The scripts that delete. The keys are described in `script.ts`.

import { keepLua, scopeLua, versionLua } from './common.js';
import type { Script } from './script.js';

/**
 * Deletes a session. KEYS: the version's, the session's values, events, times and ids, the lists of the app and the
 * user, the removed sessions. ARGV: the channel, the sender, the hint, the member, the creation that it must have (or
 * empty).
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
 * Deletes the values of a scope. KEYS: the version's, the values and their log. ARGV: the channel, the sender, the
 * hint.
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
