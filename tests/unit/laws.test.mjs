// Laws of the package, for whatever comes in.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { DELETED, SessionService, StoreError, Template, isStatepadError } from 'statepad';
import { storedWith } from '../support/store.mjs';
import { listed } from '../contract/lists.mjs';
import { Twin, operations } from '../contract/model.mjs';
import { plain } from '../contract/read.mjs';
import { KEY, runs } from '../support/fixtures.mjs';

const json = fc.jsonValue({ maxDepth: 4 });
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...'{}\\$?.[]: \nab0é名', '👍', '{a}', '{{', 'app:', 'artifact.') }),
);

describe('the service equals its model under random operations, and every handle shows what it should', () => {
  const kinds = {
    'in memory': { stored: false },
    'with a store that fails now and then': { stored: true },
    'with a store, and no room for idle sessions': { stored: true, cachedEvents: 0 },
    'two services over one store in turn': { stored: true, services: 2 },
    'three services over one store in turn, with little room': { stored: true, services: 3, cachedEvents: 3 },
  };
  for (const [name, kind] of Object.entries(kinds)) {
    test(name, async () => {
      const property = fc.asyncProperty(operations, async (steps) => {
        const twin = new Twin(kind);
        for (const step of steps) {
          await twin.run(step);
        }
        await twin.end();
      });
      await fc.assert(property, { numRuns: runs(300) });
    });
  }
});

test('what is admitted equals its JSON', async () => {
  const property = fc.asyncProperty(
    fc.dictionary(fc.string({ unit: 'grapheme' }), json),
    json,
    async (delta, content) => {
      const service = new SessionService();
      const session = await service.createSession(KEY);
      const given = { content, actions: { stateDelta: delta } };
      const stored = await service.appendEvent({ session, event: given });
      const kept = Object.fromEntries(Object.entries(delta).filter(([name]) => !name.startsWith('temp:')));
      assert.deepEqual(plain(stored.actions.stateDelta), plain(kept));
      assert.deepEqual(plain(stored.content), plain(content));
      assert.deepEqual(plain((await service.getSession(KEY)).state), plain(kept));
    },
  );
  await fc.assert(property);
});

test('whatever comes in is either kept as JSON has it or refused with its place', async () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withTypedArray: true,
    withSparseArray: true,
    withUnicodeString: true,
  });
  const property = fc.asyncProperty(anything, async (value) => {
    const service = new SessionService();
    const session = await service.createSession(KEY);
    try {
      await service.appendEvent({ session, event: { actions: { stateDelta: { x: value } } } });
      assert.deepEqual(plain(session.state), { x: plain(value) });
    } catch (error) {
      assert.ok(isStatepadError(error), error?.stack);
      assert.equal(error.code, 'VALUE_NOT_JSON');
      assert.ok(error.path.startsWith('actions.stateDelta["x"]'), error.path);
      assert.equal(session.revision, 0);
    }
  });
  await fc.assert(property, { numRuns: runs(500) });
});

test('temp: keys never reach a change, a stored event or another reader', async () => {
  const names = fc
    .tuple(fc.constantFrom('', 'temp:', 'app:', 'user:', 'app:temp:'), fc.constantFrom('a', 'temp:b', ''))
    .map((parts) => parts.join(''));
  const property = fc.asyncProperty(fc.dictionary(names, fc.oneof(json, fc.constant(DELETED))), async (delta) => {
    const changes = [];
    const service = new SessionService(storedWith((change) => changes.push(change)));
    const session = await service.createSession({ ...KEY, state: delta });
    const stored = await service.appendEvent({ session, event: { id: 'e', actions: { stateDelta: delta } } });
    const isTemp = (name) => name.startsWith('temp:');
    const full = changes.flatMap(({ delta: { app, user, session: own } }) =>
      [
        ['app:', app],
        ['user:', user],
        ['', own],
      ].flatMap(([prefix, part]) =>
        [...Object.keys(part?.set ?? {}), ...(part?.unset ?? [])].map((name) => prefix + name),
      ),
    );
    assert.deepEqual(full.filter(isTemp), []);
    assert.deepEqual(new Set(full), new Set(Object.keys(delta).filter((name) => !isTemp(name))));
    const event = JSON.parse(changes[1].event.data);
    assert.deepEqual(event, plain(stored));
    assert.deepEqual(Object.keys(event.actions.stateDelta).filter(isTemp), []);
    assert.deepEqual((event.customMetadata?.statepad?.deleted ?? []).filter(isTemp), []);
    const { state } = await service.getSession(KEY);
    assert.deepEqual(Object.keys(state).filter(isTemp), []);
  });
  await fc.assert(property);
});

