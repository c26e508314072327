// The file of tokens: what a line grants, and what refuses it.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { source } from '../../support/source.mjs';

const { tokensIn, authorizeBy, madeToken } = await source('cli/serve/token-file.ts', 'cli/serve/authorize.ts');

const TOKEN = '9f86d081884c7d659a2feaa0c55ad015';
const OTHER = 'a3bf4f1b2b0b822cd15d6c15b0f00a08';
const read = (text) => tokensIn(new TextEncoder().encode(text), 'tokens.txt');

/** The limits of a line, and what its principal has beside `id`. */
const ALL = { apps: 'all', users: 'all' };
const EVERY_SCOPE = ['session', 'user', 'app'];
const LINES = [
  ['', { ...ALL, writes: EVERY_SCOPE, may: ['sweep'] }],
  ['apps=shop,tutor', { ...ALL, apps: ['shop', 'tutor'], writes: EVERY_SCOPE, may: ['sweep'] }],
  ['users=ana', { ...ALL, users: ['ana'] }],
  ['users=ana writes=', { ...ALL, users: ['ana'], writes: [] }],
  ['users=', { ...ALL, users: [] }],
  ['sessions=s1,s2', { ...ALL, sessions: ['s1', 's2'] }],
  ['may=', { ...ALL, writes: EVERY_SCOPE, may: [] }],
  ['users= may=sweep', { ...ALL, users: [], may: ['sweep'] }],
  ['writes=session', { ...ALL, writes: ['session'] }],
  ['reads=session,user writes=user', { ...ALL, reads: ['session', 'user'], writes: ['user'] }],
  ['users=ana writes=app,session', { ...ALL, users: ['ana'], writes: ['app', 'session'] }],
  [
    'apps=a%2Cb,50%25,two%20words,ümlaut,%23',
    { ...ALL, apps: ['a,b', '50%', 'two words', 'ümlaut', '#'], writes: EVERY_SCOPE, may: ['sweep'] },
  ],
  ['ends=2030-01-02T03:04:05Z', { ...ALL, writes: EVERY_SCOPE, may: ['sweep'], ends: Date.UTC(2030, 0, 2, 3, 4, 5) }],
  ['ends=2030-01-02', { ...ALL, writes: EVERY_SCOPE, may: ['sweep'], ends: Date.UTC(2030, 0, 2) }],
  ['users=ana # the phone of Ana', { ...ALL, users: ['ana'] }],
  ['\tusers=ana \r', { ...ALL, users: ['ana'] }],
];

/** Lines that cannot be read, and the reasons. No reason may repeat a token. */
const FAULTS = [
  [`Bearer ${TOKEN}==`, 'the token stands alone, without Bearer before it'],
  [`"${TOKEN}"`, 'the token has a character that the header cannot carry: use letters, digits and -._~+/'],
  [`ana:${TOKEN}`, 'the token has a character that the header cannot carry: use letters, digits and -._~+/'],
  [`ana ${TOKEN}`, 'limit 1 is none of apps=, users=, sessions=, reads=, writes=, may=, id=, ends='],
  [`ana ${TOKEN}==`, 'limit 1 is none of apps=, users=, sessions=, reads=, writes=, may=, id=, ends='],
  [`${OTHER} apps=shop user=ana`, 'limit 2 is none of apps=, users=, sessions=, reads=, writes=, may=, id=, ends='],
  [`${OTHER} constructor=x`, 'limit 1 is none of apps=, users=, sessions=, reads=, writes=, may=, id=, ends='],
  [`${OTHER} users=ana users=ben`, 'users is given twice'],
  [`${OTHER} users=ana,,ben`, 'a name between two commas is empty'],
  [`${OTHER} users=50%`, 'a % in a name is written %25, a comma %2C, a space %20'],
  [`${OTHER} writes=all`, 'reads= and writes= take session, user, app, or nothing for none of them'],
  [`${OTHER} may=erase`, 'may= takes sweep, or nothing for none of them'],
  [`${OTHER} reads=temp`, 'reads= and writes= take session, user, app, or nothing for none of them'],
  [`${OTHER} id=`, 'id= has no name behind it'],
  [`${OTHER} ends=tomorrow`, 'ends= takes a time like 2030-12-31T23:59:59Z'],
  [`${OTHER} ends=2030-13-01`, 'ends= takes a time like 2030-12-31T23:59:59Z'],
  [TOKEN, 'the token is that of line 2'],
];

