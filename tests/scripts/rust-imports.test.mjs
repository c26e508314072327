// The check that no modules of the crate use each other in a circle.

import assert from 'node:assert/strict';
import test from 'node:test';
import { circlesOf, usesOf } from '../../scripts/rust-imports.mjs';

/** The circles in a crate of these files, by the path of each. */
function circlesIn(files) {
  const sources = Object.entries(files).map(([path, text]) => ({
    module: path === 'lib' ? [] : path.split('/'),
    text,
  }));
  return circlesOf(usesOf(sources)).map((circle) => circle.join(' '));
}

test('two modules that use each other are a circle, however they name each other', () => {
  const found = ['crate::a crate::b crate::a'];
  for (const use of [
    'use crate::a::A;',
    'use super::a::A;',
    'use crate::{c, a::{A, B}};',
    'fn f() { crate::a::f() }',
    'fn f() -> super::a::A { g() }',
    'mod inner { use super::super::a::A; }',
  ]) {
    assert.deepEqual(circlesIn({ lib: 'mod a; mod b;', a: 'use crate::b::B;', b: use }), found, use);
  }
});

test('a circle over several modules is found', () => {
  const files = { lib: '', a: 'use crate::b;', b: 'use crate::c::{self, C};', c: 'use crate::a::{A};' };
  assert.deepEqual(circlesIn(files), ['crate::a crate::b crate::c crate::a']);
});

test('a module and one in its folder are a circle when both use the other', () => {
  const child = 'use super::Parent;';
  assert.deepEqual(circlesIn({ a: 'mod b;\nfn f() { b::f() }', 'a/b': child }), ['crate::a crate::a::b crate::a']);
  assert.deepEqual(circlesIn({ a: 'mod b;\nuse self::b::B;', 'a/b': child }), ['crate::a crate::a::b crate::a']);
});

test('what a module only declares or shows is not used by it', () => {
  const child = 'use super::Parent;\nuse crate::a::Other;';
  assert.deepEqual(circlesIn({ a: 'mod b;\npub use b::B;\npub(crate) use self::b::{C, D};', 'a/b': child }), []);
  assert.deepEqual(circlesIn({ a: 'pub use crate::c::C;', c: 'use crate::a::A;' }), ['crate::a crate::c crate::a']);
});

test('comments, texts and tests are left out', () => {
  for (const text of [
    '// use crate::a::A;',
    '/// [`A`](crate::a::A)',
    '/* use crate::a::A; */',
    'const TEXT: &str = "crate::a::A";',
    'const TEXT: &str = r#"a "quoted" crate::a::A"#;',
    'const QUOTE: char = \'"\'; // crate::a::A "',
    '#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}',
  ]) {
    assert.deepEqual(circlesIn({ a: 'use crate::b::B;', b: text }), [], text);
  }
});

test('the root is a module, too', () => {
  assert.deepEqual(circlesIn({ lib: 'mod a; pub use a::A;', a: 'use crate::A;' }), []);
  assert.deepEqual(circlesIn({ lib: 'mod a; fn f() { a::f() }', a: 'use crate::A;' }), ['crate crate::a crate']);
});
