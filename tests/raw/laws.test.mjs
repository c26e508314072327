// Laws: the service that the crate has by itself and the package's answer alike, whatever they are given.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import fc from 'fast-check';
import * as statepad from 'statepad';
import { KEY } from '../support/fixtures.mjs';
import { outcome, rawBuild } from './build.mjs';

const raw = await import(pathToFileURL(join(await rawBuild('nodejs'), 'statepad.js')).href);

const key = fc.oneof(
  fc.constantFrom(
    'x',
    'y',
    'app:x',
    'user:x',
    'temp:x',
    '__proto__',
    'user:__proto__',
    '',
    'app:',
    '7',
    '1',
    'toJSON',
  ),
  fc.string({ unit: 'binary', maxLength: 3 }),
);
const anything = fc.anything({
  key: fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('__proto__', 'toJSON', 'a b', 'é')),
  maxDepth: 3,
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withSet: true,
  withNullPrototype: true,
  withObjectString: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
});

test('values of every kind are taken or refused alike, with the same words', async () => {
  let refusals = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(key, anything), { maxLength: 3 }), anything, async (entries, content) => {
      const [wanted, found] = await Promise.all(
        [statepad, raw].map(async ({ SessionService }) => {
          const service = new SessionService({ now: () => 1 });
          const session = await service.createSession(KEY);
          const stateDelta = Object.fromEntries(entries);
          const append = await outcome(() =>
            service.appendEvent({ session, event: { id: 'e', content, actions: { stateDelta } } }),
          );
          const created = await outcome(async () => {
            const { state } = await service.createSession({ ...KEY, sessionId: 't', state: stateDelta });
            return JSON.stringify(state);
          });
          return { append, created, state: JSON.stringify(session.state), revision: session.revision };
        }),
      );
      refusals += Number('error' in wanted.append);
      assert.deepEqual(found, wanted);
    }),
    { numRuns: 400 },
  );
  assert.ok(refusals > 20, `${refusals} refusals`);
});

test('texts of every kind are templates alike', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '{',
      '}',
      '{{',
      '}}',
      '\\',
      '$',
      '?',
      'x',
      'user:x',
      'x.a',
      'x[0]',
      'artifact.f',
      ' ',
      '\n',
      '🌊',
      'é',
    ),
    fc.constantFrom('{x}', '{x?}', '{user:x.a}', '{x[1].b}', '{nope}', '{artifact.f}', '{app:y}'),
  );
  const state = fc.record(
    { x: fc.jsonValue({ maxDepth: 2 }), 'user:x': fc.jsonValue({ maxDepth: 2 }), 'app:y': fc.jsonValue() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), state, (pieces, values) => {
      const text = pieces.join('');
      const [wanted, found] = [statepad, raw].map(({ Template }) => {
        const template = new Template(text);
        let rendered;
        try {
          rendered = template.render({ state: values, artifact: (name) => (name === 'f' ? 'file' : undefined) });
        } catch ({ message, code, missing }) {
          rendered = { message, code, missing };
        }
        return { rendered, placeholders: template.placeholders, escaped: Template.escape(text) };
      });
      assert.deepEqual(found, wanted);
    }),
    { numRuns: 1000 },
  );
});

const small = fc.oneof(fc.constantFrom(1, 2, null, 'DELETED'), fc.jsonValue({ maxDepth: 1 }));
const delta = fc.dictionary(fc.constantFrom('x', 'y', 'app:x', 'user:x', 'user:y', 'temp:x', '__proto__'), small, {
  maxKeys: 3,
});
const which = fc.nat({ max: 2 });
const step = fc.oneof(
  fc.record({ do: fc.constant('create'), session: which, user: fc.boolean(), delta }),
  fc.record({
    do: fc.constant('get'),
    session: which,
    user: fc.boolean(),
    last: fc.option(which),
    after: fc.option(which),
  }),
  fc.record({
    do: fc.constant('append'),
    handle: fc.nat(),
    id: fc.option(fc.constantFrom('1', '2', '3')),
    at: fc.nat({ max: 4 }),
    by: fc.constantFrom('user', 'agent'),
    invocation: fc.constantFrom('i', 'j'),
    revision: fc.option(which, { freq: 5 }),
    delta,
  }),
  fc.record({
    do: fc.constant('update'),
    session: which,
    user: fc.boolean(),
    of: fc.constantFrom('app', 'user', 'session'),
    delta,
  }),
  fc.record({ do: fc.constant('delete'), session: which, user: fc.boolean() }),
  fc.record({
    do: fc.constant('list'),
    user: fc.option(fc.boolean()),
    limit: fc.option(which),
    order: fc.constantFrom('asc', 'desc'),
  }),
);

