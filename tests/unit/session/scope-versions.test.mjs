// Handles whose scopes move under them: however many there are, whatever is looked at when, and also where values get
// other places or a version is left behind for good.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, runs, setting } from '../../support/fixtures.mjs';

const PREFIXES = ['', 'app:', 'user:'];
/** Enough names for lists that are searched and lists that are indexed, and for more holes than a list keeps. */
const NAMES = 60;

/** A key: often one of a few, so that one is written again and again. */
const key = fc
  .tuple(fc.constantFrom(...PREFIXES), fc.oneof(fc.nat(3), fc.nat(NAMES)))
  .map(([prefix, name]) => `${prefix}k${name}`);
const few = fc.uniqueArray(fc.tuple(key, fc.oneof(fc.nat(9), fc.constant(DELETED))), {
  selector: ([name]) => name,
  maxLength: 4,
});
/** Many keys of one scope at once, set or deleted. */
const many = fc
  .record({ prefix: fc.constantFrom(...PREFIXES), from: fc.nat(NAMES), count: fc.nat(NAMES), set: fc.boolean() })
  .map(({ prefix, from, count, set }) =>
    Array.from({ length: count }, (_, index) => [`${prefix}k${from + index}`, set ? index : DELETED]),
  );
const delta = fc.oneof({ weight: 3, arbitrary: few }, { weight: 2, arbitrary: many });
const session = fc.nat(3);
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('append'), through: fc.nat(), delta, looks: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('appendByKey'), session, delta }) },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constant('repeat'), through: fc.nat(), times: fc.nat(90), name: key }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('update'), session, hasUser: fc.boolean(), delta }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('hold'), session }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('drop'), through: fc.nat() }) },
  { weight: 4, arbitrary: fc.record({ does: fc.constant('look'), through: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('recreate'), session, delta }) },
);

/** Four sessions of two users, and beside them what each handle has to show. */
class Held {
  #values = new Map();
  #handles = [];

  constructor(service) {
    this.service = service;
  }

  static keyOf(number) {
    return { ...KEY, userId: `u${number >> 1}`, sessionId: `s${number & 1}` };
  }

  async start() {
    for (let number = 0; number < 4; number++) await this.recreate({ session: number, delta: [] });
  }

  async append({ through, delta, looks }) {
    const held = this.#at(through);
    if (held?.isCurrent) {
      if (looks) this.#check(held);
      await this.#appendTo(held, delta);
      if (looks) this.#check(held);
    }
  }

  async repeat({ through, times, name }) {
    for (let time = 0; time < times; time++) await this.append({ through, delta: [[name, time]] });
  }

  async appendByKey({ session, delta }) {
    const { sessionId: id, ...rest } = Held.keyOf(session);
    await this.service.appendEvent({ session: { ...rest, id }, event: setting(Object.fromEntries(delta)) });
    this.#write(session, delta);
  }

  async update({ session, hasUser, delta }) {
    const { appName, userId } = Held.keyOf(session);
    const shared = delta.filter(([name]) => name.startsWith('app:') || (hasUser && name.startsWith('user:')));
    const target = hasUser ? { appName, userId } : { appName };
    const told = await this.service.updateState(target, () => Object.fromEntries(shared));
    this.#write(session, shared);
    const wanted = this.#entries(session).filter(([name]) => /^app:/.test(name) || (hasUser && /^user:/.test(name)));
    assert.deepEqual(Object.entries(told), wanted);
  }

  async hold({ session }) {
    this.#add(session, await this.service.getSession(Held.keyOf(session)));
  }

  drop({ through }) {
    this.#handles = this.#handles.filter((held) => held !== this.#at(through));
  }

  look({ through }) {
    const held = this.#at(through);
    if (held !== undefined) this.#check(held);
  }

  async recreate({ session, delta }) {
    await this.service.deleteSession(Held.keyOf(session));
    this.#values.delete(`own ${session}`);
    this.#handles.filter((held) => held.session === session).forEach((held) => (held.isCurrent = false));
    const handle = await this.service.createSession({ ...Held.keyOf(session), state: Object.fromEntries(delta) });
    this.#write(session, delta);
    this.#add(session, handle);
  }

  end() {
    this.#handles.forEach((held) => this.#check(held));
  }

  async #appendTo(held, delta) {
    await this.service.appendEvent({ session: held.handle, event: setting(Object.fromEntries(delta)) });
    this.#write(held.session, delta);
    held.entries = this.#entries(held.session);
  }

  #add(session, handle) {
    this.#handles.push({ session, handle, isCurrent: true, entries: this.#entries(session) });
  }

  #check({ handle, entries }) {
    assert.deepEqual(Object.entries(handle.state), entries);
    assert.equal(handle.state, handle.state);
    assert.ok(Object.isFrozen(handle.state));
  }

  #at(through) {
    return this.#handles[through % this.#handles.length];
  }

  #scopesOf(session) {
    return [`own ${session}`, 'app', `user ${session >> 1}`].map((name) => {
      if (!this.#values.has(name)) this.#values.set(name, new Map());
      return this.#values.get(name);
    });
  }

  #entries(session) {
    return this.#scopesOf(session).flatMap((values) => [...values]);
  }

  #write(session, delta) {
    const [own, app, user] = this.#scopesOf(session);
    for (const [name, value] of delta) {
      const values = name.startsWith('app:') ? app : name.startsWith('user:') ? user : own;
      if (value === DELETED) values.delete(name);
      else values.set(name, value);
    }
  }
}

describe('every handle that is held shows what it showed, under random histories', () => {
  const kinds = {
    'in memory': () => ({}),
    'over a store': () => ({ store: memoryStore() }),
    'over a store, with no room': () => ({ store: memoryStore(), cachedEvents: 0 }),
  };
  for (const [kind, options] of Object.entries(kinds)) {
    test(kind, async () => {
      const property = fc.asyncProperty(fc.array(step, { maxLength: 80, size: 'max' }), async (steps) => {
        const held = new Held(new SessionService(options()));
        await held.start();
        for (const { does, ...rest } of steps) await held[does](rest);
        held.end();
      });
      await fc.assert(property, { numRuns: runs(60) });
    });
  }
});

for (const [kind, options] of Object.entries({ memory: () => ({}), store: () => ({ store: memoryStore() }) })) {
  test(`a delta of 100,000 keys is written, read and deleted at once, with ${kind}`, async () => {
    const service = new SessionService(options());
    const names = Array.from({ length: 100_000 }, (_, index) => `${PREFIXES[index % 3]}name ${index}`);
    const delta = (value) => Object.fromEntries(names.map((name) => [name, value]));
    const ordered = PREFIXES.flatMap((_, scope) => names.filter((_, index) => index % 3 === scope));
    const session = await service.createSession({ ...KEY, state: delta(1) });
    const before = await service.getSession(KEY);
    await service.appendEvent({ session, event: setting(delta(2)) });
    assert.deepEqual(Object.keys(session.state), ordered);
    assert.ok(Object.values(session.state).every((value) => value === 2));
    await service.appendEvent({ session, event: setting(delta(DELETED)) });
    assert.deepEqual(session.state, {});
    await service.appendEvent({ session, event: setting({ last: 3 }) });
    assert.deepEqual(session.state, { last: 3 });
    assert.deepEqual(Object.keys(before.state), ordered);
    assert.ok(Object.values(before.state).every((value) => value === 1));
    assert.deepEqual(await service.getAppState(KEY), {});
  });
}
