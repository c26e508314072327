// The scripts for leases and claims. The keys are described in `script.ts`.

import { clockLua, versionLua } from './common.js';
import { appRightsLua, deniedOf } from './rights.js';
import type { Script } from './script.js';

/**
 * Decides a request for a lease: the same rule as `store/lease.ts`. `decide` answers a refusal, or none with the
 * token, the holder (nothing when it was given back) and the end.
 */
const decideLua = String.raw`
local function decide(fence, owner, ends, holder, ttl, known)
  if not known then
    if owner ~= holder then
      if owner and ends > now() then return { 'held', textOf(ends) } end
      fence = fence + 1
    end
  elseif ttl <= 0 and not owner and known + 1 == fence then
    -- It was given back already, and the answer was lost.
    return nil, fence, false, now()
  elseif known ~= fence or owner ~= holder then
    return { 'fenced', textOf(fence) }
  elseif ttl <= 0 then
    return nil, fence + 1, false, now()
  end
  return nil, fence, holder, now() + ttl
end
`;

/**
 * Reads what a session has for its leases. KEYS: the version's, the session's values. Answers the token, and where
 * there is one the holder and when its lease ends; or nothing for a missing session.
 */
export const readLeaseScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${clockLua}
local created, fence, owner, ends, over = unpack(redis.call('HMGET', KEYS[2], 'c', 'k', 'o', 'x', 'e'))
if not created then return false end
local isGone = isOver(over)
if isGone == nil then return { 'corrupt' } end
if isGone then return false end
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
  text: String.raw`${versionLua}${appRightsLua}${clockLua}${decideLua}
local key, list = KEYS[2], KEYS[3]
local member, expected, holder, ttl, knownFence = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local created, stored, owner, text, over = unpack(redis.call('HMGET', key, 'c', 'k', 'o', 'x', 'e'))
if not created and (redis.call('EXISTS', key) == 1 or redis.call('ZSCORE', list, member)) then return { 'corrupt' } end
local isGone = isOver(over)
if isGone == nil then return { 'corrupt' } end
if not created or (expected ~= '' and expected ~= created) or isGone then return { 'not-found' } end
local fence, ends = tonumber(stored or 0), tonumber(text or 0)
if not (fence and ends) then return { 'corrupt' } end
local refusal, after, leaser, untilWhen = decide(fence, owner, ends, holder, ttl, knownFence)
if refusal then return refusal end
if leaser then
  redis.call('HSET', key, 'k', textOf(after), 'o', leaser, 'x', textOf(untilWhen))
elseif after ~= fence then
  local fault = ${deniedOf("'HSET', KEYS[1], '', ''", "'HDEL', KEYS[1], ''")}
  if fault then return fault end
  redis.call('HSET', key, 'k', textOf(after))
  redis.call('HDEL', key, 'o', 'x')
end
return { 'leased', textOf(after), textOf(untilWhen) }
`,
};

/**
 * The same for the claim of a name. KEYS: the claim. ARGV: who asks, for how many milliseconds, the token. It writes
 * by one command alone, and never deletes the token.
 */
export const claimScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${clockLua}${decideLua}
local key = KEYS[1]
local holder, ttl, knownFence = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local stored, owner, text = unpack(redis.call('HMGET', key, 'k', 'o', 'x'))
if owner == '' then owner = false end
local fence, ends = tonumber(stored or 0), tonumber(text or 0)
if not (fence and ends) then return { 'corrupt' } end
local refusal, after, claimer, untilWhen = decide(fence, owner, ends, holder, ttl, knownFence)
if refusal then return refusal end
if claimer or after ~= fence then
  redis.call('HSET', key, 'k', textOf(after), 'o', claimer or '', 'x', claimer and textOf(untilWhen) or '0')
end
return { 'leased', textOf(after), textOf(untilWhen) }
`,
};
