// Reading the changes in the script that writes them: the arguments that `../commit.ts` has written.

/** `takeChange` reads the next change. The script has `NOTHING` and `READ_AT_ONCE`. */
export const changesLua = String.raw`
local at = 5
local function take()
  at = at + 1
  return ARGV[at]
end
local NO_PARTS = { a = NOTHING, u = NOTHING, s = NOTHING }
local function takeParts()
  local count = tonumber(take())
  if count == 0 then return NO_PARTS end
  local parts = { a = {}, u = {}, s = {} }
  for _ = 1, count do
    local part = parts[take()]
    local name = take()
    part[#part + 1] = { name = name, text = take() }
  end
  return parts
end
local function namesOf(part)
  local names = {}
  for index = 1, math.min(#part, READ_AT_ONCE) do names[index] = part[index].name end
  return names
end
local function takeChange()
  local change = {
    kind = take(), id = take(), user = tonumber(take()), session = tonumber(take()), member = take(),
    time = take(), eventTime = take(), data = take(), hint = take(), mark = take(), call = take(), attempt = take(),
    knownApp = take(), knownUser = take(), least = take(), limits = take(),
    deltas = takeParts(), created = take(),
    fence = '', rev = '', appPos = '', userPos = '', guards = NO_PARTS, hasOperators = false, digest = '',
    ttl = '', ends = '',
    -- What is found when it is looked at.
    app = false, home = false, its = false, changedApp = false, changedUser = false, results = false, isIdle = false,
  }
  if take() ~= '' then
    change.fence, change.rev, change.appPos, change.userPos = take(), take(), take(), take()
    change.guards, change.hasOperators, change.digest = takeParts(), take() ~= '', take()
    change.ttl, change.ends = take(), take()
  end
  return change
end
`;
