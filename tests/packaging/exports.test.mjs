// The exports that the package names, one by one: they can be imported, and nothing else; for TypeScript as for Node.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import ts from 'typescript';
import { pack, project, root, runNode } from './project.mjs';

const src = join(root, 'pkg', 'src');

/** The specifiers by which a file of the package could be meant: by its path, without folder, `index`, or ending. */
function specifiersOf(path) {
  const bare = path.replace(/(\.d\.ts|\.js)$/, '');
  const short = [path, bare, bare.replace(/\/index$/, '')].flatMap((name) => [name, name.replace(/^dist\//, '')]);
  return short.map((name) => (name === 'index' || name === 'dist' ? 'statepad' : `statepad/${name}`));
}

const TRIES = `
  import { createRequire } from 'node:module';
  import { readFileSync } from 'node:fs';
  const require = createRequire(import.meta.url);
  const outcome = (get) => new Promise((resolve) => resolve(get())).then(() => true, ({ code }) => code ?? 'threw');
  const told = {};
  for (const name of JSON.parse(readFileSync('specifiers.json', 'utf8'))) {
    const json = name.endsWith('.json') ? { with: { type: 'json' } } : undefined;
    told[name] = [await outcome(() => import(name, json)), await outcome(() => require(name))];
  }
  console.log(JSON.stringify(told));
`;

/** In the place of React, which `tests/hosts/react` installs: here it only has to be found. */
const REACT = {
  'node_modules/react/package.json': JSON.stringify({ name: 'react', version: '19.0.0', main: 'index.js' }),
  'node_modules/react/index.js': [
    'createContext',
    ...['Context', 'Callback', 'Effect', 'Memo', 'Ref', 'State', 'SyncExternalStore'].map((name) => `use${name}`),
    'createElement',
  ]
    .map((name) => `exports.${name} = () => undefined;`)
    .join('\n'),
};

describe('the exports', () => {
  /** The names that users are to import, and all that could be tried beside them. */
  let named;
  let specifiers;
  let folder;
  before(async () => {
    const { files } = await pack();
    const sources = readdirSync(src, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory());
    const folders = sources.map(({ parentPath, name }) => join(parentPath, name).slice(src.length + 1));
    const stores = readdirSync(join(src, 'stores')).filter((name) =>
      existsSync(join(src, 'stores', name, 'index.ts')),
    );
    const more = [
      ...['adk', 'client', 'import-adk', 'inspect', 'inspector', 'jsonl'],
      ...['package.json', 'react', 'serve', 'store', 'testing'],
    ];
    const entries = ['', ...more.map((name) => `/${name}`)];
    named = [...entries, ...stores.map((name) => `/stores/${name}`)].map((name) => `statepad${name}`).sort();
    specifiers = [...new Set([...named, ...[...files.map(({ path }) => path), ...folders].flatMap(specifiersOf)])];
    folder = await project(
      { 'specifiers.json': JSON.stringify(specifiers), 'tries.js': TRIES, ...REACT },
      { link: ['@google/adk'] },
    );
  });

  it('run in Node by import and by require, and no other path does', async () => {
    assert.ok(named.length > 10 && specifiers.length > 200);
    const told = await runNode(folder, 'tries.js');
    const hidden = ['ERR_PACKAGE_PATH_NOT_EXPORTED', 'ERR_PACKAGE_PATH_NOT_EXPORTED'];
    for (const name of specifiers) assert.deepEqual(told[name], named.includes(name) ? [true, true] : hidden, name);
  });

  for (const [name, module, moduleResolution] of [
    ['node16', ts.ModuleKind.Node16, ts.ModuleResolutionKind.Node16],
    ['nodenext', ts.ModuleKind.NodeNext, ts.ModuleResolutionKind.NodeNext],
    ['bundler', ts.ModuleKind.ESNext, ts.ModuleResolutionKind.Bundler],
  ]) {
    it(`have types where they have JavaScript, and nowhere else, as ${name} resolves them`, () => {
      const options = { module, moduleResolution, resolveJsonModule: true };
      const modes = name === 'bundler' ? [undefined] : [ts.ModuleKind.ESNext, ts.ModuleKind.CommonJS];
      const from = join(folder, 'main.ts');
      for (const mode of modes) {
        const resolved = specifiers.filter((specifier) => {
          const { resolvedModule } = ts.resolveModuleName(
            specifier,
            from,
            options,
            ts.sys,
            undefined,
            undefined,
            mode,
          );
          return resolvedModule !== undefined && /\.(d\.ts|json)$/.test(resolvedModule.resolvedFileName);
        });
        assert.deepEqual(resolved.sort(), named);
      }
    });
  }
});
