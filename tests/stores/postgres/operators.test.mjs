// The results of operators in the database: the same as in the package, to the last character.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { PGlite } from '@electric-sql/pglite';
import { postgresStore } from 'statepad/stores/postgres';
import { numbersFrom } from '../../support/random.js';
import { append, context, create, keyOf, withDatabase } from './database.mjs';

const { cases } = JSON.parse(readFileSync(new URL('../../cases/operators.json', import.meta.url), 'utf8'));

/** Numbers from 0 to below 2^32. */
function integers(seed) {
  const below = numbersFrom(seed);
  return () => below(2 ** 32);
}

const bits = new DataView(new ArrayBuffer(8));

/** The double that is so many steps from another. */
function beside(number, steps) {
  bits.setFloat64(0, number);
  bits.setBigInt64(0, bits.getBigInt64(0) + BigInt(steps));
  return bits.getFloat64(0);
}

/** Doubles of every kind: those that are hard to write stand beside powers of two and of ten. */
function doubles() {
  const next = integers(17);
  const powers = [
    ...Array.from({ length: 2_098 }, (_, index) => 2 ** (index - 1_074)),
    ...Array.from({ length: 632 }, (_, index) => Number(`1e${index - 323}`)),
  ];
  const near = powers.flatMap((power) => [-2, -1, 0, 1, 2].map((steps) => beside(power, steps)));
  const anywhere = Array.from({ length: 20_000 }, () => {
    bits.setUint32(0, next());
    bits.setUint32(4, next());
    return bits.getFloat64(0);
  });
  // Short digits times a power of ten: some lie exactly between two doubles.
  const short = Array.from({ length: 20_000 }, () => Number(`${next() % 10 ** (1 + (next() % 9))}e${next() % 40}`));
  const usual = Array.from({ length: 5_000 }, () => Number((next() / 1e3).toFixed(next() % 8)));
  const all = [...near, ...anywhere, ...short, ...usual, 0, 1e23, 5e-324, Number.MAX_VALUE, 123456789012345680000];
  return all.filter(Number.isFinite).map((number, index) => (index % 8 === 0 ? -number : number));
}

/** Pairs whose sum is near the largest double, and others. */
function pairs() {
  const next = integers(23);
  const big = [Number.MAX_VALUE, Number.MAX_VALUE / 2, beside(Number.MAX_VALUE, -1), 2 ** 1023, 2 ** 970, 2 ** 969];
  const some = [...big, ...big.flatMap((each) => [beside(each, -1), beside(each, 1)])].filter(Number.isFinite);
  const ends = some.flatMap((a) =>
    some.flatMap((b) => [
      [a, b],
      [-a, b],
      [a, -b],
      [-a, -b],
    ]),
  );
  const random = Array.from({ length: 5_000 }, () =>
    [0, 1].map(() => (next() - 2 ** 31) / 10 ** (next() % 12) / (next() % 3 === 0 ? 3 : 1)),
  );
  return [...ends, ...random, [0.1, 0.2], [1e21, 1], [5e-324, -5e-324], [9007199254740992, 1], [-1, 1]];
}

/** Asserts that a function of SQL gives the expected answer for each row of arguments, which are texts. */
async function assertAll(client, call, rows) {
  for (let begin = 0; begin < rows.length; begin += 2_000) {
    const part = rows.slice(begin, begin + 2_000);
    const answer = await client.query(
      `select ${call} as answer from json_array_elements($1::json) with ordinality given (args, nth) order by nth`,
      [JSON.stringify(part.map(({ args }) => args))],
    );
    const wrong = answer.rows.flatMap(({ answer: found }, index) =>
      found === part[index].expected ? [] : [`${JSON.stringify(part[index])}: ${found}`],
    );
    assert.deepEqual(wrong.slice(0, 10), []);
  }
}

function operatorTests(name, client, schema) {
  describe(name, () => {
    const open = async () => {
      const store = postgresStore(client, { schema });
      await store.open({ migrate: 'create' }, context);
      return store;
    };

    test('numbers are written as JSON.stringify writes them', async () => {
      await open();
      const rows = doubles().map((number) => ({ args: [String(number)], expected: JSON.stringify(number) }));
      assert.ok(rows.length > 50_000);
      await assertAll(client, `${schema}.number((args->>0)::float8)`, rows);
    });

    test('sums are those of doubles, and one that is none is told', async () => {
      await open();
      const rows = pairs().map(([a, b]) => ({
        args: [JSON.stringify(a), JSON.stringify(b)],
        expected: Number.isFinite(a + b) ? JSON.stringify(a + b) : '!overflow',
      }));
      assert.ok(rows.filter(({ expected }) => expected === '!overflow').length > 50);
      await assertAll(client, `${schema}.resolve('increment', args->>1, null, args->>0)`, rows);
    });

    test('each operator comes to what the cases say', async () => {
      const store = await open();
      const key = keyOf('cases', 'u', schema);
      await store.commit(create('cases', {}, key), context);
      const has = (object, member) => Object.hasOwn(object, member);
      for (const [index, { name, operator, value, result, fault, ...one }] of cases.entries()) {
        const set = has(cases[index], 'value') ? { set: { [`${index}`]: value } } : {};
        for (const scope of ['app', 'user', 'session']) {
          await store.commit(append(`set ${index} ${scope}`, { [scope]: set }, key), context);
          const operators = { [scope]: { [`${index}`]: operator } };
          const commit = () => store.commit(append(`do ${index} ${scope}`, {}, key, { operators }), context);
          if (fault !== undefined) {
            const refusal = { code: fault === 'changed' ? 'conflict' : 'rejected', key: `${index}`, scope };
            await assert.rejects(commit(), refusal, name);
            continue;
          }
          const { results } = await commit();
          assert.equal(JSON.stringify(results[scope][index]), result, name);
          const { state } = await store.load(key, { events: { last: 0 } }, context);
          assert.equal(JSON.stringify(state[scope][index]), result, name);
        }
        assert.deepEqual(one, {}, 'a member that is not looked at');
      }
    });
  });
}

await withDatabase((database) => {
  // A setting of the role that would cut digits off.
  const pool = database.pool({ options: '-c synchronous_commit=off -c extra_float_digits=0' });
  operatorTests('postgres', pool, database.schema());
});

const lite = new PGlite();
after(() => lite.close());
operatorTests('postgres, PGlite', lite, 'statepad');
