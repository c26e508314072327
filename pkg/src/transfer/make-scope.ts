// The values of an app or a user, made exactly those of another place.

import { DELETED } from '../model/deletion.js';
import { APP_PREFIX, USER_PREFIX } from '../model/scope.js';
import type { Members, ScopeKey } from './planned.js';
import type { SessionService } from '../service/session-service.js';
import type { Abortable, Json } from '../model/types.js';

/** Makes the values of an app, or of a user in it, exactly these, in their order. */
export async function makeScope(
  { appName, userId, state }: ScopeKey & { readonly state: Members },
  service: SessionService,
  { signal }: Abortable = {},
): Promise<void> {
  const prefix = userId === undefined ? APP_PREFIX : USER_PREFIX;
  const now =
    userId === undefined
      ? await service.getAppState({ appName, signal })
      : await service.getUserState({ appName, userId, signal });
  const expected = Object.keys(state);
  const present = Object.keys(now);
  const retained = present.filter((name) => Object.hasOwn(state, name));
  const isInOrder = retained.every((name, index) => name === expected[index]);
  const deleted = isInOrder ? present.filter((name) => !Object.hasOwn(state, name)) : present;
  const changed = isInOrder
    ? expected.filter((name) => !(Object.hasOwn(now, name) && isSame(now[name], state[name])))
    : expected;

  const deletions = deleted.map((name) => [prefix + name, DELETED] as const);
  const values = changed.map((name) => [prefix + name, state[name]] as const);
  // A name that is deleted and then written goes to the end, but not by a single change.
  for (const delta of isInOrder ? [[...deletions, ...values]] : [deletions, values]) {
    await service.updateState({ appName, userId }, () => Object.fromEntries(delta), { signal });
  }
}

function isSame(value: Json | undefined, expected: Members[string]): boolean {
  return JSON.stringify(value) === JSON.stringify(expected);
}