test('of two writes in an invocation the later one wins, whatever is discarded, refused and given again', async () => {
  const author = fc.constantFrom('a', 'b', 'c');
  const name = fc.constantFrom('x', 'y', 'user:x', 'app:x', 'temp:x');
  const value = fc.oneof(fc.nat(), fc.constant(DELETED));
  const id = fc.constantFrom(undefined, '1', '2');
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ does: fc.constant('write'), author, name, value }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('discard'), author }) },
    {
      weight: 3,
      arbitrary: fc.record({ does: fc.constant('send'), author, id, own: fc.dictionary(name, value, { maxKeys: 1 }) }),
    },
    { weight: 4, arbitrary: fc.record({ does: fc.constant('arrive'), stored: fc.boolean() }) },
  );
  const property = fc.asyncProperty(
    fc.array(step, { maxLength: 30 }),
    fc.shuffledSubarray(['a', 'b', 'c'], { minLength: 3 }),
    async (steps, last) => {
      const decisions = [];
      const service = new SessionService(
        storedWith(async ({ kind }) => {
          if (kind === 'append' && !(await decisions.shift())) {
            throw new StoreError('unavailable', 'told to refuse');
          }
        }),
      );
      const session = await service.createSession(KEY);
      const root = service.invocation(session, { author: 'a' });
      const contexts = { a: root, b: root.child('b'), c: root.child('c') };
      const model = new PendingModel();
      const sent = [];
      const arrive = async (isStored) => {
        const { decide, event, writes } = sent.shift();
        decide(isStored);
        await (isStored
          ? event
          : assert.rejects(event, (error) => isStatepadError(error) && error.code === 'STORE_UNAVAILABLE'));
        model.arrive(writes, isStored);
      };
      const send = (by, eventId, own) => {
        // An id is used once: what is sent under it again later is another event, unless it was refused.
        const taken =
          eventId !== undefined &&
          (model.stored.has(eventId) ||
            sent.some(({ writes }) => writes.id === eventId) ||
            (model.failed.get(eventId)?.author ?? by) !== by);
        const writes = model.send(by, taken ? undefined : eventId, own);
        let decide;
        decisions.push(new Promise((settle) => (decide = settle)));
        const event = contexts[by].append({
          ...(writes.id === undefined ? {} : { id: writes.id }),
          actions: { stateDelta: own },
        });
        event.catch(() => undefined);
        sent.push({ decide, event, writes });
      };
      for (const { does, author: by, name: at, value: written, id: eventId, own, stored } of steps) {
        if (does === 'write' && written === DELETED) {
          assert.equal(contexts[by].state.delete(at), Object.hasOwn(model.visible(), at));
          if (Object.hasOwn(model.visible(), at)) {
            model.write(by, at, written);
          }
        } else if (does === 'write') {
          contexts[by].state.set(at, written);
          model.write(by, at, written);
        } else if (does === 'discard') {
          contexts[by].discard();
          model.discard(by);
        } else if (does === 'send') {
          send(by, eventId, own);
        } else if (sent.length > 0) {
          await arrive(stored);
        }
        for (const [who, { state }] of Object.entries(contexts)) {
          assert.deepEqual(plain(state.toRecord()), model.visible());
          assert.equal(state.hasDelta(), model.next(who).length > 0);
        }
      }
      while (sent.length > 0) {
        await arrive(true);
      }
      for (const by of last) {
        send(by, undefined, {});
        await arrive(true);
      }
      if (model.pending.length === 0) {
        root.end();
      } else {
        assert.throws(
          () => root.end(),
          (error) => isStatepadError(error) && error.code === 'INVALID_ARGUMENT',
        );
        root.end({ discard: true });
      }
      model.committed.delete('temp:x');
      const state = Object.fromEntries(model.committed);
      assert.deepEqual(plain((await service.getSession(KEY)).state), state);
      assert.deepEqual(plain(session.state), state);
    },
  );
  await fc.assert(property, { numRuns: runs(500) });
});

/** The pending writes of an invocation as a plain list, in the order of writing. */
class PendingModel {
  committed = new Map();
  pending = [];
  failed = new Map();
  stored = new Set();

  visible() {
    const visible = new Map(this.committed);
    for (const { name, value } of this.pending) {
      visible.set(name, value);
    }
    return Object.fromEntries([...visible].filter(([, value]) => value !== DELETED));
  }

  write(author, name, value) {
    this.pending = this.pending.filter(
      (write) => write.author !== author || write.name !== name || write.sent || write.kept,
    );
    const write = { author, name, value, sent: false, kept: false };
    this.pending.push(write);
    return write;
  }

  discard(author) {
    this.pending = this.pending.filter((write) => write.author !== author || write.sent);
    this.failed.forEach((failed, id) => failed.author === author && this.failed.delete(id));
  }

  /** The writes that the next event of an author carries: of each key the last write, if it is the author's. */
  next(author) {
    const isLast = (write) => this.pending.findLast(({ name }) => name === write.name) === write;
    return this.pending.filter((write) => write.author === author && !write.sent && isLast(write));
  }

  send(author, id, own) {
    const failed = this.failed.get(id)?.carried;
    const again = failed?.filter((write) => this.pending.includes(write) && !write.sent);
    const carried = (again ?? this.next(author)).filter(({ name }) => !Object.hasOwn(own, name));
    const brought = Object.entries(own).map(([name, value]) => {
      const write = { author, name, value, sent: true, kept: false };
      this.pending.push(write);
      return write;
    });
    carried.forEach((write) => (write.sent = true));
    return { id, author, carried, brought, isWhole: again?.length === failed?.length };
  }

