// Leaving out sessions that have expired and are still in lists. The keys are described in `script.ts`.

/** The script has `clockLua`. `expiring` is a key of sessions that expire, of the app or of a user. */
export const livingLua = String.raw`
local function expiredCount(expiring)
  return redis.call('ZCOUNT', expiring, '-inf', textOf(now()))
end
-- The others of some members, in their order.
local function livingOf(expiring, members)
  local living = {}
  for first = 1, #members, 1000 do
    local last = math.min(first + 999, #members)
    for index, ends in ipairs(redis.call('ZMSCORE', expiring, unpack(members, first, last))) do
      if not ends or tonumber(ends) > now() then living[#living + 1] = members[first + index - 1] end
    end
  end
  return living
end
`;
