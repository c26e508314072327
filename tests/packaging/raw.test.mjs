// The crate without the package: what `wasm-pack build` makes of it runs the README's program on each of its targets.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { build as vite } from 'vite';
import { blocksOf, textOf } from '../docs/pages.mjs';
import { openChromium, openPage } from '../support/chromium.mjs';
import { serve } from '../support/serve.mjs';
import { root, run, temporaryFolder } from './project.mjs';
import { rawBuild } from '../raw/build.mjs';

const blocks = blocksOf(textOf('README.md'));
const at = blocks.findIndex(({ language }) => language === 'js');
const program = blocks[at].code;
const shown = blocks[at + 1].code;
const IMPORT = /^import \{ (?<names>.+) \} from 'statepad';$/m;

/** The README's program with other lines in the place of its import. */
function programWith(lines) {
  const { names } = IMPORT.exec(program).groups;
  return program.replace(IMPORT, () => lines(names));
}

/** A folder with the build of a target in it, as a dependency, and these files. */
async function projectOf(target, files) {
  const folder = temporaryFolder();
  const installed = join(folder, 'node_modules', 'statepad');
  mkdirSync(installed, { recursive: true });
  cpSync(await rawBuild(target), installed, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

/** A page that runs a program as a module, and keeps what it prints, as text. */
const page = (script) => `<!doctype html><title>statepad</title>
  <script>
    globalThis.printed = [];
    console.log = (...given) => printed.push(given.map((it) => (typeof it === 'string' ? it : JSON.stringify(it))).join(' '));
  </script>
  <script type="module">import { done } from '${script}'; globalThis.told = done.then(() => printed);</script>`;

/** The output of the program on a page: objects as JSON. */
const SHOWN_ON_A_PAGE = [
  'this run sees  {"task_status":"active","user:login_count":1,"user:last_login_ts":1769817600000,"temp:validation_needed":true}',
  'stored         {"task_status":"active","user:login_count":1,"user:last_login_ts":1769817600000}',
  'next session   {"user:login_count":1,"user:last_login_ts":1769817600000}',
  'Visit 1, . Answer as {"level": 1}.',
];

/** A program as a module whose `done` is resolved at its end. */
function moduleOf(text) {
  const last = text.lastIndexOf('import ');
  const end = text.indexOf('\n', last) + 1;
  return `${text.slice(0, end)}export const done = (async () => {\n${text.slice(end)}\n})();\n`;
}

describe('the crate by wasm-pack', () => {
  let browser;
  before(async () => {
    browser = await openChromium();
  });
  after(() => browser?.close());

  async function printedOnPage(folder) {
    const { origin, stop } = await serve({ folder });
    try {
      const { page: opened, complaints } = await openPage(browser, origin);
      await opened.goto(`${origin}/`);
      // A module that awaits at its top is not waited for by the page.
      await opened.waitForFunction(() => globalThis.told !== undefined).catch(() => undefined);
      const told = await opened.evaluate(() => globalThis.told);
      assert.deepEqual(complaints, []);
      return told;
    } finally {
      await stop();
    }
  }

  it('for nodejs is required', async () => {
    const text = programWith((names) => `const { ${names} } = require('statepad');\n(async () => {`);
    const folder = await projectOf('nodejs', { 'main.cjs': `${text}\n})();\n` });
    assert.equal(await run(process.execPath, ['main.cjs'], { cwd: folder }), shown);
  });

  it('for nodejs is imported', async () => {
    const folder = await projectOf('nodejs', { 'main.mjs': program });
    assert.equal(await run(process.execPath, ['main.mjs'], { cwd: folder }), shown);
  });

  it('for the web starts in Node from the bytes of the module', async () => {
    const start = (names) => `import { readFileSync } from 'node:fs';
      import init, { ${names} } from './node_modules/statepad/statepad.js';
      await init({ module_or_path: readFileSync('node_modules/statepad/statepad_bg.wasm') });`;
    const folder = await projectOf('web', { 'main.mjs': programWith(start) });
    assert.equal(await run(process.execPath, ['main.mjs'], { cwd: folder }), shown);
  });

  it('for the web fetches its module in a browser', async () => {
    const start = (names) => `import init, { ${names} } from './node_modules/statepad/statepad.js';\nawait init();`;
    const folder = await projectOf('web', {
      'main.js': moduleOf(programWith(start)),
      'index.html': page('./main.js'),
    });
    assert.deepEqual(await printedOnPage(folder), SHOWN_ON_A_PAGE);
  });

  it("for the web runs the program of the crate's page", async () => {
    const [{ code }] = blocksOf(textOf('src/README.md')).filter(({ language }) => language === 'js');
    const folder = await projectOf('web', {
      'main.js': moduleOf(`${code}\nconsole.log(text);`),
      'index.html': page('./main.js'),
    });
    cpSync(join(folder, 'node_modules', 'statepad'), join(folder, 'statepad-wasm'), { recursive: true });
    assert.deepEqual(await printedOnPage(folder), ['Explain tides to Ana.']);
  });

  it('for a bundler is bundled by Vite', async () => {
    const files = {
      'main.js': moduleOf(program),
      'index.html': page('./main.js'),
    };
    const folder = await projectOf('bundler', files);
    const built = join(folder, 'built');
    await vite({
      root: folder,
      configFile: false,
      logLevel: 'error',
      build: { outDir: built, target: 'esnext', modulePreload: false },
    });
    assert.deepEqual(await printedOnPage(built), SHOWN_ON_A_PAGE);
  });

  it('has types that one can work from: those of the package, as far as they go', async () => {
    const folder = await rawBuild('nodejs');
    const declared = readFileSync(join(folder, 'statepad.d.ts'), 'utf8');
    assert.doesNotMatch(declared, /: any\b/);
    const files = {
      'uses.ts': readFileSync(new URL('./fixtures/uses-raw.ts', import.meta.url), 'utf8'),
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          noEmit: true,
          strict: true,
          exactOptionalPropertyTypes: true,
          target: 'es2022',
          module: 'esnext',
          moduleResolution: 'bundler',
          types: [],
          lib: ['es2023', 'esnext.disposable', 'dom'],
          skipLibCheck: false,
          paths: {
            raw: [join(folder, 'statepad.d.ts')],
            statepad: [join(root, 'pkg', 'dist', 'index.d.ts')],
          },
        },
        files: ['uses.ts'],
      }),
    };
    const project = temporaryFolder();
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project]);
  });

  it('leaves the package alone', async () => {
    await rawBuild('nodejs');
    const { name, exports } = JSON.parse(readFileSync(join(root, 'pkg', 'package.json'), 'utf8'));
    assert.deepEqual([name, '.' in exports], ['statepad', true]);
    assert.match(readFileSync(join(root, 'pkg', '.gitignore'), 'utf8'), /wasm-pack/);
  });
});
