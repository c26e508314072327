// The log of the values of an app, or of a user in it, and the scripts that read and trim it.

import { scopeLua, versionLua } from './common.js';
import { appRightsLua, deniedOf } from './rights.js';
import type { Script } from './script.js';

/**
 * A log is a list of entries, one for each position above its base, `b` of the scope's values, up to the scope's
 * position. It is another length when changes were made while no log was kept, or the list was dropped: nothing of it
 * counts then. An entry is texts with `SEP` between them, a byte that no text has: the time; the member and the event,
 * empty where there are none; then for each write `=name`, the JSON text before and that after, empty where there is
 * none.
 */
export const logLua = String.raw`
local SEP = '\255'
local function writeText(name, from, to)
  return name .. SEP .. (from or '') .. SEP .. to
end
-- Adds the entry of the position where a scope is now. The log begins with it when what is before it is not all there.
-- A change does not depend on it: where something else is, the log cannot be read.
local function pushEntry(scope, log, time, member, event, writes)
  local texts = { time, member, event }
  for _, write in ipairs(writes) do
    if write then texts[#texts + 1] = write end
  end
  local length = redis.pcall('RPUSH', log, table.concat(texts, SEP))
  if type(length) == 'number' and length ~= scope.pos - scope.base then
    redis.call('LTRIM', log, -1, -1)
    redis.call('HSET', scope.key, 'b', scope.pos - 1)
  end
end
`;

/** The log whose position and base are those of `scope`: `LOG` is its key. Fails where something else is. */
const baseLua = String.raw`
local LOG = KEYS[4]
local answer
local scope = scopeAt(KEYS[2], KEYS[3], function(instead) answer = instead end)
if answer then return answer end
local isWhole = redis.call('LLEN', LOG) == scope.pos - scope.base
`;

/**
 * Reads a part of a log. KEYS: the version's, the values, their moves and their log. ARGV: the position to begin
 * behind, the last one, `=name` (or empty) to get no other, how many entries at most, how many to look at.
 *
 * Answers `found`, the position, the base, the position up to which all were looked at, and for each entry its
 * position, time, member, event, and the names and texts of its writes. Every text has a sign before it.
 */
export const readLogScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`${versionLua}${scopeLua}${logLua}${baseLua}
local after, to, name, limit, enough = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local base = isWhole and scope.base or scope.pos
local first, last = math.max(after, base) + 1, math.min(to, scope.pos)
local stop = math.min(last, first + enough - 1)

local function signed(text)
  return '=' .. text
end
local function entryOf(pos, text)
  local texts, at, stop = {}, 1, nil
  repeat
    stop = string.find(text, SEP, at, true)
    texts[#texts + 1] = string.sub(text, at, stop and stop - 1)
    at = stop and stop + 1
  until not stop
  local writes = {}
  for place = 4, #texts, 3 do
    if name == '' or texts[place] == name then
      for index = place, place + 2 do writes[#writes + 1] = signed(texts[index]) end
    end
  end
  if name ~= '' and #writes == 0 then return nil end
  return { pos, signed(texts[1]), signed(texts[2]), signed(texts[3]), writes }
end

local entries = {}
local sought = name ~= '' and SEP .. name .. SEP
while first <= stop and #entries < limit do
  local high = math.min(first + 255, stop)
  for index, text in ipairs(redis.call('LRANGE', LOG, first - base - 1, high - base - 1)) do
    -- Most entries that have no such name need not be taken apart.
    local isSought = not sought or string.find(text, sought, 1, true)
    if isSought and #entries < limit then entries[#entries + 1] = entryOf(first + index - 1, text) end
  end
  first = high + 1
end
if #entries >= limit or first > last then first = last + 1 end
return { 'found', scope.pos, base, first - 1, entries }
`,
};

/**
 * Trims a log. KEYS: the version's, the values, their moves and their log. ARGV: the position up to which entries are
 * deleted. Answers `done`, and how many there were.
 */
export const trimLogScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}${scopeLua}${baseLua}
if not isWhole then
  redis.call('UNLINK', LOG)
  return { 'done', 0 }
end
local upTo = math.min(math.floor(tonumber(ARGV[1])), scope.pos)
local count = upTo - scope.base
if count <= 0 then return { 'done', 0 } end
local fault = ${deniedOf("'HSET', KEYS[1], '', ''", "'LTRIM', KEYS[1], 0, 0")}
if fault then return fault end
redis.call('HSET', scope.key, 'b', upTo)
redis.call('LTRIM', LOG, count, -1)
return { 'done', count }
`,
};
