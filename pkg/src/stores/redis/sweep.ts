// Sweeping: what has expired in the apps is looked for, and removed some at a time, those first that expired first.

import { scopeTitle } from '../../store/refusals.js';
import { textOf, type RunScript } from './client.js';
import { ofAnotherType } from './errors.js';
import { textAfterSign, type List } from './hashes.js';
import { hintText } from './hints.js';
import {
  appKeys,
  appsKey,
  appVersionKey,
  baseOf,
  memberOf,
  scopeKeys,
  sessionKeys,
  sessionOf,
  userKeys,
} from './keys.js';
import { decodeNames, namesArgs } from './names.js';
import { appsScript } from './scripts/names.js';
import { expiredScript, sweepScript, sweepUsersScript } from './scripts/sweep.js';
import type { appRunner } from './apps.js';
import type { StoreContext, SweepQuery, Swept } from '../../store/contract.js';

/** The most sessions, or users, that one script removes: Redis does nothing else meanwhile. */
const SLICE = 50;
/** The most apps that are asked at once. */
const APPS_AT_ONCE = 32;
/** The most names of apps that one script answers. */
const NAMES_AT_ONCE = 1_000;

/** The parts of a store that a sweep needs. */
export interface SweepParts {
  readonly prefix: string;
  readonly run: RunScript;
  readonly ask: ReturnType<typeof appRunner>;
  readonly channel: string;
  readonly sender: string;
  readonly isLogged: boolean;
}

/** A session or a user that has expired: the member of a list, or the name of the user. */
interface Expired {
  readonly app: string;
  readonly text: string;
  readonly at: number;
}

/**
 * Sessions by their apps that have a key of another type. They stay, and come first each time: a sweep passes over
 * them.
 */
class Foreign {
  readonly #members = new Map<string, Set<string>>();

  get isEmpty(): boolean {
    return this.#members.size === 0;
  }

  add(app: string, members: readonly string[]): void {
    if (members.length > 0) {
      this.#members.set(app, new Set([...(this.#members.get(app) ?? []), ...members]));
    }
  }

  count(app: string): number {
    return this.#members.get(app)?.size ?? 0;
  }

  has({ app, text }: Expired): boolean {
    return this.#members.get(app)?.has(text) === true;
  }
}

/**
 * Removes what has expired: see `SessionStore.sweep`. Where a key is of another type, all else is removed, and then a
 * call that finds nothing more throws `rejected`.
 */
export async function sweep(parts: SweepParts, query: SweepQuery, context: StoreContext): Promise<Swept> {
  let apps = query.app === undefined ? await allApps(parts) : [query.app];
  const swept = { sessions: 0, users: 0 };
  const foreign = new Foreign();
  for (;;) {
    const left = query.limit - swept.sessions - swept.users;
    if (left <= 0 || context.signal.aborted) {
      return { ...swept, more: true };
    }
    const found = await findExpired(parts, apps, Math.min(left, SLICE), query.userTtl, foreign);
    context.answered?.();
    // The others have nothing: each is asked once.
    ({ apps } = found);
    if (found.sessions.length > 0) {
      swept.sessions += await removeEach(found.sessions, async (app, members) => {
        const reply = await sweepSessions(parts, app, members);
        foreign.add(app, ((reply as List)[2] as List).map(textOf));
        return reply;
      });
    } else if (found.users.length > 0) {
      const { userTtl = 0 } = query;
      swept.users += await removeEach(found.users, (app, users) => sweepUsers(parts, app, users, userTtl));
    } else if (foreign.isEmpty) {
      return { ...swept, more: false };
    } else if (swept.sessions + swept.users > 0) {
      return { ...swept, more: true };
    } else {
      throw ofAnotherType('rejected');
    }
    context.answered?.();
  }
}

/** The answers about apps, some of which are asked at once. */
export async function askEach<Answer>(
  apps: readonly string[],
  find: (app: string) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let first = 0; first < apps.length; first += APPS_AT_ONCE) {
    answers.push(...(await Promise.all(apps.slice(first, first + APPS_AT_ONCE).map(find))));
  }
  return answers;
}

