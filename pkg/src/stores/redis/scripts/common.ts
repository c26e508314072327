// Pieces that several scripts have in common. The keys are described in `script.ts`.

import { REMEMBERED_MS } from '../../shared/limits.js';
import { VERSION_TEXT } from '../version.js';

/**
 * Looks at the app's version, which is in the first key of every script, and answers when it is not this one. Leaves
 * `isNew`: nothing of the app is there yet.
 */
export const versionLua = String.raw`
local isNew = false
local version = redis.pcall('GET', KEYS[1])
if version ~= '${VERSION_TEXT}' then
  if type(version) == 'table' then return version end
  if version then return { 'version', version } end
  isNew = true
end
`;

/**
 * The server's clock: one moment for the whole script, read when it is first asked for. An end is the field `e` of a
 * session, or nothing.
 */
export const clockLua = String.raw`
local moment
local function now()
  if not moment then
    local time = redis.call('TIME')
    moment = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return moment
end
-- Clients read large integers inexactly: numbers are answered as texts.
local function textOf(number)
  return string.format('%.17g', number)
end
-- Whether there is an end, and it has come; nothing where it cannot be read.
local function isOver(text)
  if not text then return false end
  local ends = tonumber(text)
  return ends and ends <= now()
end
`;

/**
 * Reads the state of an app's or a user's scope. `missing` receives the answer for a state that is not known, as
 * something was dropped. Values under `names`, if there are any, are read by the same command: behind the fifth of
 * `got`.
 */
export const scopeLua = String.raw`
local READ_AT_ONCE = 1000 -- names
local function scopeAt(key, moves, missing, names)
  local got = redis.call('HMGET', key, 'p', 'n', 'm', 'b', 's', unpack(names or {}))
  if not got[1] and redis.call('EXISTS', key, moves) > 0 then
    redis.call('ZCARD', moves) -- fails where something else is
    missing({ 'corrupt' })
  end
  local pos, last, base, size = tonumber(got[1] or 0), tonumber(got[2] or 0), tonumber(got[4] or 0), tonumber(got[5] or 0)
  if not (pos and last and base and size) then missing({ 'corrupt' }) end
  return {
    key = key, moves = moves, pos = pos, posText = got[1] or '0', last = last, mark = got[3], base = base, size = size,
    got = got, before = 5,
  }
end
-- What stands under the name of an item of a delta: the text, or nothing.
local function storedAt(scope, index, item)
  if item.stored == nil then
    if scope.gone or index <= READ_AT_ONCE then
      item.stored = scope.got[scope.before + index] or false
    else
      item.stored = redis.call('HGET', scope.key, item.name)
    end
  end
  return item.stored
end
-- The JSON text in it.
local function valueText(stored)
  return stored and string.match(stored, '^[%d@]+:(.*)$')
end

-- What has changed since a known position '@position=mark': names that were unset, and the names and texts of what was set.
-- Nothing when there is no such row: no mark is known, it was another one, or it is too long ago.
local function changedSince(scope, known)
  local pos = tonumber(string.match(known, '^@(%d+)='))
  if not pos or pos >= scope.pos or not redis.call('ZSCORE', scope.moves, known) then return false end
  local unset, names, set = {}, {}, {}
  for _, row in ipairs(redis.call('ZRANGEBYSCORE', scope.moves, '(' .. pos, '+inf')) do
    local sign = string.sub(row, 1, 1)
    if sign == '-' then unset[#unset + 1] = string.sub(row, 2) end
    if sign == '=' then names[#names + 1] = row end
  end
  for first = 1, #names, 1000 do
    local last = math.min(first + 999, #names)
    for index, text in ipairs(redis.call('HMGET', scope.key, unpack(names, first, last))) do
      if text then
        set[#set + 1] = names[first + index - 1]
        set[#set + 1] = text
      end
    end
  end
  return { unset, set }
end
`;

/** The fields of the hashes of scopes and sessions that are no names, in Lua. */
const OWN_FIELDS = "'p', 'n', 'm', 'b', 's', 'w', 'c', 'r', 't', 'f', 'a', 'u', 'd', 'e', 'l', 'k', 'o', 'x'";

/** Counts the names of a scope or a session: the other fields of its hash are the store's own. */
export const namesLua = String.raw`
local function nameCount(key)
  local count = redis.call('HLEN', key)
  for _, own in ipairs(redis.call('HMGET', key, ${OWN_FIELDS})) do
    if own then count = count - 1 end
  end
  return count
end
`;

/**
 * Keeps an id with the time of now, and a note beside it unless that is empty. Forgets some that are too old: more
 * than one, so that they get fewer. The letter is that of the notes of this key. The script has {@link clockLua}.
 */
export const keepLua = String.raw`
local KEPT = ${REMEMBERED_MS / 1_000} -- seconds
local function keep(key, id, notes, letter, note)
  local seconds = math.floor(now() / 1000)
  redis.call('ZADD', key, seconds, id)
  if note ~= '' then redis.call('HSET', notes, letter .. id, note) end
  local old = redis.call('ZRANGEBYSCORE', key, '-inf', seconds - KEPT, 'LIMIT', 0, 16)
  if #old > 0 then
    redis.call('ZREM', key, unpack(old))
    for index, each in ipairs(old) do old[index] = letter .. each end
    redis.call('HDEL', notes, unpack(old))
  end
end
-- How a session that is removed is kept: which one it was, and under which key.
local function removedId(member, created)
  return #member .. ':' .. member .. created
end
-- The user as a member of the users. A key of a user is the prefix of the app, a letter, a colon and the user.
local function userName(key)
  return '=' .. string.sub(key, #KEYS[1] + 2)
end
`;
