// Counting and limits in the script that writes changes. The keys are described in `script.ts`.

/**
 * `measure` says what a part of a delta adds to a scope; `compareLimits` looks at what it comes to. `refuse` ends it
 * where that is too much.
 */
export const growthLua = String.raw`
-- The bytes of the JSON text in what is stored.
local function valueSize(stored)
  return stored and #stored - (string.find(stored, ':', 1, true) or #stored) or 0
end
-- Sets what a part adds to the bytes and to the names of a scope. A name may be deleted and then set.
local function measure(scope, part)
  local bytes, names, gone = 0, 0, nil
  for index, item in ipairs(part) do
    local name, text = item.name, item.text
    local nameSize = #name - 1 -- a sign is before it
    local stored = storedAt(scope, index, item)
    local isThere = stored and not (gone and gone[name])
    if isThere then
      bytes = bytes - valueSize(stored)
    elseif text ~= '' then
      bytes, names = bytes + nameSize, names + 1
    end
    if text ~= '' then
      bytes = bytes + #text
    elseif isThere then
      bytes, names = bytes - nameSize, names - 1
      gone = gone or {}
      gone[name] = true
    end
  end
  scope.addedBytes, scope.addedNames = bytes, names
end

local function compareLimits(change, refuse)
  local value, state, keys, events = string.match(change.limits, '^([^,]*),([^,]*),([^,]*),([^,]*)$')
  local limits = { value = tonumber(value), state = tonumber(state), keys = tonumber(keys), events = tonumber(events) }
  local function compare(exceeded, size, letter, name)
    local limit = limits[exceeded]
    if limit and size > limit then refuse('limit', exceeded, textOf(size), textOf(limit), letter or false, name) end
  end
  if change.kind == 'append' then compare('events', change.its.rev + 1) end
  local function compareScope(scope, letter, part)
    if not scope or #part == 0 then return end
    for _, item in ipairs(part) do
      -- What does not grow is never refused.
      if item.isResult and #item.text > valueSize(item.stored) then compare('value', #item.text, letter, item.name) end
    end
    -- The last order is never less than the number of names.
    if scope.addedNames > 0 and limits.keys and scope.last + scope.addedNames > limits.keys then
      compare('keys', (scope.gone and 0 or nameCount(scope.key)) + scope.addedNames, letter)
    end
    if scope.addedBytes > 0 then compare('state', scope.size + scope.addedBytes, letter) end
  end
  local deltas = change.deltas
  compareScope(change.app, 'a', deltas.a)
  compareScope(change.home, 'u', deltas.u)
  compareScope(change.its, 's', deltas.s)
end
`;