  arrive({ id, author, carried, brought, isWhole }, isStored) {
    if (isStored) {
      for (const write of [...carried, ...brought]) {
        const place = this.pending.indexOf(write);
        // A later write may have been stored already: then it is not there any more.
        if (place >= 0) {
          this.pending = this.pending.filter(({ name }, index) => name !== write.name || index > place);
        }
        write.value === DELETED ? this.committed.delete(write.name) : this.committed.set(write.name, write.value);
      }
      this.failed.delete(id);
      this.stored.add(id);
      return;
    }
    this.pending = this.pending.filter((write) => !brought.includes(write));
    for (const write of carried) {
      write.sent = false;
      write.kept ||= id !== undefined;
    }
    if (id !== undefined && isWhole) {
      this.failed.set(id, { author, carried });
    }
  }
}

test('pages cover everything once, by page, by offset and by cursor', async () => {
  const row = fc.record({
    userId: fc.constantFrom('u', 'v'),
    sessionId: fc.constantFrom('1', '2', '3', '4', '5', '6', 'é', '👍', '\uffff'),
    time: fc.nat(3),
  });
  const rows = fc.uniqueArray(row, { selector: ({ userId, sessionId }) => userId + sessionId });
  const property = fc.asyncProperty(
    rows,
    fc.integer({ min: 1, max: 5 }),
    fc.constantFrom('asc', 'desc', undefined),
    fc.constantFrom('u', undefined),
    async (sessions, limit, order, userId) => {
      let time = 0;
      const service = new SessionService({ now: () => time });
      for (const session of sessions) {
        ({ time } = session);
        await service.createSession({ appName: 'app', ...session });
      }
      const request = { appName: 'app', order, userId };
      const all = listed(await service.listSessions(request));
      assert.equal(
        new Set(all).size,
        sessions.filter((session) => userId === undefined || session.userId === userId).length,
      );
      const seen = { page: [], offset: [], cursor: [] };
      for (let page = 1; (page - 1) * limit < all.length; page++) {
        seen.page.push(...listed(await service.listSessions({ ...request, limit, page })));
        seen.offset.push(...listed(await service.listSessions({ ...request, limit, offset: (page - 1) * limit })));
      }
      let cursor;
      do {
        const answer = await service.listSessions({ ...request, limit, ...(cursor === undefined ? {} : { cursor }) });
        seen.cursor.push(...listed(answer));
        ({ cursor } = answer);
      } while (cursor !== undefined);
      assert.deepEqual(seen, { page: all, offset: all, cursor: all });
    },
  );
  await fc.assert(property);
});

test('an escaped text renders to itself', () => {
  fc.assert(
    fc.property(text, (given) => {
      const template = new Template(Template.escape(given));
      assert.equal(template.render({ state: { a: 'no', b: 'no' } }), given);
      assert.deepEqual(template.placeholders, []);
    }),
    { numRuns: runs(1000) },
  );
});

test('rendering answers with text or says what is missing, each once', () => {
  fc.assert(
    fc.property(text, fc.dictionary(fc.constantFrom('a', 'b', 'app:a', 'é'), json), (given, state) => {
      try {
        assert.equal(
          typeof new Template(given).render({ state, artifact: (name) => (name.length % 2 ? undefined : name) }),
          'string',
        );
      } catch (error) {
        assert.ok(isStatepadError(error), error?.stack);
        assert.equal(new Set(error.missing.map(({ key: missed }) => missed)).size, error.missing.length);
        assert.ok(error.missing.length > 0);
      }
    }),
    { numRuns: runs(1000) },
  );
});

describe('a million characters in any shape are rendered and escaped', () => {
  const n = 1_000_000;
  const units = [
    '{',
    '}',
    '{}',
    '{a',
    '{a?',
    '{a}',
    '{{a}',
    '{a}}',
    '{{a}}',
    '{ ',
    '\\',
    '\\{',
    '\\{a}',
    '$',
    '${a}',
    '{a.',
    '{a[0]',
    '{app:',
    '{artifact.',
    '{é',
    '👍{',
    '{"k": {a}}',
  ];
  const shapes = [
    ...units.map((unit) => [JSON.stringify(unit), unit.repeat(n / unit.length)]),
    ['braces opened, then closed', '{'.repeat(n / 2) + '}'.repeat(n / 2)],
    ['backslashes before a placeholder', '\\'.repeat(n) + '{a}'],
    ['blanks in a placeholder', `{${' '.repeat(n)}a}`],
    ['a long path', `{a${'.a'.repeat(n / 2)}?}`],
    ['a long key', `{${'a'.repeat(n)}?}`],
  ];
  for (const [name, shape] of shapes) {
    test(name, () => {
      const render = (template, state) => new Template(template).render({ state, artifact: () => '' });
      assert.ok(render(Template.escape(shape), {}) === shape);
      try {
        assert.ok(render(shape, { a: 'x' }).length <= shape.length);
      } catch (error) {
        assert.equal(error.code, 'TEMPLATE_KEY_MISSING');
      }
    });
  }
});
