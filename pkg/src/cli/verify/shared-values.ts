// The values of an app, or of a user in it: the last write in their log is what they are, where a log is kept.

import { named, problem, type Fault } from './fault.js';
import { isStatepadError, type Json } from '../../index.js';
import type { Checked } from './session-log.js';

/** The looks at a value that others may be writing. */
const LOOKS = 3;

/** An app, or a user in it. */
export interface Scope {
  readonly appName: string;
  readonly userId?: string;
}

/** Checks the values of a scope. */
export async function checkedValues(checked: Checked, scope: Scope): Promise<readonly Fault[]> {
  try {
    const prefix = scope.userId === undefined ? 'app:' : 'user:';
    const different: string[] = [];
    for (const name of Object.keys(await valuesOf(checked, scope))) {
      if (!(await isLastWrite(checked, scope, prefix, name))) {
        different.push(prefix + name);
      }
    }
    return different.length === 0
      ? []
      : [problem(scope, `the last writes in the log are not the values, under ${named(different)}`)];
  } catch (error) {
    if (isStatepadError(error) && error.code === 'STORE_CORRUPT') {
      return [problem(scope, error.message)];
    }
    throw error;
  }
}

/** True also where no write of the key is known. */
async function isLastWrite(checked: Checked, scope: Scope, prefix: string, name: string): Promise<boolean> {
  for (let look = 0; look < LOOKS; look++) {
    const value = (await valuesOf(checked, scope))[name];
    const last = await lastWrite(checked, scope, prefix + name);
    if (last === undefined || JSON.stringify(last.to) === JSON.stringify(value)) {
      return true;
    }
  }
  return false;
}

async function lastWrite(
  { source, signal }: Checked,
  { appName, userId }: Scope,
  key: string,
): Promise<{ readonly to?: Json } | undefined> {
  try {
    const { exact, steps } = await source.history({ appName, userId, key }, { last: 1, signal });
    return steps.at(-1) ?? (exact ? {} : undefined);
  } catch (error) {
    if (isStatepadError(error) && error.code === 'INVALID_ARGUMENT') {
      // A store that keeps no revisions has no past to ask for.
      return undefined;
    }
    throw error;
  }
}

async function valuesOf({ source, signal }: Checked, { appName, userId }: Scope): Promise<Record<string, Json>> {
  return userId === undefined
    ? await source.getAppState({ appName, signal })
    : await source.getUserState({ appName, userId, signal });
}
