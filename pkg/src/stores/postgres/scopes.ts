// The order in which calls lock, which is the same in all of them: none waits in a circle.

import { compareText } from '../../model/compare-text.js';
import { toColumn } from '../shared/column-text.js';
import type { Change } from '../../store/contract.js';

/** The order of sessions: by the places of their users in {@link Scopes}, then by their ids. */
export function inLockOrder(
  a: { readonly usr: number; readonly session: string },
  b: { readonly usr: number; readonly session: string },
): number {
  return a.usr - b.usr || (a.session < b.session ? -1 : 1);
}

/** All scopes of a batch, in an order that is the same in every batch: that of their texts in the database. */
export class Scopes {
  /** Apps, which are in no place (0), then users, which are in the place of their app. */
  readonly list: readonly (readonly [place: number, name: string])[];
  readonly #places = new Map<string, { readonly app: number; readonly users: Map<string, number> }>();

  constructor(changes: readonly Change[]) {
    const apps = [...new Set(changes.map(({ key }) => key.appName))].sort(compareText);
    const list: [number, string][] = apps.map((app) => [0, toColumn(app)]);
    apps.forEach((app, index) => {
      const users = new Set(
        changes.flatMap(({ key }) => (key.appName === app && key.userId !== undefined ? [key.userId] : [])),
      );
      const places = [...users]
        .sort(compareText)
        .map((user) => [user, list.push([index + 1, toColumn(user)])] as const);
      this.#places.set(app, { app: index + 1, users: new Map(places) });
    });
    this.list = list;
  }

  /** The places of an app and of its user. */
  of({ appName, userId }: Change['key']): { app: number; usr: number | undefined } {
    const { app, users } = this.#places.get(appName) ?? { app: 0, users: undefined };
    return { app, usr: userId === undefined ? undefined : users?.get(userId) };
  }
}