/** Runs steps over a service; answers with what each came to, and what the handles showed after it. */
async function run({ SessionService }, deleted, options, steps) {
  let time = 10;
  const service = new SessionService({ now: () => (time += 1), ...options });
  const handles = [];
  const told = [];
  const shown = (session) => session && { ...session, state: JSON.stringify(session.state) };
  const marked = (given) => {
    const entries = Object.entries(given).map(([name, value]) => [name, value === 'DELETED' ? deleted : value]);
    return Object.fromEntries(entries);
  };
  for (const [index, given] of steps.entries()) {
    const named = { appName: 'app', userId: given.user ? 'u' : 'v', sessionId: `s${given.session}` };
    const calls = {
      create: async () => {
        handles.push(await service.createSession({ ...named, state: marked(given.delta) }));
      },
      get: async () => {
        const config = { numRecentEvents: given.last ?? undefined, afterTimestamp: given.after ?? undefined };
        const session = await service.getSession({ ...named, config });
        if (session !== undefined) handles.push(session);
        return shown(session);
      },
      append: async () => {
        const session = handles[given.handle % handles.length];
        if (session === undefined) return undefined;
        return await service.appendEvent({
          session,
          expectedRevision: given.revision ?? undefined,
          event: {
            id: given.id ?? `own${index}`,
            timestamp: given.at,
            author: given.by,
            invocationId: given.invocation,
            actions: { stateDelta: marked(given.delta) },
          },
        });
      },
      update: async () => {
        const { appName, userId, sessionId } = named;
        const target = { app: { appName }, user: { appName, userId }, session: { appName, userId, sessionId } };
        return JSON.stringify(await service.updateState(target[given.of], () => marked(given.delta)));
      },
      delete: () => service.deleteSession(named),
      list: async () => {
        const { user, limit, order } = given;
        const userId = user === null ? undefined : user ? 'u' : 'v';
        const page = await service.listSessions({ appName: 'app', userId, order, limit: limit ?? undefined });
        return { ...page, sessions: page.sessions.map(shown) };
      },
    };
    told.push(await outcome(calls[given.do]), handles.map(shown));
  }
  return JSON.parse(JSON.stringify(told, (name, value) => (name === 'events' ? value.map(withoutOwnId) : value)));
}

/** Events of updates have ids that were made up. */
const withoutOwnId = ({ id, ...event }) => ({ ...event, ...(id.length < 8 && { id }) });

test('any history of calls comes to the same, in memory and with callbacks', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 25 }), async (steps) => {
      const wanted = await run(statepad, statepad.DELETED, {}, steps);
      assert.deepEqual(await run(raw, raw.deleted(), {}, steps), wanted);
      const records = [];
      const callbacks = { persist: async (changes) => void records.push(...changes), restore: () => records };
      const kept = await run(raw, raw.deleted(), callbacks, steps);
      const plain = (told) =>
        told.map((entry) => JSON.stringify(entry, (name, value) => (TIMED.has(name) ? undefined : value)));
      assert.deepEqual(plain(kept), plain(wanted));
    }),
    { numRuns: 150 },
  );
});

/** The members that depend on the number of calls of the clock. */
const TIMED = new Set(['lastUpdateTime', 'timestamp', 'cursor']);
