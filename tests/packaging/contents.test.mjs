// The files of the published package.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, posix } from 'node:path';
import { before, describe, it } from 'node:test';
import { targetsOf } from '../../scripts/entries.mjs';
import { linksOf } from '../../scripts/readme.mjs';
import { pack, project, root, run, temporaryFolder } from './project.mjs';

/** The scripts of the inspector and of its page: they have their libraries in them. */
const APPLICATION = /^dist\/(inspector(-[\w-]+)?|page\/[\w-]+)\.js$/;
/** The other files that this page and its libraries need. */
const ASSETS = [
  'dist/inspector-licenses.txt',
  ...['icon.svg', 'index.css', 'index.html'].map((name) => `dist/page/${name}`),
];

describe('the published package', () => {
  let packed;
  let paths;
  const texts = new Map();

  before(async () => {
    packed = await pack();
    paths = packed.files.map(({ path }) => path);
    const folder = temporaryFolder();
    await run('tar', ['-xzf', packed.path, '-C', folder]);
    for (const path of paths) texts.set(path, readFileSync(join(folder, 'package', path), 'latin1'));
  });

  const named = (pattern) => [...texts].filter(([path]) => pattern.test(path));

  it('holds scripts with their source maps, declarations, the module and the documents, and nothing else', () => {
    const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
    assert.ok(pages.length >= 10);
    const documents = [
      'CHANGELOG.md',
      'LICENSE-APACHE',
      'LICENSE-MIT',
      'README.md',
      'package.json',
      ...pages.map((name) => `docs/${name}`),
    ];
    const wasm = [
      'statepad.js',
      'statepad_hex.js',
      'statepad_primary.js',
      'statepad_secondary.js',
      'statepad_bg.wasm',
    ].map((name) => `wasm/${name}`);
    const rest = paths.filter((path) => !/^dist\/[\w.\-/]+(?<!\.ts)\.js(\.map)?$|^dist\/[\w.\-/]+\.d\.ts$/.test(path));
    assert.deepEqual(rest.sort(), [...documents, ...wasm, ...ASSETS].sort());
  });

  it('holds every file that package.json names', () => {
    const manifest = JSON.parse(texts.get('package.json'));
    const wanted = targetsOf([manifest.exports, manifest.imports, manifest.bin]).map((path) => path.replace('./', ''));
    assert.ok(wanted.length > 20);
    assert.deepEqual(
      wanted.filter((path) => !texts.has(path)),
      [],
    );
  });

  it('imports by relative paths only files that it holds', () => {
    const missing = [];
    for (const [path, text] of named(/\.(js|d\.ts)$/)) {
      for (const [, target] of text.matchAll(/(?:from|import)\s*\(?['"](\.[^'"?]+)/g)) {
        const file = posix.join(posix.dirname(path), target);
        const wanted = path.endsWith('.d.ts') ? file.replace(/\.js$/, '.d.ts') : file;
        if (!texts.has(wanted)) missing.push(`${path} -> ${wanted}`);
      }
    }
    assert.deepEqual(missing, []);
  });

  it('has no entry in what its entries share: to load one loads no other', () => {
    // The command line is a program on top of the entries.
    const shared = named(/^dist\/chunks\/(?!cli).*\.js$/);
    assert.ok(shared.length > 10);
    const entries = /from ?["']\.\.\/(?!model\/errors|engine\/)([\w/-]+)\.js["']/g;
    const found = shared.flatMap(([path, text]) =>
      [...text.matchAll(entries)].map(([, entry]) => `${path}: ${entry}`),
    );
    assert.deepEqual(found, []);
  });

  it('has a source map beside each script but the store cases, with the text of its sources', () => {
    const scripts = named(/^dist\/(?!testing\.js$).*\.js$/).filter(([path]) => !APPLICATION.test(path));
    assert.ok(scripts.length > 15);
    const isMapped = ([path, text]) => text.endsWith(`\n//# sourceMappingURL=${posix.basename(path)}.map`);
    const bare = scripts.filter((script) => !isMapped(script)).map(([path]) => path);
    const generated = [
      'dist/chunks/rolldown-runtime.js',
      ...['client', 'index', 'store'].map((name) => `dist/${name}.js`),
    ];
    assert.deepEqual(bare.sort(), generated, 'which have nothing of their own');
    for (const [path] of scripts.filter(isMapped)) {
      const { sources, sourcesContent } = JSON.parse(texts.get(`${path}.map`));
      assert.equal(sources.length, sourcesContent.length, path);
      for (const [place, source] of sources.entries()) {
        const file = posix.join(posix.dirname(path), source);
        assert.match(file, /^src\/[\w\-/.]+\.ts$/, path);
        const text = readFileSync(join(root, 'pkg', file), 'utf8');
        assert.equal(Buffer.from(sourcesContent[place], 'latin1').toString('utf8'), text, file);
      }
    }
  });

  it('shows the lines of its sources in stack traces, where Node is told to read source maps', async () => {
    const program = `
      import { SessionService } from 'statepad';
      await new SessionService().createSession({ appName: 'tutor' }).catch(({ stack }) => console.log(stack));
    `;
    const folder = await project({ 'refused.js': program });
    const trace = async (...flags) => run(process.execPath, [...flags, 'refused.js'], { cwd: folder });
    const place = /at SessionService\.createSession \(.*[\\/]src[\\/]service[\\/]session-service\.ts:(\d+):\d+\)/;
    const [, line] = place.exec(await trace('--enable-source-maps')) ?? [];
    const source = readFileSync(join(root, 'pkg', 'src', 'service', 'session-service.ts'), 'utf8').split('\n');
    assert.match(source[line - 1] ?? '', /admitCreation\(/);
    assert.match(
      await trace(),
      /at SessionService\.createSession \(.*\.js:\d+:\d+\)/,
      'the names are told without maps',
    );
  });

  it('shows an uncaught error without pages of code before it', async () => {
    // The inspector does not run in Node.
    const scripts = named(/^(dist\/.*|wasm\/statepad)\.js$/).filter(([path]) => !APPLICATION.test(path));
    const long = scripts.flatMap(([path, text]) =>
      text.split('\n').some(({ length }) => length > 500) ? [path] : [],
    );
    assert.ok(scripts.length > 15);
    assert.deepEqual(long, []);
    const program = `
      import { SessionService } from 'statepad';
      await new SessionService().createSession({ appName: 'tutor' });
    `;
    const folder = await project({ 'uncaught.js': program });
    const { cause } = await run(process.execPath, ['uncaught.js'], { cwd: folder }).then(
      assert.fail,
      (error) => error,
    );
    const before = cause.stderr.indexOf('userId is missing');
    assert.ok(before > 0 && before < 1000, cause.stderr.slice(0, 1000));
  });

  it('has documents whose links lead to what it holds', () => {
    for (const [path, text] of named(/^(docs\/[\w-]+|README|CHANGELOG)\.md$/)) {
      const targets = linksOf(text).filter((target) => !/^(https:|#)/.test(target));
      const missing = targets.filter((target) => !texts.has(posix.join(posix.dirname(path), target.split('#')[0])));
      assert.deepEqual(missing, [], path);
    }
  });

  it('keeps the loader out of the declarations', () => {
    assert.deepEqual(
      named(/\.d\.ts$/)
        .filter(([, text]) => text.includes('#load'))
        .map(([path]) => path),
      [],
    );
  });

  it('has its comments in the declarations and not in the scripts', () => {
    assert.match(
      texts.get('dist/index.d.ts') +
        named(/^dist\/.*\.d\.ts$/)
          .map(([, text]) => text)
          .join(''),
      /\/\*\*/,
    );
    assert.deepEqual(
      named(/\.js$/)
        .filter(([, text]) => /\/\*\*|^\s*\/\/(?!# sourceMappingURL=)/m.test(text))
        .map(([path]) => path),
      [],
    );
  });

  it('names no place on the machine that built it', () => {
    const places = [root.replace(/[\\/]$/, ''), homedir(), '.cargo/', '.rustup/', 'index.crates.io'];
    const found = [...texts].flatMap(([path, text]) =>
      places.filter((place) => text.includes(place)).map((place) => `${path}: ${place}`),
    );
    assert.deepEqual(found, []);
  });

  it('has the licences of the libraries that are in the inspector', () => {
    const text = texts.get('dist/inspector-licenses.txt');
    for (const name of ['lit', 'lit-html', '@lit/reactive-element'])
      assert.match(text, new RegExp(`^${name} [\\d.]+ `, 'm'));
    assert.match(text, /Redistribution and use in source and binary forms/);
  });

  it('depends on nothing and runs nothing when it is installed', () => {
    const { dependencies, scripts, peerDependenciesMeta } = JSON.parse(texts.get('package.json'));
    assert.deepEqual([dependencies, scripts], [undefined, undefined]);
    assert.deepEqual(peerDependenciesMeta, {
      '@google/adk': { optional: true },
      'better-sqlite3': { optional: true },
      'google-auth-library': { optional: true },
      react: { optional: true },
    });
  });

  it('says nothing of the tree that it comes from', () => {
    const manifest = JSON.parse(texts.get('package.json'));
    const ofTheTree = ['//', 'private', 'workspaces', 'devDependencies', 'publishConfig'];
    assert.deepEqual(
      ofTheTree.filter((member) => member in manifest),
      [],
    );
    assert.doesNotMatch(texts.get('package.json'), /workspace:|file:|link:/);
  });

  it('has one version, that of the crate', () => {
    const crate = /^version = "(.+)"/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'))[1];
    assert.equal(packed.version, crate);
  });

  it('stays small', () => {
    // Nearly half of it are the source maps. A fifth is the module, once for each kind of host: as it is, in a script
    // for Node, in one for browsers; and once more in the page of the inspector.
    assert.ok(packed.size < 2_500_000, `${packed.size} bytes packed`);
  });
});
