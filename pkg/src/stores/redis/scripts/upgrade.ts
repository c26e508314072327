// The scripts of an upgrade. The keys are described in `script.ts`.

import type { Script } from './script.js';

/**
 * Puts a fence in place of a version. KEYS: where the version of an app is. ARGV: the version, and the fence. Answers
 * the version before, or nothing.
 */
export const fenceScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
local version = redis.call('GET', KEYS[1])
if version == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
return version or ''
`,
};

/** Puts one version, or a fence, in place of another one. KEYS: where it is. ARGV: the one before, the one after. */
export const movedScript: Script = {
  onForeign: 'rejected',
  text: String.raw`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2]) end
return 1
`,
};

/**
 * Brings some keys of an app up to date, unless another process has taken its fence away. KEYS: where the version is,
 * the keys. ARGV: the fence.
 */
export function moveScript(lua: string): Script {
  return {
    onForeign: 'rejected',
    text: String.raw`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
for index = 2, #KEYS do
  local key = KEYS[index]
  ${lua}
end
return 1
`,
  };
}