describe('a token file', () => {
  for (const [limits, expected] of LINES) {
    it(`grants by the limits ${JSON.stringify(limits)}`, () => {
      const [{ token, principal }, ...more] = read(`${TOKEN} ${limits}\n`);
      const { id, ...rest } = principal;
      assert.deepEqual([token, rest, more], [TOKEN, expected, []]);
      assert.match(id, /^[\w-]{16}$/);
    });
  }

  it('passes over empty lines, comments and a mark of the order of bytes', () => {
    const tokens = read(`\uFEFF# all tokens\n\n  # and more\n${TOKEN}\r\n${OTHER} id=shop\n`);
    assert.deepEqual(
      tokens.map(({ token }) => token),
      [TOKEN, OTHER],
    );
  });

  it('gives a principal the id of the line, and otherwise one that depends on the token alone', () => {
    const idOf = (line) => read(line)[0].principal.id;
    assert.equal(idOf(`${TOKEN} id=the%20shop`), 'the shop');
    assert.equal(idOf(TOKEN), idOf(`${TOKEN} users=ana`));
    assert.notEqual(idOf(TOKEN), idOf(OTHER));
    assert.ok(!TOKEN.includes(idOf(TOKEN)));
  });

  for (const [line, reason] of FAULTS) {
    it(`is refused by the number of the line ${line}`, () =>
      assert.throws(
        () => read(`# first\n${TOKEN} users=ana\n\n${line}\n`),
        (error) => {
          assert.deepEqual([error.message, error.code], [`tokens.txt, line 4: ${reason}`, 2]);
          return true;
        },
      ));
  }

  for (const [text, message] of [
    ['', 'tokens.txt has no token'],
    ['# nothing\n\n', 'tokens.txt has no token'],
  ]) {
    it(`is refused when it is ${JSON.stringify(text)}`, () => assert.throws(() => read(text), { message }));
  }

  it('is refused when it is no text', () =>
    assert.throws(() => tokensIn(Uint8Array.of(0xff, 0xfe), 'tokens.txt'), {
      message: 'tokens.txt is not a text in UTF-8',
    }));
});

describe('a request', () => {
  const tokens = read(`${TOKEN} id=ana users=ana\n${OTHER} id=ben users=ben\n`);
  const idFor = (headers) => authorizeBy(tokens)(new Request('http://localhost/', { headers }))?.id;

  /** Headers, and the principal that they stand for. */
  const HEADERS = [
    [{ authorization: `Bearer ${TOKEN}` }, 'ana'],
    [{ authorization: `bearer  ${OTHER}` }, 'ben'],
    [{ 'x-goog-api-key': OTHER }, 'ben'],
    [{ authorization: 'Bearer ya29.of-google', 'x-goog-api-key': OTHER }, 'ben'],
    [{ authorization: `Bearer ${TOKEN}`, 'x-goog-api-key': OTHER }, 'ana'],
    [{}, undefined],
    [{ authorization: TOKEN }, undefined],
    [{ authorization: `Basic ${TOKEN}` }, undefined],
    [{ authorization: 'Bearer ' }, undefined],
    [{ authorization: `Bearer ${TOKEN}x` }, undefined],
    [{ authorization: `Bearer ${TOKEN.slice(1)}` }, undefined],
    [{ authorization: `Bearer ${TOKEN} ${OTHER}` }, undefined],
    [{ 'x-goog-api-key': `Bearer ${TOKEN}` }, undefined],
    [{ 'x-goog-api-key': '' }, undefined],
    [{ cookie: `token=${TOKEN}` }, undefined],
  ];
  for (const [headers, id] of HEADERS) {
    it(`with ${JSON.stringify(headers)} is that of ${id ?? 'nobody'}`, () => assert.equal(idFor(headers), id));
  }

  it('with a token in its address is that of nobody', () => {
    const request = new Request(`http://localhost/?key=${TOKEN}&access_token=${TOKEN}`);
    assert.equal(authorizeBy(tokens)(request), undefined);
  });
});

describe('a token that is made', () => {
  it('has 32 random bytes, may do everything, and has the same name in every run', () => {
    const [first, second] = [madeToken(), madeToken()];
    assert.match(first.token, /^[\w-]{43}$/);
    assert.notEqual(first.token, second.token);
    assert.deepEqual(first.principal, { id: 'owner', ...ALL, writes: EVERY_SCOPE, may: ['sweep'] });
    assert.deepEqual(first.principal, second.principal);
  });
});