/** All apps under the prefix. */
export async function allApps({ prefix, run }: Pick<SweepParts, 'prefix' | 'run'>): Promise<string[]> {
  const apps: string[] = [];
  for (let isMore = true; isMore;) {
    const after = apps.at(-1);
    const query = { limit: NAMES_AT_ONCE, ...(after === undefined ? {} : { after }) };
    const { names, more } = decodeNames(await run(appsScript, [appsKey(prefix)], namesArgs(query)), query);
    apps.push(...names);
    isMore = more;
  }
  return apps;
}

/** The sessions that expired first among those of all apps, some users, and the apps that have any of these. */
async function findExpired(
  { prefix, ask }: SweepParts,
  apps: readonly string[],
  limit: number,
  userTtl: number | undefined,
  foreign: Foreign,
): Promise<{ readonly sessions: readonly Expired[]; readonly users: readonly Expired[]; readonly apps: string[] }> {
  const find = async (app: string): Promise<[sessions: Expired[], users: Expired[]]> => {
    const args = [String(limit + foreign.count(app)), userTtl === undefined ? '' : String(userTtl)];
    const base = baseOf(prefix, app);
    const [expiring, idle] = appKeys(base).slice(-2) as [string, string];
    const keys = [appVersionKey(base), expiring, idle];
    const reply = await ask(app, expiredScript, keys, args, `what has expired of ${scopeTitle({ app })}`);
    // An app that was registered, and then not written to, answers the same.
    const [, members, users] = reply as [unknown, List, List];
    const sessions = placed(app, members).filter((each) => !foreign.has(each));
    return [sessions, users.map((user) => ({ app, text: textOf(user), at: 0 }))];
  };
  const answers = await askEach(apps, find);
  const sessions = answers.flatMap(([each]) => each).sort((a, b) => a.at - b.at);
  return {
    sessions: sessions.slice(0, limit),
    users: answers.flatMap(([, each]) => each).slice(0, limit),
    apps: apps.filter((_, index) => answers[index]?.some((each) => each.length > 0)),
  };
}

function placed(app: string, members: List): Expired[] {
  return members.flatMap((member, index) =>
    index % 2 === 0 ? [{ app, text: textOf(member), at: Number(textOf(members[index + 1])) }] : [],
  );
}

/** Removes what was found, one app after the other. Answers the number. */
async function removeEach(
  found: readonly Expired[],
  remove: (app: string, texts: readonly string[]) => Promise<unknown>,
): Promise<number> {
  const groups = new Map<string, string[]>();
  for (const { app, text } of found) {
    groups.set(app, [...(groups.get(app) ?? []), text]);
  }
  let count = 0;
  for (const [app, texts] of groups) {
    const [, removed] = (await remove(app, texts)) as List;
    count += Number(removed);
  }
  return count;
}

function sweepSessions(parts: SweepParts, app: string, members: readonly string[]): Promise<unknown> {
  const base = baseOf(parts.prefix, app);
  const keys = [...removalKeys(base)];
  const args = [parts.channel, parts.sender];
  for (const member of members) {
    const key = { appName: app, ...sessionOf(member) };
    keys.push(...sessionRemovalKeys(base, key));
    args.push(member, hintText(key));
  }
  return parts.ask(app, sweepScript, keys, args, `the expired sessions of ${scopeTitle({ app })}`);
}

function sweepUsers(parts: SweepParts, app: string, names: readonly string[], userTtl: number): Promise<unknown> {
  const base = baseOf(parts.prefix, app);
  const keys = [appVersionKey(base), appKeys(base)[10]];
  const args = [parts.channel, parts.sender, parts.isLogged ? 'log' : '', String(userTtl)];
  for (const user of names.map(textAfterSign)) {
    keys.push(...scopeKeys(base, { app, user }), userKeys(base, user)[2]);
    args.push(hintText({ appName: app, userId: user }));
  }
  return parts.ask(app, sweepUsersScript, keys, args, `the users of ${scopeTitle({ app })}`);
}

/** The keys that every script for the removal of sessions of an app begins with. */
export function removalKeys(base: string): string[] {
  const [, , sessions, , , removed, notes, ids, users, expiring, idle] = appKeys(base);
  return [appVersionKey(base), sessions, removed, notes, ids, users, expiring, idle];
}

/** The keys of one session that such a script removes. */
export function sessionRemovalKeys(base: string, key: Parameters<typeof memberOf>[0]): string[] {
  const [values, , sessions, expiring] = userKeys(base, key.userId);
  return [...sessionKeys(base, memberOf(key)), sessions, expiring, values];
}
