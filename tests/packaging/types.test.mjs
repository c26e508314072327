// The installed package under TypeScript, strict, as both kinds of projects resolve it.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { project, root } from './project.mjs';

const fixture = (name) => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), 'utf8');
const strict = {
  noEmit: true,
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'es2022',
};
/** Without the types of a browser or of Node; the declarations themselves are checked, too. */
const bare = { types: [], lib: ['es2023', 'esnext.disposable'], skipLibCheck: false };
/** ADK's declarations need both, and do not stand a check of their own. */
const withAdk = { types: [], lib: ['es2023', 'esnext.disposable', 'dom'], skipLibCheck: true };
/** The types of a browser. */
const withWeb = { types: [], lib: ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'], skipLibCheck: false };
const resolutions = {
  node16: { module: 'node16', moduleResolution: 'node16' },
  nodenext: { module: 'nodenext', moduleResolution: 'nodenext' },
  bundler: { module: 'esnext', moduleResolution: 'bundler' },
};

/** The compiler's errors in a file, line by line. */
function compile(folder, file, ...options) {
  const compilerOptions = Object.assign({}, strict, ...options);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', folder], {
    cwd: folder,
    encoding: 'utf8',
  });
  const found = stdout.split('\n').filter((text) => text.includes('error TS'));
  assert.equal(status === 0, found.length === 0, stdout + stderr);
  return found;
}

describe('in TypeScript', () => {
  let folder;
  before(async () => {
    const names = ['uses.ts', 'mistakes.ts', 'reads.ts', 'uses-adk.ts', 'uses-web.ts'];
    folder = await project(Object.fromEntries(names.map((name) => [name, fixture(name)])), {
      link: ['@google/adk', '@types/react', 'csstype'],
    });
  });

  for (const [name, options] of Object.entries(resolutions)) {
    it(`has types for everything that is documented, resolved as ${name} does`, () => {
      assert.deepEqual(compile(folder, 'uses.ts', bare, options), []);
    });

    it(`fits the types of @google/adk, resolved as ${name} does`, () => {
      assert.deepEqual(compile(folder, 'uses-adk.ts', withAdk, options), []);
    });

    it(`fits the types of React and of the Fetch API, resolved as ${name} does`, () => {
      assert.deepEqual(compile(folder, 'uses-web.ts', withWeb, options), []);
    });
  }

  for (const name of ['mistakes.ts', 'reads.ts']) {
    it(`refuses each mistake in ${name}, and nothing else`, () => {
      const wrong = fixture(name)
        .split('\n')
        .flatMap((text, index) => (text.endsWith('// wrong') ? [index + 1] : []));
      assert.ok(wrong.length > 0);
      const found = compile(folder, name, bare, resolutions.bundler);
      const refused = found.map((text) => Number(/^[\w-]+\.ts\((\d+),/.exec(text)?.[1]));
      assert.deepEqual([...new Set(refused)], wrong, found.join('\n'));
    });
  }
});
