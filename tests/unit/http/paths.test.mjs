// Ids in the paths of URLs: any id arrives as it was, and in one spelling only.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isStatepadError } from 'statepad';
import { source } from '../../support/source.mjs';

const { PATHS, pathTo, readId, writeId } = await source('http/paths.ts');
const { fromBase64Url, toBase64Url } = await source('http/base64url.ts');

const AWKWARD = ['', '.', '..', '~', '~YQ', 'a/b', '/', '\\', 'a\\b', '../x', '~~'];
const PLAIN = [
  'a',
  '...',
  '.a',
  'a.',
  'a~',
  'é',
  '😀',
  ' ',
  '%',
  '%2e%2e',
  '%2F',
  'a:b',
  'a?b#c',
  '\0',
  '\n',
  '+',
  '.%2e',
];
const ids = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...AWKWARD, ...PLAIN));

describe('an id in a path', () => {
  it('is read as it was written', () => {
    fc.assert(fc.property(ids, (id) => assert.equal(readId(writeId(id, 'id'), 'id'), id)));
  });

  it('is one segment of the path of a URL, which leaves it as it is', () => {
    fc.assert(
      fc.property(ids, ids, (appName, userId) => {
        const path = pathTo(PATHS.userState, { appName, userId });
        const { pathname } = new URL(path, 'http://host');
        assert.equal(pathname, path);
        const [, , , app, , user] = pathname.split('/');
        assert.deepEqual([readId(app, 'appName'), readId(user, 'userId')], [appName, userId]);
      }),
    );
  });

  it('has no colon, which begins a verb', () => {
    fc.assert(fc.property(ids, (id) => assert.ok(!writeId(id, 'id').includes(':'))));
  });

  for (const id of AWKWARD) {
    it(`is base64url after a ~ when it is ${JSON.stringify(id)}, and nothing else`, () => {
      assert.equal(writeId(id, 'id'), `~${Buffer.from(id).toString('base64url')}`);
      if (!id.startsWith('~')) assertRefused(() => readId(encodeURIComponent(id), 'id'), /^id must be written as ~/);
    });
  }

  for (const id of PLAIN) {
    it(`is not base64url when it is ${JSON.stringify(id)}`, () => {
      assert.equal(writeId(id, 'id'), encodeURIComponent(id));
      assertRefused(() => readId(`~${toBase64Url(id)}`, 'id'), /^id must be written as /);
    });
  }

  for (const [what, segment] of [
    ['a malformed escape', '%zz'],
    ['an escape that is cut off', '%e'],
    ['bytes that are not UTF-8', '%ff'],
    ['a surrogate as bytes', '%ed%a0%80'],
    ['base64 with padding', '~YS9i='],
    ['base64 of another alphabet', '~Pz8/'],
    ['base64 with bits that say nothing', '~LmG'],
    ['base64 that is cut off', '~YS9iY'],
    ['base64 of bytes that are not UTF-8', '~L_8'],
    ['base64 with a blank', '~YS9%20i'],
  ]) {
    it(`is refused with ${what}`, () => assertRefused(() => readId(segment, 'userId'), /^userId /, 'userId'));
  }

  it('is refused with a lone surrogate', () => {
    assertRefused(() => writeId('a\ud800', 'appName'), /lone surrogates/, 'appName');
  });

  it('may have more escapes than it needs', () => {
    assert.equal(readId('%61%7E', 'id'), 'a~');
    assert.equal(readId('%7EYS9i', 'id'), 'a/b');
  });
});

describe('base64url', () => {
  it('is that of others', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const encoded = Buffer.from(text).toString('base64url');
        assert.equal(toBase64Url(text), encoded);
        assert.equal(fromBase64Url(encoded), text);
      }),
    );
  });

  it('has one spelling for each text', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'AQgwz019-_=+/ ') }), (encoded) => {
        const text = fromBase64Url(encoded);
        assert.ok(text === undefined || toBase64Url(text) === encoded);
      }),
    );
  });
});

function assertRefused(read, message, path = 'id') {
  assert.throws(read, (error) => {
    assert.ok(isStatepadError(error), String(error));
    assert.equal(error.code, 'INVALID_ARGUMENT');
    assert.equal(error.path, path);
    assert.match(error.message, message);
    return true;
  });
}
