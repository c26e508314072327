// Sizes and limits, as all stores share them that decide by themselves: against plain counting of everything.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../support/fixtures.mjs';
import { source } from '../../support/source.mjs';

const { MinHeap, applyDelta, checkLimits, growthBy, resolveChange, utf8Length, valueBytes } = await source(
  'model/utf8.ts',
  'model/min-heap.ts',
  'model/delta.ts',
  'stores/shared/growth.ts',
  'stores/shared/operators.ts',
);

const SCOPES = ['app', 'user', 'session'];
const bytes = (text) => Buffer.byteLength(text);

const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('a', 'ä', '€', '😀', '\n', '"', '\\', '\0', '\ud83d', '\ude00', '\u2028') }),
);
const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), text);
const name = fc.oneof(fc.constantFrom('a', 'b', 'ä', '', '__proto__'), text);
const values = fc.dictionary(name, value, { maxKeys: 4, noNullPrototype: false });
const delta = fc.record({ set: values, unset: fc.array(name, { maxLength: 3 }) }, { requiredKeys: [] });

/** The size of values, counted whole. */
const sizeOf = (map) => ({
  keys: map.size,
  bytes: [...map].reduce((sum, [name, value]) => sum + bytes(name) + bytes(JSON.stringify(value)), 0),
});
const bytesIn = (map) => (name) => (map.has(name) ? valueBytes(map.get(name)) : undefined);
const mapOf = (record) => new Map(Object.entries(record));

test('the length of a text in UTF-8 is that of its encoding', () => {
  fc.assert(
    fc.property(text, (text) => {
      assert.equal(utf8Length(text), new TextEncoder().encode(text).length);
    }),
    { numRuns: runs(300) },
  );
});

test('the size of a value is the number of bytes of its JSON text', () => {
  fc.assert(
    fc.property(value, (value) => {
      assert.equal(valueBytes(value), bytes(JSON.stringify(value)));
    }),
    { numRuns: runs(300) },
  );
});

test('a scope grows by the difference of its sizes before and after a delta', () => {
  fc.assert(
    fc.property(values, delta, (record, delta) => {
      const map = mapOf(record);
      const before = sizeOf(map);
      const growth = growthBy(delta, bytesIn(map));
      applyDelta(map, delta);
      const after = sizeOf(map);
      assert.deepEqual(growth, { keys: after.keys - before.keys, bytes: after.bytes - before.bytes });
    }),
    { numRuns: runs(300) },
  );
});

/** The first limit that values exceed, looked for among all of them. */
function expectedRefusal({ kind, limits }, scopes, after, results, rev) {
  const { value = Infinity, keys = Infinity, state = Infinity, events = Infinity } = limits;
  if (kind === 'append' && rev + 1 > events) return { exceeded: 'events', size: rev + 1, limit: events };
  for (const scope of SCOPES) {
    for (const key of Object.keys(results[scope] ?? {})) {
      const size = bytes(JSON.stringify(results[scope][key]));
      const before = scopes[scope].has(key) ? bytes(JSON.stringify(scopes[scope].get(key))) : 0;
      if (size > value && size > before) return { exceeded: 'value', size, limit: value, scope, key };
    }
    const [old, now] = [sizeOf(scopes[scope]), sizeOf(after[scope])];
    if (now.keys > old.keys && now.keys > keys) return { exceeded: 'keys', size: now.keys, limit: keys, scope };
    if (now.bytes > old.bytes && now.bytes > state) return { exceeded: 'state', size: now.bytes, limit: state, scope };
  }
  return undefined;
}

const few = (most) => fc.option(fc.nat(most), { nil: undefined });

test('a change is refused by the first limit that its values exceed, and by no other', () => {
  let refused = 0;
  fc.assert(
    fc.property(
      fc.record({ app: values, user: values, session: values }),
      fc.record({ app: delta, user: delta, session: delta }, { requiredKeys: [] }),
      fc.dictionary(fc.constantFrom('l1', 'l2'), fc.record({ append: fc.array(value, { maxLength: 2 }) }), {
        maxKeys: 2,
      }),
      fc.record({ value: few(40), keys: few(6), state: few(120), events: few(3) }, { requiredKeys: [] }),
      fc.constantFrom('create', 'append', 'update'),
      fc.nat(3),
      (records, delta, operators, limits, kind, rev) => {
        const scopes = Object.fromEntries(SCOPES.map((scope) => [scope, mapOf(records[scope])]));
        scopes.session.set('l1', [1]);
        const change = {
          id: 'x',
          kind,
          key: { appName: 'app' },
          time: 0,
          delta,
          operators: { session: operators },
          limits,
        };
        const resolved = resolveChange(change, { value: (scope, name) => scopes[scope].get(name) });
        const after = Object.fromEntries(
          SCOPES.map((scope) => {
            const map = new Map(scopes[scope]);
            applyDelta(map, resolved.delta[scope] ?? {});
            return [scope, map];
          }),
        );
        const expected = expectedRefusal(change, scopes, after, resolved.results ?? {}, rev);
        const sizes = {
          size: (scope) => sizeOf(scopes[scope]),
          bytesOf: (scope, name) => bytesIn(scopes[scope])(name),
        };
        const check = () => checkLimits(change, resolved, rev, sizes);
        if (expected === undefined) {
          check();
        } else {
          refused += 1;
          assert.throws(check, { code: 'limit', ...expected });
        }
      },
    ),
    { numRuns: runs(300) },
  );
  assert.ok(refused > runs(300) / 10, `${refused} were refused`);
});

test('a heap gives its items in the order of their numbers', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: -5, max: 5 }), { nil: undefined })), (steps) => {
      const heap = new MinHeap();
      const model = [];
      for (const step of steps) {
        if (step === undefined) {
          assert.equal(heap.first?.rank, model[0]);
          assert.equal(heap.take()?.rank, model.shift());
        } else {
          heap.add(step, {});
          model.push(step);
          model.sort((a, b) => a - b);
        }
      }
    }),
    { numRuns: runs(300) },
  );
});
