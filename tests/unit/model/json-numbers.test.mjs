// Numbers of JSON texts that JavaScript cannot hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { source } from '../../support/source.mjs';

const { changeJson, jsonWithBigints, lostNumber, parseWith } = await source('model/json-numbers.ts');

test('numbers that JavaScript holds are none of them', () => {
  for (const token of [
    ...['0', '-0', '1', '1.0', '-1.50', '0.1', '0.30000000000000004', '1e300', '1E+300', '5e-324', '1.5e-7'],
    ...['9007199254740991', '-9007199254740991', '9007199254740992', '9007199254740994', '100000000000000000000000'],
    // With all the zeros that they stand for.
    ...[`1${'0'.repeat(300)}`, `0.${'0'.repeat(320)}5`],
    ...['1771234567123.456', '1771234567.123456', '17976931348623157'.padEnd(309, '0'), '1.7976931348623157e308'],
    ...['0.000000000000000000000000000000', '10000000000000000.000000', '123456789012345680'],
  ]) {
    assert.equal(lostNumber(token), undefined, token);
    assert.equal(lostNumber(`{"a":[${token}]}`), undefined, token);
  }
});

test('numbers that it would round are', () => {
  for (const token of [
    ...['9007199254740993', '-9007199254740993', '18446744073709551615', '12345678901234567890', '9007199254740993.0'],
    // It is a double, and is written as another number.
    '18446744073709551616',
    ...[
      '0.10000000000000001',
      '9.9999999999999992e22',
      '0.1234567890123456789',
      '3.14159265358979323846',
      '1234567890123456789e-3',
      '1e400',
      '-1e400',
      '1e-400',
    ],
    ...['1'.repeat(400), `0.${'0'.repeat(400)}5`, '100000000000000000000.5'],
  ]) {
    assert.deepEqual(lostNumber(token), { token, path: [] }, token);
  }
});

test('they are told with where they are, and digits in texts are none', () => {
  const big = '9007199254740993';
  for (const [json, path] of [
    [`{"a":${big}}`, ['a']],
    [`[1,[2,${big}]]`, [1, 1]],
    [`{"a":{"b":[{},{"c":"x,}]","d":${big}}]}}`, ['a', 'b', 1, 'd']],
    [`{"a" : 1 , "q\\"\\\\" : [ "${big}" , {"":${big}} ]}`, ['q"\\', 1, '']],
    [`{"\\u0061":${big},"z":1}`, ['a']],
    [`{"__proto__":{"x":${big}}}`, ['__proto__', 'x']],
    [`{"a":[],"b":{},"c":[[],{}],"d":${big}}`, ['d']],
    [`{"${big}":1,"t":"${big}","u":"\\\\","v":${big},"w":${big}0}`, ['v']],
  ]) {
    assert.deepEqual(lostNumber(json), { token: big, path }, json);
  }
  for (const text of [big, `"${big}`, `\\${big}`, `\\"${big}\\`, `a ${big} b`]) {
    assert.equal(lostNumber(JSON.stringify({ [text]: [text, { text }] })), undefined, text);
  }
});

test('a text is read with something else in their places', () => {
  const json = '{"a":9007199254740993,"b":["9007199254740993",-12345678901234567890,1.5],"__proto__":1e400}';
  const read = parseWith(json, (token) => ({ token }));
  assert.deepEqual(Object.keys(read), ['a', 'b', '__proto__']);
  assert.deepEqual(read.a, { token: '9007199254740993' });
  assert.deepEqual(read.b, ['9007199254740993', { token: '-12345678901234567890' }, 1.5]);
  assert.deepEqual(Object.getOwnPropertyDescriptor(read, '__proto__').value, { token: '1e400' });
  const fail = () => assert.fail('there is none');
  assert.deepEqual(parseWith('{"a":[1,2.5,"9007199254740993"]}', fail), { a: [1, 2.5, '9007199254740993'] });
});

test('a text that is changed keeps their digits', () => {
  const json = '{"a": 9007199254740993, "b": ["9007199254740993", -12345678901234567890], "c": 1e400}';
  const changed = changeJson(json, ({ a, b, c }) => ({ c, list: [...b, a], n: 1 }));
  assert.equal(changed, '{"c":1e400,"list":["9007199254740993",-12345678901234567890,9007199254740993],"n":1}');
  assert.equal(
    changeJson('{"a":1}', (value) => ({ ...value, b: 2 })),
    '{"a":1,"b":2}',
  );
});

test('a bigint is written as its digits', () => {
  assert.equal(
    jsonWithBigints({ a: [9007199254740993n, -1n, '5'], b: 1.5 }),
    '{"a":[9007199254740993,-1,"5"],"b":1.5}',
  );
  assert.equal(jsonWithBigints({ a: 'number-:5' }), '{"a":"number-:5"}');
});

test('what JSON.stringify writes is read as it was, whatever it is', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
      const json = JSON.stringify(value);
      assert.equal(lostNumber(json), undefined);
      const fail = () => assert.fail('there is none');
      assert.deepEqual(parseWith(json, fail), JSON.parse(json));
    }),
  );
});

test('every integer is either read as it was, or told', () => {
  const number = fc.tuple(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), fc.integer({ min: 0, max: 3 }));
  fc.assert(
    fc.property(fc.array(number), (numbers) => {
      const tokens = numbers.map(([value, zeros]) => String(value) + '0'.repeat(value === 0n ? 0 : zeros));
      const read = parseWith(`[${tokens.join()}]`, (token) => ({ token }));
      read.forEach((value, index) => {
        const text = typeof value === 'number' ? BigInt(value).toString() : value.token;
        const isRounded = typeof value === 'number' && BigInt(tokens[index]) !== BigInt(value);
        assert.ok(!isRounded && (typeof value === 'number' || text === tokens[index]), tokens[index]);
      });
    }),
  );
});

test('a long text is read in time that grows with its length', () => {
  // A hundred million steps and more, were it quadratic.
  const quotes = JSON.stringify('\\"'.repeat(1_000_000));
  const texts = [
    `[${quotes},9007199254740993]`,
    `${'['.repeat(500_000)}9007199254740993`,
    `{"a":${'9'.repeat(2_000_000)}}`,
  ];
  for (const text of texts) {
    assert.ok(lostNumber(text) !== undefined);
  }
});
