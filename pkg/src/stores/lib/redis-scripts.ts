// What runs inside Redis: one script for each operation, so that each is one round trip and sees one moment.
//
// The keys of an app, all of them with its hash tag, so that they lie in one slot of a cluster (`redis-keys.ts`). A script gets
// all that it may write among its KEYS: Redis then refuses it as a whole while some of them are on another server.
//
//   :a, :u:user     hash     the values of the app, of a user: `=name` is `order:JSON`; `p` is the position, `n` the last order
//   :s:member       hash     a session: its values, and `c` the creation, `r` the revision, `t` the time, `f` the revision of
//                            the first event where that is 0, the creation's
//   :e:member       list     its events
//   :t:member       list     the time of each event and, where it is another one, the latest time so far
//   :i:member       hash     the revision of each event by its id, but for the creation's: nothing is a duplicate of that
//   :l, :l:user     zset     the members of the app, of a user, by time
//   :d              zset     the updates that were made, by when
//
// Redis takes nothing back when a script fails. So every change is first looked at, by reads that fail where a key is of
// another type, and then written by commands that cannot. When Redis refuses writes (no memory, a replica, a broken disk)
// it refuses the first one of a script: after that one it lets all of them through.

/** A script, and what it means that a key has a type that it should not have. */
export interface Script {
  readonly text: string;
  readonly onForeign: 'rejected' | 'corrupt';
}

/** Writes changes of one app, one after the other: see `redis-changes.ts` for what it gets and answers. */
export const commitScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
local APP, LIST, UPDATES = KEYS[1], KEYS[2], KEYS[3]
local REMEMBERED = 86400 -- seconds

local at = 3
local function take()
  at = at + 1
  return ARGV[at]
