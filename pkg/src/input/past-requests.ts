// Checks of requests for the past of app and user values.

import {
  admitString,
  checkCount,
  checkNames,
  checkObject,
  checkOptionalString,
  checkOptions,
  invalid,
} from '../checks/arguments.js';
import { namesOf } from '../checks/names.js';
import { nameOf } from '../model/scope.js';
import { describe } from '../model/value-types.js';
import { OPTIONS } from './requests.js';
import type { SharedKey, TrimOptions } from '../model/past.js';
import type { UpdateStateTarget } from '../model/types.js';

const SHARED_KEY = namesOf('the key', ['appName', 'userId', 'key']);
const SCOPE = namesOf('the target', ['appName', 'userId']);

/** Checks a key of an app, or of a user in it. */
export function checkSharedKey(request: SharedKey): SharedKey {
  checkNames(Object.keys(request), SHARED_KEY);
  const { appName, userId, key } = request;
  admitString(appName, 'appName');
  checkOptionalString(userId, 'userId');
  const [scope] = nameOf(admitString(key, 'key'));
  if (scope === 'session') {
    invalid('key', 'must begin with app: or user:, as a session has all others');
  }
  if (scope === 'user' && userId === undefined) {
    invalid('userId', 'is missing: a user: key needs one');
  }
  return { appName, userId, key };
}

/** Checks the target and the limits of a trim. */
export function checkTrim(target: UpdateStateTarget, options: TrimOptions): UpdateStateTarget {
  checkObject(target, 'target');
  checkNames(Object.keys(target), SCOPE);
  const { appName, userId } = target;
  admitString(appName, 'appName');
  checkOptionalString(userId, 'userId');
  checkObject(options, 'options');
  checkOptions(options, OPTIONS.trim);
  const { before, upTo } = options;
  checkCount(upTo, 'upTo');
  if ((before === undefined) === (upTo === undefined)) {
    invalid('options', 'must have before or upTo, and not both');
  }
  if (before !== undefined && (typeof before !== 'number' || Number.isNaN(before))) {
    invalid('before', `must be a number of milliseconds, not ${describe(before)}`);
  }
  return { appName, userId };
}
