// Deleting sessions and values, as several scripts do it. The keys are described in `script.ts`.

/**
 * `dropSession` deletes a session, and keeps which one it was. The script has the keys of the app as `LIST`,
 * `REMOVED`, `NOTES`, `IDS` and `EXPIRING`.
 */
export const dropLua = String.raw`
local function dropSession(its)
  redis.call('UNLINK', its.key, its.events, its.times, its.ids)
  redis.call('ZREM', LIST, its.member)
  redis.call('ZREM', its.userList, its.member)
  redis.call('ZREM', IDS, its.member)
  -- One that does not say who made it may not say either that it expires.
  if its.ends or not its.created then
    redis.call('ZREM', EXPIRING, its.member)
    redis.call('ZREM', its.userExpiring, its.member)
  end
  if its.created then keep(REMOVED, removedId(its.member, its.created), NOTES, 'r', its.digest or '') end
end
`;

/**
 * `fateOf` and `leaveUser` see to the user of a session that is removed, before and after that. The script has
 * `namesLua`, and the keys of the app as `USERS` and `IDLE`.
 */
export const fateLua = String.raw`
-- What becomes of a user whose last session is removed: nothing when there are others, or no names to forget.
local function fateOf(userList, userValues, isListed)
  if redis.call('ZCARD', userList) > (isListed and 1 or 0) then return nil end
  -- Whoever has a position stays among the users.
  if redis.call('EXISTS', userValues) == 0 then return 'gone' end
  return nameCount(userValues) > 0 and (redis.call('HGET', userValues, 'w') or textOf(now())) or nil
end
local function leaveUser(fate, userList)
  if fate == 'gone' then
    redis.call('ZREM', USERS, userName(userList))
  elseif fate then
    redis.call('ZADD', IDLE, fate, userName(userList))
  end
end
`;

/**
 * `emptyScope` deletes the values of a scope that `scopeAt` has read, as one change of it. `findValues` reads before
 * that what the log of them says; the script says by `IS_LOGGED` whether one is kept.
 */
export const emptyLua = String.raw`
local function findValues(scope)
  local names, values = {}, {}
  local got = IS_LOGGED and redis.call('HGETALL', scope.key) or {}
  for place = 1, #got, 2 do
    local name = got[place]
    if string.sub(name, 1, 1) == '=' then
      names[#names + 1] = name
      values[name] = got[place + 1]
    end
  end
  local function orderOf(name) return tonumber(string.match(values[name], '^%d+')) or 0 end
  table.sort(names, function(a, b) return orderOf(a) < orderOf(b) end)
  local writes = {}
  for index, name in ipairs(names) do writes[index] = writeText(name, valueText(values[name]), '') end
  return writes
end
local function emptyScope(scope, log, writes)
  scope.pos = scope.pos + 1
  redis.call('UNLINK', scope.key, scope.moves)
  redis.call('HSET', scope.key, 'p', scope.pos, 'b', scope.base)
  redis.call('ZADD', scope.moves, scope.pos, '@' .. scope.pos)
  if IS_LOGGED then pushEntry(scope, log, string.format('%.0f', now()), '', '', writes) end
end
`;
