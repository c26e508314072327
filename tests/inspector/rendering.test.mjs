// A template in pieces: nothing of it is lost, and nothing is added.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import fc from 'fast-check';
import { Template } from 'statepad';

/** @type {import('esbuild').Plugin} */
const publicNames = {
  name: 'public names',
  // A data: URL could not find the package by its name.
  setup: ({ onResolve }) =>
    onResolve({ filter: /\/index\.js$/ }, () => ({ path: import.meta.resolve('statepad'), external: true })),
};

/** A module of the inspector, for Node: it finds the package where every other program finds it. */
async function load(path) {
  const entry = fileURLToPath(new URL(`../../pkg/src/${path}`, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: 'esm',
    plugins: [publicNames],
    write: false,
  });
  const code = outputFiles[0].text;
  return await import(`data:text/javascript,${encodeURIComponent(code)}`);
}

const { dissect } = await load('inspector/template/rendering.ts');

const joined = (pieces) => pieces.map(({ text }) => text).join('');
const told = (pieces) => pieces.map(({ text, spot }) => (spot === undefined ? text : [spot.scope, spot.key, text]));

const names = ['a', 'a.b', 'user:a', 'app:b', 'temp:é', 'x', 'artifact.a', '__proto__'];
const placeholders = names.flatMap((name) =>
  [name, ` ${name}? `, `\u0085${name}\u3000`]
    .map((content) => `{${content}}`)
    .concat(`\\{${name}}`, `{{${name}}}`, `{{${name}}`),
);
const others = [...'{}\\$?:. \n\u0085\ufeff"👍é\ue000\ue001', '\ud83d', '{a[0]}', '{user:a.b?}', '\ue000\ue000\ue001'];
const part = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...placeholders) },
  { weight: 2, arbitrary: fc.constantFrom(...others) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 5 }) },
);
const template = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(''));
const value = fc.oneof(
  fc.string(),
  fc.constantFrom(null, true, 0, '', '\ue000\ue001', '{a}', ['first'], { b: 'inside' }),
);
const state = fc.dictionary(fc.constantFrom(...names), value, { noNullPrototype: false });

test('the pieces of a source are the source, and each placeholder stands where the package says', () => {
  fc.assert(
    fc.property(template, state, (text, state) => {
      const compiled = new Template(text);
      const { source } = dissect(compiled, { state });
      assert.equal(joined(source), text);
      const spots = source.flatMap(({ spot }) => spot ?? []);
      assert.deepEqual(
        spots.map(({ line, column, optional }) => ({ line, column, optional })),
        compiled.placeholders.map(({ line, column, optional }) => ({ line, column, optional })),
      );
      for (const { start, line, column, source } of spots) {
        const before = text.slice(0, start).split('\n');
        assert.deepEqual([before.length, [...before.at(-1)].length + 1], [line, column]);
        assert.match(source, /^\{[^{}]*\}$/u);
      }
    }),
    { numRuns: 500 },
  );
});

test('the rendered pieces are what the template renders to, and those of what is missing stand in its places', () => {
  const artifact = (name) => (name === 'a' ? 'the file' : undefined);
  fc.assert(
    fc.property(template, state, fc.boolean(), (text, state, hasFiles) => {
      const options = { state, artifact: hasFiles ? artifact : undefined };
      const { rendered, error } = dissect(new Template(text), options);
      const missing = new Set(error?.missing.map(({ key }) => key));
      // With something for what is missing, the template renders: to the same pieces.
      const filled = { ...state, ...Object.fromEntries([...missing].map((key) => [key, `«${key}»`])) };
      const file = (name) =>
        options.artifact?.(name) ?? (missing.has(`artifact.${name}`) ? `«artifact.${name}»` : undefined);
      const whole = new Template(text).render({ state: filled, artifact: file });
      const pieces = rendered.map((piece) => (missing.has(piece.spot?.key) ? { text: `«${piece.spot.key}»` } : piece));
      assert.equal(joined(pieces), whole);
      assert.ok(rendered.every(({ text, spot }) => !spot?.missing || (text === spot.source && missing.has(spot.key))));
    }),
    { numRuns: 500 },
  );
});

test('values, escapes and what is missing are told apart', () => {
  const text = 'é {user:name} \\{as_is} {{this}} {items[0].id}\n {user:nmae} {temp:plan?}{artifact.f}';
  const { rendered, source, error } = dissect(new Template(text), {
    state: { 'user:name': '{x}', items: [{ id: 7 }] },
  });
  assert.deepEqual(told(rendered), [
    'é ',
    ['user', 'user:name', '{x}'],
    ' {as_is} {{this}} ',
    ['session', 'items[0].id', '7'],
    '\n ',
    ['user', 'user:nmae', '{user:nmae}'],
    ' ',
    ['temp', 'temp:plan', ''],
    ['artifact', 'artifact.f', '{artifact.f}'],
  ]);
  assert.deepEqual(
    source.flatMap(({ spot }) => (spot?.missing ? [[spot.line, spot.column, spot.nearest]] : [])),
    [
      [2, 2, 'user:name'],
      [2, 26, undefined],
    ],
  );
  assert.equal(error.code, 'TEMPLATE_KEY_MISSING');
  assert.deepEqual(error.missing, [
    { key: 'user:nmae', line: 2, column: 2, nearest: 'user:name' },
    { key: 'artifact.f', line: 2, column: 26 },
  ]);
});
