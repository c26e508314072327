// Checks that the user may still run the commands of a script: rights can be taken away while a store is at work.

/** Commands, each with what it is called with, in Lua. */
type Commands = readonly string[];

/** The commands of {@link keepLua}. */
export const KEEPING: Commands = [
  "'ZREM', KEYS[1], ''",
  "'ZADD', KEYS[1], 0, ''",
  "'ZRANGEBYSCORE', KEYS[1], 0, 0",
  "'TIME'",
  "'HSET', KEYS[1], '', ''",
  "'HDEL', KEYS[1], ''",
];

/** The commands by which the values of a scope are deleted. */
export const EMPTYING: Commands = [
  "'UNLINK', KEYS[1]",
  "'LTRIM', KEYS[1], 0, 0",
  "'HSET', KEYS[1], '', ''",
  "'ZADD', KEYS[1], 0, ''",
  "'RPUSH', KEYS[1], ''",
  "'ZREM', KEYS[1], ''",
  "'TIME'",
];

/**
 * The command of a removal that comes after other writes. The key is one that never exists, in the slot of the app: it
 * can be tried where Redis cannot be asked.
 */
export const REMOVING: Commands = ["'UNLINK', KEYS[1] .. '-'"];

/** The error of the first of some commands that the user may not run, if there is one: for {@link appRightsLua}. */
export function deniedOf(...commands: Commands): string {
  return `denied(${commands.map((command) => `{ ${command} }`).join(', ')})`;
}

/** True in Lua if Redis can be asked for the rights to some commands, and the user has all of them. */
export function mayRun(...commands: Commands): string {
  const asked = commands.map((command) => `redis.acl_check_cmd(${command})`);
  return ['redis.acl_check_cmd', ...asked].join(' and ');
}

/**
 * `deniedBy` answers the names of those of the commands that the user may not run, and the error of the first one.
 * Each command is a list, its name and what it is called with: the key may be any, as rights to keys are looked at
 * before the script runs.
 *
 * Redis before 7 cannot be asked. If `hasProbe` says that their key has a string, the commands are run there: they
 * fail for its type, or only read. `SET` and `UNLINK` would change it: a script has to begin its writes with these, or
 * to ask as {@link REMOVING} does.
 */
export const rightsLua = String.raw`
local function deniedBy(commands, hasProbe)
  local names, reason = {}, nil
  for _, command in ipairs(commands) do
    local name, fault = command[1], nil
    if redis.acl_check_cmd then
      if not redis.acl_check_cmd(unpack(command)) then fault = 'NOPERM the user has no right to ' .. name end
    elseif hasProbe and (name ~= 'UNLINK' or command[2] ~= KEYS[1]) then
      local got = redis.pcall(unpack(command))
      fault = type(got) == 'table' and got.err
      if fault and string.find(fault, 'WRONGTYPE', 1, true) then fault = nil end
    end
    if fault then
      names[#names + 1] = name
      reason = reason or { err = fault }
    end
  end
  return names, reason
end
`;

/**
 * `denied` answers the error of the first of these commands that the user may not run, if there is one, in a script
 * whose first key has the version of the app, and is that of the commands.
 */
export const appRightsLua = String.raw`${rightsLua}
local function denied(...)
  local _, reason = deniedBy({ ... }, not isNew)
  return reason
end
`;
