// The scripts that find users by the id of a session, and list users and apps. The keys are described in `script.ts`.

import { clockLua, versionLua } from './common.js';
import { livingLua } from './living.js';
import type { Script } from './script.js';

/**
 * Finds the users who have a session with an id. KEYS: the version's, the sessions by their ids, the list of the app,
 * the sessions that expire. ARGV: where the members of the id begin, and where they end. Answers `found` and these
 * members, without those that have expired.
 */
export const ownersScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}${clockLua}${livingLua}
local ids, list, expiring = KEYS[2], KEYS[3], KEYS[4]
local members = redis.call('ZRANGEBYLEX', ids, ARGV[1], ARGV[2])
-- Fewer than in the list: some were dropped.
if redis.call('ZCARD', ids) < redis.call('ZCARD', list) then return { 'corrupt' } end
return { 'found', expiredCount(expiring) == 0 and members or livingOf(expiring, members) }
`,
};

/**
 * Lists users. KEYS: the version's, the users, the list of the app. ARGV: where the names begin, how many at most.
 * Answers `found` and the names.
 */
export const usersScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}
local users, list = KEYS[2], KEYS[3]
local names = redis.call('ZRANGEBYLEX', users, ARGV[1], '+', 'LIMIT', 0, ARGV[2])
if redis.call('EXISTS', users) == 0 and redis.call('EXISTS', list) == 1 then return { 'corrupt' } end
return { 'found', names }
`,
};

/** Lists apps. KEYS: the apps. ARGV: as those of the users. Answers the names. */
export const appsScript: Script = {
  onForeign: 'corrupt',
  text: "return redis.call('ZRANGEBYLEX', KEYS[1], ARGV[1], '+', 'LIMIT', 0, ARGV[2])",
};

/** Adds an app to the apps. KEYS: these. ARGV: the name. */
export const registerScript: Script = {
  onForeign: 'rejected',
  text: "return redis.call('ZADD', KEYS[1], 0, ARGV[1])",
};
