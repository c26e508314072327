// The script for leases: the same rule as `store/lease.ts`. The keys are described in `script.ts`.

import { versionLua } from './common.js';
import { appRightsLua } from './rights.js';
import type { Script } from './script.js';

/**
 * Reads what a session has for its leases. KEYS: the version's, the session's values. Answers the token, and where
 * there is one the holder and when its lease ends; or nothing for a missing session.
 */
export const readLeaseScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}
local created, fence, owner, ends = unpack(redis.call('HMGET', KEYS[2], 'c', 'k', 'o', 'x'))
if not created then return false end
return { fence or '0', owner, owner and ends }
`,
};

/**
 * Takes the lease of a session, makes it last longer or gives it back. KEYS: the version's, the session's values, the
 * list of the app. ARGV: the member, the creation that it must have (or empty), who asks, for how many milliseconds
 * (0 to give it back), the token (empty to take it).
 *
 * Answers `leased` with the token and when it ends, `held` with when it ends, `fenced` with the token of the session,
 * or `not-found`.
 */
export const leaseScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}
local key, list = KEYS[2], KEYS[3]
local member, expected, holder, ttl, knownFence = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local created, stored, owner, text = unpack(redis.call('HMGET', key, 'c', 'k', 'o', 'x'))
if not created and (redis.call('EXISTS', key) == 1 or redis.call('ZSCORE', list, member)) then return { 'corrupt' } end
if not created or (expected ~= '' and expected ~= created) then return { 'not-found' } end
local fence, ends = tonumber(stored or 0), tonumber(text or 0)
if not (fence and ends) then return { 'corrupt' } end
-- Clients read large integers inexactly: numbers are answered as texts.
local function textOf(number)
  return string.format('%.17g', number)
end
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not knownFence then
  if owner ~= holder then
    if owner and ends > now then return { 'held', text } end
    fence = fence + 1
  end
elseif ttl <= 0 and not owner and knownFence + 1 == fence then
  -- It was given back already, and the answer was lost.
  return { 'leased', textOf(fence), textOf(now) }
elseif knownFence ~= fence or owner ~= holder then
  return { 'fenced', textOf(fence) }
elseif ttl <= 0 then
  local fault = denied({ 'HSET', KEYS[1], '', '' }, { 'HDEL', KEYS[1], '' })
  if fault then return fault end
  redis.call('HSET', key, 'k', textOf(fence + 1))
  redis.call('HDEL', key, 'o', 'x')
  return { 'leased', textOf(fence + 1), textOf(now) }
end
redis.call('HSET', key, 'k', textOf(fence), 'o', holder, 'x', textOf(now + ttl))
return { 'leased', textOf(fence), textOf(now + ttl) }
`,
};
