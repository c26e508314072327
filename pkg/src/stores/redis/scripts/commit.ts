// The script that writes changes. The keys are described in `script.ts`.

import { MOVES_BETWEEN_TRIMS, REPORTED_MOVES } from '../../shared/limits.js';
import { VERSION_TEXT } from '../version.js';
import { changesLua } from './changes.js';
import { clockLua, keepLua, namesLua, scopeLua, versionLua } from './common.js';
import { growthLua } from './growth.js';
import { logLua } from './log.js';
import { operatorsLua } from './operators.js';
import { dropLua } from './removal.js';
import { KEEPING, REMOVING, appRightsLua, deniedOf, mayRun } from './rights.js';
import type { Script } from './script.js';

/** The commands that can follow the first write. */
const WRITING = [
  "'HGET', KEYS[1], ''",
  "'RPUSH', KEYS[1], ''",
  "'LTRIM', KEYS[1], 0, 0",
  "'ZREMRANGEBYSCORE', KEYS[1], 0, 0",
  ...KEEPING,
  ...REMOVING,
];

/** Writes changes of one app, one after the other: see `../commit.ts` for what it gets and answers. */
export const commitScript: Script = {
  onForeign: 'rejected',
  text: String.raw`${versionLua}${appRightsLua}${clockLua}${scopeLua}${namesLua}${keepLua}${logLua}${operatorsLua}${growthLua}
if isNew and ARGV[3] == '' then return { 'new' } end
local APP, MOVES, LIST, UPDATES, REFUSED, REMOVED, NOTES, IDS, USERS, EXPIRING, IDLE, LOG = unpack(KEYS, 2, 13)
${dropLua}
local IS_LOGGED, NOTHING = ARGV[4] ~= '', {}
local TRIMMED, RECENT = ${MOVES_BETWEEN_TRIMS}, ${REPORTED_MOVES} -- positions: moves are trimmed once in so many, and at least so many are kept

${changesLua}
local function refuse(...)
  error({ refused = { ... } })
end
local function missing(answer)
  error({ refused = answer })
end
local function whole(text)
  return tonumber(text) or refuse('corrupt')
end

local function sessionAt(change)
  local place = change.session
  local key, events, times, ids = KEYS[place], KEYS[place + 1], KEYS[place + 2], KEYS[place + 3]
  local userList, userExpiring = KEYS[change.user + 2], KEYS[change.user + 3]
  local got = redis.call('HMGET', key, 'c', 'r', 'n', 'f', 'a', 'u', 'd', 's', 'e', 'l', unpack(namesOf(change.deltas.s)))
  local inApp, inUser = redis.call('ZSCORE', LIST, change.member), redis.call('ZSCORE', userList, change.member)
  local rev, first = got[1] and whole(got[2]) or 0, whole(got[4] or 1)
  local count = rev + 1 - first
  local eventCount, last = redis.call('LLEN', events), redis.call('ZRANGE', ids, -1, -1, 'WITHSCORES')
  -- From the last one that should be there to the end: there are as many as should be when it is one.
  local lastTimes = redis.call('LRANGE', times, math.max(count, 1) - 1, -1)
  local isWhole = eventCount == count and #lastTimes == math.min(count, 1) and tonumber(last[2] or 0) == rev
  if not isWhole then refuse('corrupt') end
  if got[1] and not (inApp and inUser) then refuse('corrupt') end
  if not got[1] and (inApp or inUser or redis.call('EXISTS', key) == 1) then refuse('corrupt') end
  -- A session that has seen a scope further on than it is says that the scope was dropped.
  if whole(got[5] or 0) > change.app.pos or whole(got[6] or 0) > change.home.pos then refuse('corrupt') end
  local isGone = isOver(got[9])
  if isGone == nil then refuse('corrupt') end
  if got[9] and not (redis.call('ZSCORE', EXPIRING, change.member) and redis.call('ZSCORE', userExpiring, change.member)) then
    refuse('corrupt')
  end
  local its = {
    member = change.member, key = key, events = events, times = times, ids = ids,
    userList = userList, userExpiring = userExpiring,
    created = got[1], rev = rev, posText = got[2] or '0', first = first, last = whole(got[3] or 0), lastId = last[1] or false,
    digest = got[7], lastTime = lastTimes[1], size = whole(got[8] or 0), ends = got[9], ttl = got[10], got = got, before = 10,
    gone = false,
  }
  if not isGone then return its end
  -- It is not there any more, and is removed when another one takes its place.
  return {
    member = change.member, key = key, events = events, times = times, ids = ids,
    userList = userList, userExpiring = userExpiring,
    created = false, rev = 0, posText = '0', first = 1, last = 0, lastId = false, size = 0, ends = false, ttl = false,
    got = NOTHING, before = 0, gone = its,
  }
end

local function holds(scope, part)
  for _, expected in ipairs(part) do
    local stored = scope and not scope.gone and redis.call('HGET', scope.key, expected.name)
    if (valueText(stored) or '') ~= expected.text then return false end
  end
  return true
end
local function isAt(pos, expected)
  return expected == '' or tonumber(expected) == pos
end

-- Answers to a change: the revision, the positions, what all of them were at before, what others have changed, the event
-- or the note under its id, the digest of a creation that was made before, and when the session ends.
local function answer(status, change, rev, data, digest)
  local app, home, its = change.app, change.home, change.its
  return {
    status, rev, app.pos, home and home.pos or 0, its and its.lastId or false, app.mark, home and home.mark or false,
    change.changedApp or false, change.changedUser or false, data or false, digest or false,
    its and its.ends or false,
  }
end

-- Looks at a change without writing anything. Answers what is known of one that was made before.
local function look(change)
  local deltas = change.deltas
  -- These fail where something else is.
  if change.kind == 'create' then
    redis.call('ZCARD', IDS)
    redis.call('ZCARD', USERS)
    redis.call('ZCARD', IDLE)
    if change.ttl ~= '' or change.ends ~= '' then
      redis.call('ZCARD', EXPIRING)
      redis.call('ZCARD', KEYS[change.user + 3])
    end
  end
  if change.kind ~= 'append' or change.attempt ~= '' then redis.call('HLEN', NOTES) end
  change.app = scopeAt(APP, MOVES, missing, namesOf(deltas.a))
  change.home = change.user and scopeAt(KEYS[change.user], KEYS[change.user + 1], missing, namesOf(deltas.u))
  change.its = change.session and sessionAt(change)
  local app, home, its = change.app, change.home, change.its
  change.changedApp = changedSince(app, change.knownApp)
  change.changedUser = home and changedSince(home, change.knownUser)
  local rev = its and its.rev or 0
  local isRefused = redis.call('ZSCORE', REFUSED, change.call)
  local function refuseLate()
    if isRefused then refuse('refused', redis.call('HGET', NOTES, 'c' .. change.call)) end
  end
  if change.kind == 'create' then
    local last = its.gone or its
    if last.created == '=' .. change.id then return answer('duplicate', change, rev, nil, last.digest) end
    local before = removedId(change.member, '=' .. change.id)
    if redis.call('ZSCORE', REMOVED, before) then
      local answered = answer('duplicate', change, 0, nil, redis.call('HGET', NOTES, 'r' .. before))
      -- Not that of the session that is there now.
      answered[12] = false
      return answered
    end
    refuseLate()
    if its.created then refuse('exists') end
  elseif change.kind == 'append' then
    local isThis = its.created and (change.created == '' or change.created == its.created)
    local place = isThis and redis.call('ZSCORE', its.ids, '=' .. change.id)
    if place then
      return answer('duplicate', change, rev, redis.call('LINDEX', its.events, whole(place) - its.first) or refuse('corrupt'))
    end
    refuseLate()
    if not isThis then refuse('not-found') end
  else
    if redis.call('ZSCORE', UPDATES, change.id) then
      return answer('duplicate', change, rev, redis.call('HGET', NOTES, 'u' .. change.id))
    end
    refuseLate()
  end
  if change.fence ~= '' then
    local fence = its and not its.gone and redis.call('HGET', its.key, 'k') or '0'
    if whole(fence) ~= tonumber(change.fence) then refuse('fenced', fence) end
  end
  local guards = change.guards
  if not isAt(rev, change.rev) then refuse('stale', rev) end
  if not (isAt(app.pos, change.appPos) and isAt(home and home.pos or 0, change.userPos)) then refuse('conflict') end
  if not (holds(app, guards.a) and holds(home, guards.u) and holds(its, guards.s)) then refuse('conflict') end
  if change.hasOperators then change.results = resolveOperators(change, refuse) end
  measure(app, deltas.a)
  if home then measure(home, deltas.u) end
  if its then measure(its, deltas.s) end
  if change.limits ~= '' then compareLimits(change, refuse) end
  -- These fail where something else is.
  if #deltas.a > 0 then redis.call('ZCARD', MOVES) end
  if home and #deltas.u > 0 then
    redis.call('ZCARD', home.moves)
    if home.pos == 0 then redis.call('ZCARD', USERS) end
    if not its then
      redis.call('ZCARD', IDLE)
      -- A part that only deletes may leave nothing.
      local hasNames = home.addedNames > 0 or nameCount(home.key) + home.addedNames > 0
      change.isIdle = hasNames and redis.call('ZCARD', KEYS[change.user + 2]) == 0
    end
  end
  return nil
end

local function callMany(command, key, args)
  for first = 1, #args, 1000 do
    redis.call(command, key, unpack(args, first, math.min(first + 999, #args)))
  end
end
-- Writes the fields of a hash, and the names of a delta; fields come first, as Redis refuses what needs memory only at the
-- first write. Adds rows for the moves, if there are any: each name that was set, and each that was not there or is no more;
-- and writes for the log.
local function writeNames(scope, part, fields, rows, writes)
  local last, unset = scope.last, {}
  local function moved(row)
    if rows then
      rows[#rows + 1] = scope.posText
      rows[#rows + 1] = row
    end
  end
  for index, item in ipairs(part) do
    local stored = storedAt(scope, index, item)
    local write = writes and writeText(item.name, valueText(stored), item.text)
    local place = unset[item.name]
    if item.text == '' then
      if stored and not place then
        if writes then writes[#writes + 1] = write end
        unset[item.name] = writes and #writes or true
        moved('-' .. item.name)
      end
    else
      -- A name that is deleted and set again is one write.
      if writes and place then writes[place] = false end
      if writes then writes[#writes + 1] = write end
      local order = stored and not place and string.match(stored, '^%d+')
      unset[item.name] = nil
      moved(item.name)
      if not order then
        last = last + 1
        order = last
        moved('-' .. item.name)
      end
      fields[#fields + 1] = item.name
      fields[#fields + 1] = order .. '@' .. scope.posText .. ':' .. item.text
    end
  end
  if last ~= scope.last then
    fields[#fields + 1] = 'n'
    fields[#fields + 1] = last
  end
  if scope.addedBytes ~= 0 then
    fields[#fields + 1] = 's'
    fields[#fields + 1] = scope.size + scope.addedBytes
  end
  callMany('HSET', scope.key, fields)
  for name in pairs(unset) do redis.call('HDEL', scope.key, name) end
end
local function move(scope, log, part, change, isUser)
  if scope and #part > 0 then
    scope.pos = scope.pos + 1
    -- A number would be made a text by each command.
    local pos, mark = tostring(scope.pos), change.mark
    scope.posText = pos
    local rows, writes = { pos, '@' .. pos .. mark }, IS_LOGGED and {}
    local fields = { 'p', pos, 'm', mark }
    if isUser then fields[5], fields[6] = 'w', now() end
    writeNames(scope, part, fields, rows, writes)
    callMany('ZADD', scope.moves, rows)
    if scope.pos % TRIMMED == 0 then redis.call('ZREMRANGEBYSCORE', scope.moves, '-inf', '(' .. (scope.pos - RECENT)) end
    if writes then pushEntry(scope, log, change.time, change.member, change.kind == 'append' and change.id or '', writes) end
  end
end

-- The event with what is told beside it: where the scopes are, and what the operators came to.
local function eventText(change)
  if not IS_LOGGED and not change.results then return change.data end
  local places = IS_LOGGED and change.app.posText .. ',' .. change.home.posText or ''
  return '@' .. places .. (change.results or '') .. '\n' .. change.data
end
local function pushEvent(change, its)
  redis.call('RPUSH', its.events, eventText(change))
  local latest = its.lastTime and string.match(its.lastTime, '%S+$')
  local isLate = latest and tonumber(latest) > tonumber(change.eventTime)
  redis.call('RPUSH', its.times, isLate and change.eventTime .. ' ' .. latest or change.eventTime)
end
local function fieldsOf(change, its)
  local fields = { 'r', its.posText, 't', change.time }
  local function add(name, value)
    fields[#fields + 1] = name
    fields[#fields + 1] = value
  end
  if change.kind == 'create' then
    add('c', '=' .. change.id)
    if change.digest ~= '' then add('d', change.digest) end
    if change.ttl ~= '' then add('l', change.ttl) end
  end
  if its.isMoved then add('e', its.ends) end
  if its.first == 0 and change.kind == 'create' then add('f', 0) end
  if change.app.pos > 0 then add('a', change.app.posText) end
  if change.home.pos > 0 then add('u', change.home.posText) end
  return fields
end
local function sayVersion()
  if isNew then
    redis.call('SET', KEYS[1], '${VERSION_TEXT}')
    isNew = false
  end
end
-- When the session ends after the change.
local function moveEnd(change, its)
  local ttl = its.ttl or change.ttl
  its.isMoved = ttl ~= '' or change.ends ~= ''
  if its.isMoved then
    its.ends = ttl ~= '' and textOf(now() + tonumber(ttl)) or change.ends
    redis.call('ZADD', EXPIRING, its.ends, its.member)
    redis.call('ZADD', its.userExpiring, its.ends, its.member)
  end
end
-- Comes before the first write: answers an error when the user may not run all commands that can follow.
local isAllowed = false
local function faultOfRights()
  if isAllowed then return nil end
  isAllowed = true
  -- Redis that cannot be asked is tried on the version.
  if not redis.acl_check_cmd then sayVersion() end
  if isNew and redis.acl_check_cmd then
    local fault = ${deniedOf("'SET', KEYS[1], '', 'NX'")}
    if fault then return fault end
  end
  if ${mayRun(...WRITING)} then return nil end
  return ${deniedOf(...WRITING)}
end

-- Makes a change that was looked at.
local function write(change)
  local app, home, its = change.app, change.home, change.its
  local cameTo = change.results and '@' .. change.results .. '\n='
  local answered = answer('written', change, its and its.rev or 0, cameTo)
  sayVersion()
  -- Whoever has a position is among the users already.
  local isFirst = home and home.pos == 0 and #change.deltas.u > 0
  if its and its.gone then dropSession(its.gone) end
  if isFirst or change.kind == 'create' then redis.call('ZADD', USERS, 0, userName(KEYS[change.user])) end
  move(app, LOG, change.deltas.a, change)
  move(home, home and KEYS[change.user + 4], change.deltas.u, change, true)
  if its then
    moveEnd(change, its)
    if change.kind == 'append' then
      its.rev = its.rev + 1
      its.posText = tostring(its.rev)
      redis.call('ZADD', its.ids, its.posText, '=' .. change.id)
      pushEvent(change, its)
    elseif change.data ~= '' then
      its.first = 0
      pushEvent(change, its)
    end
    writeNames(its, change.deltas.s, fieldsOf(change, its))
    redis.call('ZADD', LIST, change.time, change.member)
    redis.call('ZADD', its.userList, change.time, change.member)
    if change.kind == 'create' then
      redis.call('ZADD', IDS, 0, change.member)
      redis.call('ZREM', IDLE, userName(its.userList))
    end
  else
    if change.isIdle then
      redis.call('ZADD', IDLE, now(), userName(KEYS[change.user]))
    elseif home and #change.deltas.u > 0 then
      redis.call('ZREM', IDLE, userName(KEYS[change.user]))
    end
    local hasNote = cameTo or change.digest ~= ''
    keep(UPDATES, change.id, NOTES, 'u', hasNote and (cameTo or '=') .. change.digest or '')
  end
  answered[2], answered[3], answered[4] = its and its.rev or 0, app.pos, home and home.pos or 0
  answered[12] = its and its.ends or false
  return answered
end

local remembered = {
  exists = true, ['not-found'] = true, refused = true, fenced = true, stale = true, conflict = true,
  changed = true, kind = true, overflow = true, limit = true,
}
local function isToRemember(change, got)
  local refused = type(got) == 'table' and got.refused
  return refused and change.attempt ~= '' and remembered[refused[1]]
end
-- What to answer to a change that was not written.
local function refusal(change, got)
  local isTable = type(got) == 'table'
  if isToRemember(change, got) then
    -- The digest is that of the first attempt that was refused.
    keep(REFUSED, change.call, NOTES, 'c', got.refused[1] == 'refused' and '' or change.digest)
  end
  if isTable and got.refused then return got.refused end
  local text = tostring(isTable and got.err or got)
  return { 'failed', text }
end

local answers, hints = {}, {}
for index = 1, tonumber(ARGV[5]) do
  local change = takeChange()
  local ok, got = pcall(look, change)
  local isToWrite = ok and not got
  if isToWrite or isToRemember(change, got) then
    local fault = faultOfRights()
    if fault then return fault end
  end
  if not ok then
    answers[index] = refusal(change, got)
  elseif isToWrite then
    answers[index] = write(change)
    hints[#hints + 1] = change.hint
  else
    answers[index] = got
  end
end
-- The user may have no right to publish: stores that watch are only slower then.
if #hints > 0 then redis.pcall('PUBLISH', ARGV[1], ARGV[2] .. ' ' .. table.concat(hints, ' ')) end
return answers
`,
};
