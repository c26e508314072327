// Sweeping: what has expired in the apps is looked for, and removed some at a time, those first that expired first.

import { scopeTitle } from '../../store/refusals.js';
import { textOf, type RunScript } from './client.js';
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

/** Removes what has expired: see `SessionStore.sweep`. */
export async function sweep(parts: SweepParts, query: SweepQuery, context: StoreContext): Promise<Swept> {
  const apps = query.app === undefined ? await allApps(parts) : [query.app];
  const swept = { sessions: 0, users: 0 };
  for (;;) {
    const left = query.limit - swept.sessions - swept.users;
    if (left <= 0 || context.signal.aborted) {
      return { ...swept, more: true };
    }
    const found = await findExpired(parts, apps, Math.min(left, SLICE), query.userTtl);
    context.answered?.();
    if (found.sessions.length > 0) {
      swept.sessions += await removeEach(found.sessions, (app, members) => sweepSessions(parts, app, members));
    } else if (found.users.length > 0) {
      const { userTtl = 0 } = query;
      swept.users += await removeEach(found.users, (app, users) => sweepUsers(parts, app, users, userTtl));
    } else {
      return { ...swept, more: false };
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

/** The sessions that expired first among those of all apps, and some users. */
async function findExpired(
  { prefix, ask }: SweepParts,
  apps: readonly string[],
  limit: number,
  userTtl: number | undefined,
): Promise<{ readonly sessions: readonly Expired[]; readonly users: readonly Expired[] }> {
  const args = [String(limit), userTtl === undefined ? '' : String(userTtl)];
  const find = async (app: string): Promise<[sessions: Expired[], users: Expired[]]> => {
    const base = baseOf(prefix, app);
    const [expiring, idle] = appKeys(base).slice(-2) as [string, string];
    const keys = [appVersionKey(base), expiring, idle];
    const reply = await ask(app, expiredScript, keys, args, `what has expired of ${scopeTitle({ app })}`);
    // An app that was registered, and then not written to, answers the same.
    const [, members, users] = reply as [unknown, List, List];
    return [placed(app, members), users.map((user) => ({ app, text: textOf(user), at: 0 }))];
  };
  const answers = await askEach(apps, find);
  const sessions = answers.flatMap(([each]) => each).sort((a, b) => a.at - b.at);
  return { sessions: sessions.slice(0, limit), users: answers.flatMap(([, each]) => each).slice(0, limit) };
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
