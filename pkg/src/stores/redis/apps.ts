// Running the script of an operation for an app, whose version each script looks at.

import { scopeTitle, unreadable } from '../../store/refusals.js';
import { textOf, type RunScript } from './client.js';
import { otherVersion, SCHEMA } from './version.js';
import type { Script } from './scripts/script.js';

/**
 * Makes the function that runs a script for an app, and throws what a script says instead of an answer: that the app
 * is of another version, or that `what` cannot be read.
 */
export function appRunner(
  run: RunScript,
  prefix: string,
): (app: string, script: Script, keys: readonly string[], args: readonly string[], what?: string) => Promise<unknown> {
  return async (app, script, keys, args, what = '') => {
    const reply = await run(script, keys, args);
    const [status, detail] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
    if (status === 'version') {
      throw otherVersion(`${scopeTitle({ app })} under the prefix "${prefix}"`, textOf(detail), SCHEMA);
    }
    if (status === 'corrupt') {
      throw unreadable(`the stored data of ${what}`);
    }
    return reply;
  };
}
