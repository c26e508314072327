// The scripts that look at the stored data when the store is opened. The keys are described in `script.ts`.

import { rightsLua } from './rights.js';
import type { Script } from './script.js';

/**
 * Says which version wrote the data. KEYS: the version of all. ARGV: this version, and whether to write it when
 * there is none.
 *
 * Makes sure that the user may run every command that the scripts need. A right that cannot be asked for is tried when
 * there is a version.
 */
export const openScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${rightsLua}
local key = KEYS[1]
local needed = {
  { 'EXISTS', key }, { 'GET', key }, { 'SET', key, '', 'NX' }, { 'UNLINK', key }, { 'TIME' },
  { 'HDEL', key, '' }, { 'HGET', key, '' }, { 'HGETALL', key }, { 'HLEN', key }, { 'HMGET', key, '' }, { 'HSET', key, '', '' },
  { 'LINDEX', key, 0 }, { 'LLEN', key }, { 'LRANGE', key, 0, 0 }, { 'LTRIM', key, 0, 0 },
  { 'RPUSH', key, '' },
  { 'ZADD', key, 0, '' }, { 'ZCARD', key }, { 'ZCOUNT', key, 0, 0 }, { 'ZRANGE', key, 0, 0 }, { 'ZRANGEBYLEX', key, '-', '+' },
  { 'ZRANGEBYSCORE', key, 0, 0 }, { 'ZMSCORE', key, '' },
  { 'ZREM', key, '' }, { 'ZREMRANGEBYSCORE', key, 0, 0 }, { 'ZREVRANGE', key, 0, 0 }, { 'ZSCORE', key, '' },
}
local denied = deniedBy(needed)
if #denied > 0 then return { 'denied', table.concat(denied, ', ') } end

local version = redis.call('GET', key)
local isMade = not version and ARGV[2] == 'create'
if isMade then
  redis.call('SET', key, ARGV[1])
  version = ARGV[1]
end
denied = deniedBy(not redis.acl_check_cmd and needed or {}, version)
if #denied > 0 then
  if isMade then redis.call('UNLINK', key) end
  return { 'denied', table.concat(denied, ', ') }
end
return { 'found', version }
`,
};
