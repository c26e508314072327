// The rules of who may import whom are held: on a small tree with the folders of this one, every import that is
// forbidden is told.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, describe, test } from 'node:test';
import { root } from '../../scripts/tools.mjs';

const ALLOWED = {
  'pkg/src/index.ts': ['./service/service.js', './model/errors.js'],
  'pkg/src/model/errors.ts': ['../async/sleep.js'],
  'pkg/src/async/sleep.ts': [],
  'pkg/src/engine/wasm.ts': ['../../wasm/statepad.js', '../model/errors.js'],
  'pkg/wasm/statepad.js': [],
  'pkg/src/store/contract.ts': ['../model/errors.js'],
  'pkg/src/session/handle.ts': ['../engine/wasm.js', './merged-state.js'],
  'pkg/src/session/merged-state.ts': [],
  'pkg/src/backend/backend.ts': ['../session/handle.js'],
  'pkg/src/backend/durable/cache/loader.ts': ['../../../session/handle.js'],
  'pkg/src/backend/durable/operations/append.ts': ['../cache/loader.js', '../../backend.js'],
  'pkg/src/backend/durable/loader.ts': ['./operations/append.js', '../backend.js', '../../stores/journal/index.js'],
  'pkg/src/service/service.ts': ['../backend/backend.js', '../backend/durable/loader.js'],
  'pkg/src/stores/shared/values.ts': ['../../store/contract.js'],
  'pkg/src/stores/memory/index.ts': ['../shared/values.js'],
  'pkg/src/stores/journal/index.ts': ['./web-storage/lock.js', '../memory/index.js'],
  'pkg/src/stores/journal/web-storage/lock.ts': ['../../shared/values.js'],
  'pkg/src/stores/sqlite-core/core.ts': ['../shared/values.js'],
  'pkg/src/stores/sqlite/index.ts': ['../sqlite-core/core.js'],
  'pkg/src/stores/cloudflare/index.ts': ['../sqlite-core/core.js'],
  'pkg/src/cli.ts': ['./cli/main.js'],
  'pkg/src/cli/main.ts': ['./stores/open.js'],
  'pkg/src/cli/stores/open.ts': ['../../index.js', '../../stores/memory/index.js'],
  'pkg/src/inspector.ts': ['./inspector/mount.js'],
  'pkg/src/inspector/mount.ts': ['./ui/inspector-element.js'],
  'pkg/src/inspector/model/log.ts': ['../../index.js'],
  'pkg/src/inspector/ui/inspector-element.ts': ['../model/log.js', 'lit'],
  'www/inspector/main.ts': ['statepad/inspector'],
  'www/page/main.ts': ['statepad/inspector', 'statepad/jsonl'],
};

/** Imports that are not allowed: the file, what it imports, and the rule that says so. */
const FORBIDDEN = [
  ['pkg/src/model/errors.ts', 'pkg/src/session/handle.ts', 'pkg/src/model'],
  ['pkg/src/model/errors.ts', 'pkg/src/store/contract.ts', 'pkg/src/model'],
  ['pkg/src/backend/backend.ts', 'pkg/src/backend/durable/loader.ts', 'pkg/src/backend'],
  ['pkg/src/backend/backend.ts', 'pkg/src/session/merged-state.ts', 'pkg/src/session, internal'],
  ['pkg/src/backend/durable/loader.ts', 'pkg/src/service/service.ts', 'pkg/src/backend/durable'],
  [
    'pkg/src/backend/durable/cache/loader.ts',
    'pkg/src/backend/durable/operations/append.ts',
    'pkg/src/backend/durable/cache',
  ],
  ['pkg/src/service/service.ts', 'pkg/src/backend/durable/cache/loader.ts', 'pkg/src/service'],
  ['pkg/src/backend/durable/loader.ts', 'pkg/src/stores/sqlite/index.ts', 'pkg/src/backend/durable'],
  ['pkg/src/stores/sqlite/index.ts', 'pkg/src/stores/memory/index.ts', 'pkg/src/stores/sqlite'],
  ['pkg/src/stores/cloudflare/index.ts', 'pkg/src/stores/sqlite/index.ts', 'pkg/src/stores/cloudflare'],
  ['pkg/src/stores/sqlite-core/core.ts', 'pkg/src/stores/sqlite/index.ts', 'pkg/src/stores/sqlite-core'],
  ['pkg/src/stores/memory/index.ts', 'pkg/src/session/handle.ts', 'pkg/src/stores/memory'],
  ['pkg/src/stores/shared/values.ts', 'pkg/src/stores/sqlite/index.ts', 'pkg/src/stores/shared'],
  ['pkg/src/service/service.ts', 'pkg/src/stores/memory/index.ts', 'pkg/src/service'],
  ['pkg/src/stores/journal/index.ts', 'pkg/src/index.ts', 'entries are imported by nothing'],
  ['pkg/src/cli/stores/open.ts', 'pkg/src/stores/shared/values.ts', 'cli uses public names'],
  ['pkg/src/cli/stores/open.ts', 'pkg/src/model/errors.ts', 'cli uses public names'],
  ['pkg/src/cli/stores/open.ts', 'pkg/src/cli.ts', 'cli uses public names'],
  ['pkg/src/session/handle.ts', 'pkg/src/cli/main.ts', 'pkg/src/session'],
  ['pkg/src/session/handle.ts', 'pkg/wasm/statepad.js', 'one way to the module'],
  ['pkg/src/session/handle.ts', 'lit', 'the package needs no other'],
  ['pkg/src/session/handle.ts', '@google/adk', '@google/adk only in adk'],
  ['pkg/src/newcomer/file.ts', 'pkg/src/model/errors.ts', 'no folder without a rule'],
  ['pkg/src/inspector/model/log.ts', 'pkg/src/inspector/ui/inspector-element.ts', 'pkg/src/inspector/model'],
  ['pkg/src/inspector/model/log.ts', 'pkg/src/model/errors.ts', 'inspector uses public names'],
  ['pkg/src/session/handle.ts', 'pkg/src/inspector/model/log.ts', 'pkg/src/session'],
  ['pkg/src/inspector/newcomer/file.ts', 'pkg/src/index.ts', 'no folder without a rule'],
  ['www/page/main.ts', 'pkg/src/model/errors.ts', 'www uses public names'],
  ['www/page/main.ts', 'statepad/dist/index.js', 'www uses public names'],
];