end
local function takeParts()
  local parts = { a = {}, u = {}, s = {} }
  for _ = 1, tonumber(take()) do
    local part = parts[take()]
    local name = take()
    part[#part + 1] = { name = name, text = take() }
  end
  return parts
end
local function takeChange()
  local change = { kind = take(), id = take(), user = tonumber(take()), session = tonumber(take()), member = take() }
  change.time, change.eventTime, change.data, change.hint = take(), take(), take(), take()
  change.created, change.rev, change.appPos, change.userPos = take(), take(), take(), take()
  change.guards = takeParts()
  change.deltas = takeParts()
  return change
end

local function refuse(...)
  error({ refused = { ... } })
end
local function whole(text)
  return tonumber(text) or refuse('corrupt')
end

local function scopeAt(key)
  local got = redis.call('HMGET', key, 'p', 'n')
  if not got[1] and redis.call('EXISTS', key) == 1 then refuse('corrupt') end
  return { key = key, pos = whole(got[1] or 0), last = whole(got[2] or 0) }
end
local function sessionAt(change)
  local place = change.session
  local key, events, times, ids = KEYS[place], KEYS[place + 1], KEYS[place + 2], KEYS[place + 3]
  local userList = KEYS[change.user + 1]
  local got = redis.call('HMGET', key, 'c', 'r', 'n', 'f')
  local inApp, inUser = redis.call('ZSCORE', LIST, change.member), redis.call('ZSCORE', userList, change.member)
  local eventCount, timeCount, idCount = redis.call('LLEN', events), redis.call('LLEN', times), redis.call('HLEN', ids)
  local rev, first = got[1] and whole(got[2]) or 0, whole(got[4] or 1)
  if eventCount ~= rev + 1 - first or timeCount ~= eventCount or idCount ~= rev then refuse('corrupt') end
  if got[1] and not (inApp and inUser) then refuse('corrupt') end
  if not got[1] and (inApp or inUser or redis.call('EXISTS', key) == 1) then refuse('corrupt') end
  return {
    key = key, events = events, times = times, ids = ids, userList = userList,
    created = got[1], rev = rev, first = first, last = whole(got[3] or 0),
  }
end

local function holds(scope, part)
  for _, expected in ipairs(part) do
    local stored = scope and redis.call('HGET', scope.key, expected.name)
    if (stored and string.match(stored, '^%d+:(.*)$') or '') ~= expected.text then return false end
  end
  return true
end
local function isAt(pos, expected)
  return expected == '' or tonumber(expected) == pos
end

-- Looks at a change without writing anything. Answers what is known of one that was made before.
local function look(change)
  change.app = scopeAt(APP)
  change.home = change.user and scopeAt(KEYS[change.user])
  change.its = change.session and sessionAt(change)
  local app, home, its = change.app, change.home, change.its
  local rev, appPos, userPos = its and its.rev or 0, app.pos, home and home.pos or 0
  if change.kind == 'create' then
    if its.created and its.created ~= '=' .. change.id then refuse('exists') end
    if its.created then return { 'duplicate', rev, appPos, userPos } end
  elseif change.kind == 'append' then
    if not its.created or (change.created ~= '' and change.created ~= its.created) then refuse('not-found') end
    local place = redis.call('HGET', its.ids, change.id)
    if place then
      return { 'duplicate', rev, appPos, userPos, redis.call('LINDEX', its.events, whole(place) - its.first) or refuse('corrupt') }
    end
  elseif redis.call('ZSCORE', UPDATES, change.id) then
    return { 'duplicate', rev, appPos, userPos }
  end
  local guards = change.guards
  if not isAt(rev, change.rev) then refuse('stale', rev) end
  if not (isAt(appPos, change.appPos) and isAt(userPos, change.userPos)) then refuse('conflict') end
  if not (holds(app, guards.a) and holds(home, guards.u) and holds(its, guards.s)) then refuse('conflict') end
  return nil
end

local function writeNames(scope, part)
  local last = scope.last
  for _, item in ipairs(part) do
    if item.text == '' then
      redis.call('HDEL', scope.key, item.name)
    else
      local stored = redis.call('HGET', scope.key, item.name)
      local order = stored and string.match(stored, '^%d+')
      if not order then
        last = last + 1
        order = last
      end
      redis.call('HSET', scope.key, item.name, order .. ':' .. item.text)
    end
  end
  if last ~= scope.last then redis.call('HSET', scope.key, 'n', last) end
end
local function move(scope, part)
  if scope and #part > 0 then
    scope.pos = scope.pos + 1
    redis.call('HSET', scope.key, 'p', scope.pos)
    writeNames(scope, part)
  end
end

local function pushEvent(change, its)
  redis.call('RPUSH', its.events, change.data)
  local before = redis.call('LINDEX', its.times, -1)
  local latest = before and string.match(before, '%S+$')
  local isLate = latest and tonumber(latest) > tonumber(change.eventTime)
  redis.call('RPUSH', its.times, isLate and change.eventTime .. ' ' .. latest or change.eventTime)
end
local function writeEvent(change, its)
  pushEvent(change, its)
  its.rev = its.rev + 1
  redis.call('HSET', its.ids, change.id, its.rev)
  redis.call('HSET', its.key, 'r', its.rev, 't', change.time)
end
local function writeUpdate(id)
  local now = tonumber(redis.call('TIME')[1])
  redis.call('ZADD', UPDATES, now, id)
  local old = redis.call('ZRANGEBYSCORE', UPDATES, '-inf', now - REMEMBERED, 'LIMIT', 0, 16)
  if #old > 0 then redis.call('ZREM', UPDATES, unpack(old)) end
end

-- Makes a change that was looked at.
local function write(change)
  local app, home, its = change.app, change.home, change.its
  if its then
    if change.kind == 'append' then
      writeEvent(change, its)
    else
      redis.call('HSET', its.key, 'c', '=' .. change.id, 'r', 0, 't', change.time)
      if change.data ~= '' then
        pushEvent(change, its)
        redis.call('HSET', its.key, 'f', 0)
      end
    end
    redis.call('ZADD', LIST, change.time, change.member)
    redis.call('ZADD', its.userList, change.time, change.member)
    writeNames(its, change.deltas.s)
  else
    writeUpdate(change.id)
  end
  move(app, change.deltas.a)
  move(home, change.deltas.u)
  return { 'written', its and its.rev or 0, app.pos, home and home.pos or 0 }
end

local answers, hints = {}, {}
for index = 1, tonumber(ARGV[3]) do
  local change = takeChange()
  local ok, got = pcall(look, change)
  if not ok then
    local isTable = type(got) == 'table'
    answers[index] = isTable and got.refused or { 'failed', tostring(isTable and got.err or got) }
  elseif got then
    answers[index] = got
  else
    answers[index] = write(change)
    hints[#hints + 1] = change.hint
  end
end
-- Nobody may be allowed to publish: whoever watches is only slower then.
if #hints > 0 then redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. table.concat(hints, ' ')) end
return answers
`,
};

/**
 * Deletes a session. KEYS: its values, events, times and ids, the lists of the app and the user. ARGV: the channel, the
 * sender, the hint, the member.
 */
export const removeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
local key, events, times, ids, list, userList = unpack(KEYS)
local channel, sender, hint, member = unpack(ARGV)
local inApp, inUser = redis.call('ZSCORE', list, member), redis.call('ZSCORE', userList, member)
local count = redis.call('HLEN', key) + redis.call('LLEN', events) + redis.call('LLEN', times) + redis.call('HLEN', ids)
if not inApp and not inUser and count == 0 then return 0 end
redis.call('ZREM', list, member)
redis.call('ZREM', userList, member)
redis.call('UNLINK', key, events, times, ids)
redis.pcall('PUBLISH', channel, sender .. ' ' .. hint)
return 1
`,
};

/** Deletes the values of a scope. KEYS: its values. ARGV: the channel, the sender, the hint. */
export const removeScopeScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
local pos = redis.call('HGET', KEYS[1], 'p')
if not pos then return 0 end
redis.call('UNLINK', KEYS[1])
redis.call('HSET', KEYS[1], 'p', (tonumber(pos) or 0) + 1)
redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. ARGV[3])
return 1
`,
};

/** Reads the values of a scope. KEYS: its values. */
export const scopeScript: Script = {
  onForeign: 'corrupt',
  text: String.raw`
