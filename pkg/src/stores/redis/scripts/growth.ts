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
  scope.addedBytes, scope.addedNames = 0, 0
  if #part == 0 then return end
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

-- The changes of a batch nearly always have the same limits.
local limitsText, limits
local function limitsOf(text)
  if text ~= limitsText then
    local value, state, keys, events = string.match(text, '^([^,]*),([^,]*),([^,]*),([^,]*)$')
    limits = { value = tonumber(value), state = tonumber(state), keys = tonumber(keys), events = tonumber(events) }
    limitsText = text
  end
  return limits
end
local function compare(refuse, exceeded, size, limit, letter, name)
  if limit and size > limit then refuse('limit', exceeded, textOf(size), textOf(limit), letter or false, name) end
end
local function compareScope(refuse, scope, letter, part, text, hasResults)
  for _, item in ipairs(hasResults and part or {}) do
    -- What does not grow is never refused.
    if item.isResult and #item.text > valueSize(item.stored) then
      compare(refuse, 'value', #item.text, limitsOf(text).value, letter, item.name)
    end
  end
  if scope.addedNames > 0 then
    local most = limitsOf(text).keys
    -- The last order is never less than the number of names.
    if most and scope.last + scope.addedNames > most then
      compare(refuse, 'keys', (scope.gone and 0 or nameCount(scope.key)) + scope.addedNames, most, letter)
    end
  end
  if scope.addedBytes > 0 then
    compare(refuse, 'state', scope.size + scope.addedBytes, limitsOf(text).state, letter)
  end
end
local function compareLimits(change, refuse)
  local text, deltas, hasResults = change.limits, change.deltas, change.hasOperators
  local app, home, its = change.app, change.home, change.its
  -- Most changes are far from all limits: there are never more names than bytes.
  local most = app.size + app.addedBytes
  if home then most = math.max(most, home.size + home.addedBytes) end
  if its then most = math.max(most, its.size + its.addedBytes, its.rev + 1) end
  if not hasResults and most <= tonumber(change.least) then return end
  if change.kind == 'append' then compare(refuse, 'events', its.rev + 1, limitsOf(text).events) end
  if #deltas.a > 0 then compareScope(refuse, app, 'a', deltas.a, text, hasResults) end
  if home and #deltas.u > 0 then compareScope(refuse, home, 'u', deltas.u, text, hasResults) end
  if its and #deltas.s > 0 then compareScope(refuse, its, 's', deltas.s, text, hasResults) end
end
`;
