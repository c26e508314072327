// The records that are handed out are ordinary objects: spread, logged, cloned, sent and compared as any other,
// whatever their keys are called, and wherever sessions are kept.

import assert from 'node:assert/strict';
import { format } from 'node:util';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SessionService, Template } from 'statepad';
import { memoryStore } from 'statepad/stores/memory';
import { KEY, runs } from '../../support/fixtures.mjs';

const places = { 'in memory': () => ({}), 'over a store': () => ({ store: memoryStore() }) };

/** A record with an own member of each name, `__proto__` included. */
const own = (entries) => {
  const record = {};
  for (const [name, value] of entries) {
    Object.defineProperty(record, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return record;
};

/** Fails unless a record is what an ordinary object with these members is. */
function checkRecord(record, wanted, isOwn = false) {
  assert.deepStrictEqual(record, wanted);
  assert.equal(Object.getPrototypeOf(record), Object.prototype);
  assert.deepStrictEqual(structuredClone(record), structuredClone(wanted));
  assert.deepStrictEqual({ ...record }, { ...wanted });
  assert.equal(JSON.stringify(record), JSON.stringify(wanted));
  assert.equal(format('%s %o %O', record, record, record), format('%s %o %O', wanted, wanted, wanted));
  if (!Object.hasOwn(record, 'toString')) {
    assert.equal(`${record}`, '[object Object]');
  }
  assert.equal(Object.isFrozen(record), !isOwn);
}

const name = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'then', 'hasOwnProperty', '', '0', 'x'),
  fc.string({ maxLength: 3 }),
);
const value = fc.oneof(
  fc.integer(),
  fc.constant(null),
  fc.string(),
  fc.array(fc.integer()),
  fc.dictionary(name, fc.integer(), { noNullPrototype: true }),
);
const values = fc.uniqueArray(fc.tuple(name, value), { maxLength: 5, selector: ([each]) => each }).map(own);
const under = (prefix, record) => own(Object.entries(record).map(([each, given]) => [prefix + each, given]));
/** A session key is a name that no scope has: what it begins with is another letter. */
const sessionKeys = values.map((record) =>
  own(Object.entries(record).filter(([each]) => !/^(app|user|temp):/.test(each))),
);

describe('records are ordinary objects', () => {
  for (const [place, options] of Object.entries(places)) {
    test(`in every operation that hands one out, ${place}`, async () => {
      await fc.assert(
        fc.asyncProperty(sessionKeys, values, values, values, async (session, app, user, temp) => {
          const service = new SessionService(options());
          const shared = own([...Object.entries(under('app:', app)), ...Object.entries(under('user:', user))]);
          const all = own([...Object.entries(session), ...Object.entries(shared)]);
          const created = await service.createSession({ ...KEY, state: all });
          checkRecord(created.state, all);
          checkRecord((await service.getSession(KEY)).state, all);
          checkRecord((await service.listSessions(KEY)).sessions[0].state, all);
          checkRecord(await service.stateAt(created, 0), all);
          checkRecord(await service.getAppState(KEY), app, true);
          checkRecord(await service.getUserState(KEY), user, true);
          checkRecord(await service.updateState(KEY, () => ({})), all);
          checkRecord(await service.updateState({ appName: 'app', userId: 'u' }, () => ({})), shared);
          checkRecord(await service.updateState({ appName: 'app', userId: 'u' }, () => shared), shared);
          checkRecord(await service.updateState(KEY, () => session), all);
          const stateDelta = under('temp:', temp);
          await service.appendEvent({ session: created, event: { actions: { stateDelta } } });
          checkRecord(created.state, own([...Object.entries(all), ...Object.entries(stateDelta)]));
          await service.appendEvent({ session: created, event: { author: 'a' } });
          checkRecord(await service.stateAt(created, created.revision - 1), all);
        }),
        { numRuns: runs(60) },
      );
    });

    test(`no lookup of the package reaches what every object inherits, ${place}`, async () => {
      const service = new SessionService(options());
      const session = await service.createSession(KEY);
      const template = new Template('{constructor?}{toString?}{__proto__?}{x.constructor?}{__proto__.y?}');
      assert.equal(template.render({ state: session.state }), '');
      assert.throws(() => new Template('{constructor}').render({ state: session.state }), {
        code: 'TEMPLATE_KEY_MISSING',
      });
      assert.deepEqual(await service.history(session, 'constructor'), []);
      const state = own([['__proto__', { y: 'own' }]]);
      assert.equal(template.render({ state }), '{"y":"own"}own');
    });
  }
});