return redis.call('HGETALL', KEYS[1])
`,
};

/**
 * Says which version wrote what is there. KEYS: the version. ARGV: this version, and whether to write it when there is none.
 *
 * Makes sure that the user may run every command that the scripts need: a script that is not allowed its second write has
 * made the first.
 */
export const versionScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
local key = KEYS[1]
local needed = {
  { 'EXISTS', key }, { 'SET', key, '' }, { 'UNLINK', key }, { 'TIME' },
  { 'HDEL', key, '' }, { 'HGET', key, '' }, { 'HGETALL', key }, { 'HLEN', key }, { 'HMGET', key, '' }, { 'HSET', key, '', '' },
  { 'LINDEX', key, 0 }, { 'LLEN', key }, { 'LRANGE', key, 0, 0 }, { 'RPUSH', key, '' },
  { 'ZADD', key, 0, '' }, { 'ZCARD', key }, { 'ZCOUNT', key, 0, 0 }, { 'ZRANGE', key, 0, 0 }, { 'ZRANGEBYSCORE', key, 0, 0 },
  { 'ZREM', key, '' }, { 'ZREVRANGE', key, 0, 0 }, { 'ZSCORE', key, '' },
}
local denied = {}
for _, command in ipairs(redis.acl_check_cmd and needed or {}) do
  if not redis.acl_check_cmd(unpack(command)) then denied[#denied + 1] = command[1] end
end
if #denied > 0 then return { 'denied', table.concat(denied, ', ') } end

local found = redis.call('GET', key)
if not found and ARGV[2] == 'create' then
  redis.call('SET', key, ARGV[1])
  found = ARGV[1]
end
return { 'found', found }
`,
};
