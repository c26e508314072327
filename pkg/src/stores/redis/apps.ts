// Running the script of an operation for an app, whose version each script looks at.

import { newerVersion, olderVersion, scopeTitle, unreadable } from '../../store/refusals.js';
import { leftKey } from './keys.js';
import { commitScript } from './scripts/commit.js';
import { noteScript } from './scripts/open.js';
import { VERSION } from './version.js';
import type { RunScript } from './client.js';
import type { Script } from './scripts/script.js';

/**
 * Makes the function that runs a script for an app, and throws what a script says instead of an answer: that the app
 * is of another version, or that `what` cannot be read.
 */
export function appRunner(
  run: RunScript,
  prefix: string,
): (app: string, script: Script, keys: readonly string[], args: readonly string[], what?: string) => Promise<unknown> {
  // An app that version 1 has made after the upgrade: the next upgrade looks at all of them again.
  const note = async (): Promise<unknown> => run(noteScript, [leftKey(prefix)], []);
  return async (app, script, keys, args, what = '') => {
    const reply = await run(script, keys, args);
    const [status, detail] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
    if (typeof status === 'string' && status === 'version') {
      const found = Number(detail);
      const title = `${scopeTitle({ app })} under the prefix "${prefix}"`;
      if (found > VERSION) {
        throw newerVersion(title, found, VERSION);
      }
      await note();
      throw olderVersion(title, found, VERSION);
    }
    if (status === 'corrupt') {
      throw unreadable(`what is stored of ${what}`);
    }
    if (
      script === commitScript &&
      (reply as unknown[]).some((answer) => Array.isArray(answer) && answer[0] === 'version')
    ) {
      await note();
    }
    return reply;
  };
}