describe('imports', () => {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-imports-'));
  after(() => rmSync(folder, { recursive: true }));
  cpSync(join(root, '.dependency-cruiser.cjs'), join(folder, '.dependency-cruiser.cjs'));
  mkdirSync(join(folder, 'www/inspector'), { recursive: true });

  function write(files) {
    for (const [name, imports] of Object.entries(files)) {
      mkdirSync(join(folder, dirname(name)), { recursive: true });
      writeFileSync(
        join(folder, name),
        imports.map((path) => `import type { X } from '${path}';\n`).join('') + 'export type Y = 1;\n',
      );
    }
  }

  /** The violations in the tree: the importing file, the imported file, and the rule. */
  function told() {
    const cruise = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
    const args = [
      '--config',
      '.dependency-cruiser.cjs',
      '--output-type',
      'json',
      'pkg/src',
      'www/inspector',
      'www/page',
    ];
    const { stdout, stderr } = spawnSync(process.execPath, [cruise, ...args], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    });
    assert.equal(stderr, '');
    return JSON.parse(stdout).summary.violations.map(({ from, to, rule }) => [from, to, rule.name]);
  }
  const isCircle = ([, , rule]) => rule.startsWith('no circles');

  test('what the tables allow is allowed', () => {
    write(ALLOWED);
    assert.deepEqual(told(), []);
  });

  test('what they do not allow is told, each by its rule, and so are the circles', () => {
    const files = { ...ALLOWED };
    for (const [from, to] of FORBIDDEN)
      files[from] = [...(files[from] ?? []), /^(pkg|www)\//.test(to) ? `/${to}` : to];
    // By the way there is.
    for (const [name, imports] of Object.entries(files)) {
      files[name] = imports.map((path) => (path.startsWith('/') ? way(name, path.slice(1)) : path));
    }
    write(files);
    const all = told();
    for (const expected of FORBIDDEN)
      assert.ok(
        all.some((one) => one.join() === expected.join()),
        `${expected} is not told`,
      );
    const unexpected = all.filter(
      (one) => !isCircle(one) && !FORBIDDEN.some(([from, to]) => one[0] === from && one[1] === to),
    );
    assert.deepEqual(unexpected, []);
    assert.ok(
      all.some(
        ([from, to, rule]) =>
          rule === 'no circles of files' && from === 'pkg/src/model/errors.ts' && to === 'pkg/src/store/contract.ts',
      ),
    );
    for (const name of Object.keys(files)) rmSync(join(folder, name));
  });

  test('two folders that import each other are told, also where no files do', () => {
    write({ ...ALLOWED, 'pkg/src/inspector/model/rows.ts': ['../ui/inspector-element.js'] });
    assert.ok(told().some(([from, , rule]) => rule === 'no circles of folders' && from === 'pkg/src/inspector/model'));
  });
});

/** The path by which one file imports another. */
function way(from, to) {
  const path = relative(dirname(from), to).replace(/\.ts$/, '.js');
  return path.startsWith('.') ? path : `./${path}`;
}
