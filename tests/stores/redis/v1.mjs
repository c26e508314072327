// What version 1 has left in a server, and its scripts, as processes of version 1 that go on running would run them.

import { readFileSync } from 'node:fs';

const fixture = JSON.parse(readFileSync(new URL('../../fixtures/redis-v1.json', import.meta.url), 'utf8'));

/** The prefix of the fixture. */
const GIVEN = 'statepad:';
const renamed = (text, prefix) => (text.startsWith(GIVEN) ? `${prefix}:${text.slice(GIVEN.length)}` : text);

/** What version 1 read of it: lists, sessions with all their events, scopes. */
export const { found } = fixture;

/** The calls that wrote it, with the names of their scripts. */
export const callsOf = (prefix) =>
  fixture.calls.map(({ script, keys, args }) => ({
    script,
    keys: keys.map((key) => renamed(key, prefix)),
    args: args.map((arg) => renamed(arg, prefix)),
  }));

/** Puts a store of version 1 under a prefix; `send` sends a command to the server of its key. */
export async function putVersion1(send, prefix) {
  for (const [name, key, ...args] of fixture.commands) await send([name, renamed(key, prefix), ...args]);
}

const scripts = Object.fromEntries(Object.entries(fixture.scripts).map(([name, lines]) => [name, lines.join('\n')]));

/** Runs a script of version 1 by a client of `ioredis`. */
export function runVersion1(client, { script, keys, args }) {
  return client.eval(scripts[script], keys.length, ...keys, ...args);
}

const baseOf = (prefix, app) => `${prefix}:{${encodeURIComponent(app)}}:`;

/**
 * A change as version 1 sends it: user and session keys at fixed places. A delta is pairs of `a`, `u` or `s` and a
 * name.
 */
export function changeOf(prefix, { kind, id, app = 'app', user = 'user', session = 'session', sets = [] }) {
  const base = baseOf(prefix, app);
  const member = `=${session}\0${user}`;
  const keys = [`${base}a`, `${base}l`, `${base}d`, `${base}u:${user}`, `${base}l:${user}`];
  const isUpdate = kind === 'update';
  if (!isUpdate) keys.push(...['s', 'e', 't', 'i'].map((letter) => `${base}${letter}:${member}`));
  const parts = sets.flatMap(([scope, name, value]) => [scope, `=${name}`, JSON.stringify(value)]);
  const args = [
    `${prefix}:hints`,
    'v1',
    '1',
    kind,
    id,
    '4',
    isUpdate ? '' : '6',
    isUpdate ? '' : member,
    '1000',
    '1000',
  ];
  args.push(
    kind === 'append' ? `=${JSON.stringify({ id })}` : '',
    app,
    '',
    '',
    '',
    '',
    '0',
    String(sets.length),
    ...parts,
  );
  return { script: 'commit', keys, args };
}

/** A removal as version 1 sends it. */
export function removalOf(prefix, { app = 'app', user = 'user', session = 'session' }) {
  const base = baseOf(prefix, app);
  const member = `=${session}\0${user}`;
  const keys = [...['s', 'e', 't', 'i'].map((letter) => `${base}${letter}:${member}`), `${base}l`, `${base}l:${user}`];
  return { script: 'remove', keys, args: [`${prefix}:hints`, 'v1', app, member] };
}

/** The deletion of a scope as version 1 sends it. */
export function scopeRemovalOf(prefix, { app = 'app', user }) {
  const key = `${baseOf(prefix, app)}${user === undefined ? 'a' : `u:${user}`}`;
  return { script: 'removeScope', keys: [key], args: [`${prefix}:hints`, 'v1', app] };
}
