// Operators in the script that writes changes: the same rules as `model/operators.ts`, over JSON texts.

/**
 * Resolves the operators of a change, which are the last names of its deltas (`../operators.ts` writes them), against
 * what its scopes and its session have, and makes plain values of them. Answers what they come to, as JSON: the values
 * under their names, by scope. `refuse` ends it where one does not fit.
 *
 * Texts of values are those of `JSON.stringify`, without blanks: their first bytes say what they are. They are never
 * parsed, as what cjson makes of them is not always what they said.
 */
export const operatorsLua = String.raw`
local function resolveOperators(change, refuse)
  local function shortest(number)
    -- Up to 15 digits come back as they were, but for numbers below the normal ones, which have fewer.
    for digits = number < 2.2250738585072014e-308 and 1 or 15, 17 do
      local text = string.format('%.' .. digits - 1 .. 'e', number)
      if tonumber(text) == number then return text end
      -- Below a power of two doubles are closer to each other than above: the text next to the nearest one may do.
      if digits == 16 and math.frexp(number) == 0.5 then
        local start, last, rest = string.match(string.format('%.16e', number), '^(.........)(%d+)%d(e.*)$')
        text = start .. string.format('%08d', last + 1) .. rest
        if tonumber(text) == number then return text end
      end
    end
  end
  -- A number as JSON.stringify writes it: the fewest digits that read back equal, in the forms of ECMAScript.
  local function numberText(number)
    if number == 0 then return '0' end
    if number == math.floor(number) and math.abs(number) < 1e15 then return string.format('%.0f', number) end
    local sign = number < 0 and '-' or ''
    local first, rest, exponent = string.match(shortest(math.abs(number)), '^(%d)%.?(%d-)0*e([-+]%d+)$')
    local digits, point = first .. rest, tonumber(exponent) + 1
    if #digits <= point and point <= 21 then return sign .. digits .. string.rep('0', point - #digits) end
    if 0 < point and point <= 21 then return sign .. string.sub(digits, 1, point) .. '.' .. string.sub(digits, point + 1) end
    if -6 < point and point <= 0 then return sign .. '0.' .. string.rep('0', -point) .. digits end
    local fraction = rest == '' and '' or '.' .. rest
    return sign .. first .. fraction .. 'e' .. (point > 0 and '+' or '-') .. math.abs(point - 1)
  end

  -- What becomes of a text, or of nothing: a text, or nothing and why not.
  local kinds = {}
  kinds['+'] = function(current, by)
    if current and not string.match(current, '^%-?%d[-+.%de]*$') then return nil, 'kind' end
    local sum = (tonumber(current or 0) or refuse('corrupt')) + tonumber(by)
    if sum ~= sum or math.abs(sum) == math.huge then return nil, 'overflow' end
    return numberText(sum)
  end
  kinds['&'] = function(current, items)
    if not current or current == '[]' then return items end
    if string.sub(current, 1, 1) ~= '[' then return nil, 'kind' end
    if items == '[]' then return current end
    return string.sub(current, 1, -2) .. ',' .. string.sub(items, 2)
  end
  kinds['?'] = function(current, value)
    return current or value
  end
  kinds['~'] = function(current, texts)
    local expected, value = string.match(texts, '^([^\n]*)\n(.*)$')
    if (current or '') ~= expected then return nil, 'changed' end
    return value
  end

  local function quoted(name)
    local function escape(byte)
      return string.format('\\u%04x', string.byte(byte))
    end
    return '"' .. string.gsub(name, '[%c"\\]', escape) .. '"'
  end
  local function resolve(scope, letter, part)
    local results = {}
    for index, item in ipairs(part) do
      local operate = kinds[string.sub(item.text, 1, 1)]
      if operate then
        local text, fault = operate(valueText(storedAt(scope, index, item)), string.sub(item.text, 2))
        if fault then refuse(fault, letter, item.name) end
        item.text, item.isResult = text, true
        results[#results + 1] = quoted(string.sub(item.name, 2)) .. ':' .. text
      end
    end
    return #results > 0 and quoted(letter) .. ':{' .. table.concat(results, ',') .. '}'
  end
  local scopes = {}
  for _, scope in ipairs({ { 'a', change.app }, { 'u', change.home }, { 's', change.its } }) do
    local letter = scope[1]
    scopes[#scopes + 1] = resolve(scope[2], letter, change.deltas[letter]) or nil
  end
  return '{' .. table.concat(scopes, ',') .. '}'
end
`;
