// The crate, the npm package and the Python package are one release: there is one version, and the script that makes
// the next one does what it says.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { nextVersion, released, versionsIn } from '../../scripts/release.mjs';
import { root } from '../../scripts/tools.mjs';

/** The files with the version. */
const VERSIONED = ['Cargo.toml', 'Cargo.lock', 'python/pyproject.toml'];
const FILES = [...VERSIONED, 'CHANGELOG.md', 'scripts/release.mjs', 'scripts/tools.mjs'];

test('crate, lock file and Python package name one version, and the package of the tree none until it is packed', () => {
  const versions = Object.values(versionsIn(root));
  assert.deepEqual(Object.keys(versionsIn(root)), VERSIONED);
  assert.equal(new Set(versions).size, 1, JSON.stringify(versionsIn(root)));
  assert.equal('version' in JSON.parse(readFileSync(join(root, 'pkg', 'package.json'), 'utf8')), false);
});

describe('on a copy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-release-'));
  after(() => rmSync(folder, { recursive: true }));
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'commit.gpgsign=false', ...args], {
      cwd: folder,
      encoding: 'utf8',
    });
  const read = (file) => readFileSync(join(folder, file), 'utf8');
  const release = (...args) =>
    spawnSync(process.execPath, [join(folder, 'scripts', 'release.mjs'), ...args], { cwd: folder, encoding: 'utf8' });
  for (const file of FILES) {
    mkdirSync(join(folder, dirname(file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  const [current] = Object.values(versionsIn(folder));
  writeFileSync(
    join(folder, 'CHANGELOG.md'),
    '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A thing.\n\n## [0.0.1] - 2020-01-01\n\n- All.\n',
  );
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '-m', 'all');

  test('a tree that has changed is refused, and so are a version that is not later and none at all', () => {
    writeFileSync(join(folder, 'new'), '');
    const dirty = release('minor');
    assert.equal(dirty.status, 1);
    assert.match(dirty.stderr, /^release: commit or remove what has changed first:\n\?\? new$/m);
    rmSync(join(folder, 'new'));
    assert.match(release(current).stderr, /is not later than/);
    assert.match(release().stderr, /say which version/);
    assert.match(release('1.2').stderr, /say which version/);
    // PyPI has no such pre-release.
    assert.match(release('9.0.0-next.1').stderr, /say which version/);
    assert.equal(git('status', '--porcelain'), '');
  });

  test('a dry run says what would be, and changes nothing', () => {
    const { status, stdout } = release('minor', '--dry-run');
    assert.equal(status, 0);
    assert.match(stdout, new RegExp(`^would change .*: ${current} to ${nextVersion(current, 'minor')}$`, 'm'));
    assert.equal(git('status', '--porcelain'), '');
  });

  test('a release changes the version in three places, the changelog, and nothing else', () => {
    const next = nextVersion(current, 'minor');
    assert.equal(release('minor').status, 0);
    assert.deepEqual(new Set(Object.values(versionsIn(folder))), new Set([next]));
    assert.equal(
      git('diff', '--shortstat', '--', ...VERSIONED).trim(),
      '3 files changed, 3 insertions(+), 3 deletions(-)',
    );
    const date = new Date().toISOString().slice(0, 10);
    const day = read('CHANGELOG.md').match(/\d{4}-\d\d-\d\d/)[0];
    assert.ok(day === date || Date.parse(date) - Date.parse(day) === 86_400_000, day);
    assert.equal(
      read('CHANGELOG.md'),
      `# Changelog\n\n## [Unreleased]\n\n## [${next}] - ${day}\n\n### Added\n\n- A thing.\n\n## [0.0.1] - 2020-01-01\n\n- All.\n`,
    );
    assert.deepEqual(git('diff', '--name-only').trim().split('\n').sort(), ['CHANGELOG.md', ...VERSIONED].sort());
    git('commit', '--quiet', '-am', 'release');
    assert.match(release('minor').stderr, /nothing under "Unreleased"/);
  });

  test('versions that differ are refused', () => {
    writeFileSync(
      join(folder, 'Cargo.lock'),
      read('Cargo.lock').replace(/^(name = "statepad"\nversion = )"[^"]+"/m, '$1"9.9.9"'),
    );
    git('commit', '--quiet', '-am', 'one alone');
    const { status, stderr } = release('patch');
    assert.equal(status, 1);
    assert.match(stderr, /the versions differ: .*"Cargo\.lock":"9\.9\.9"/);
  });
});

test('the next version', () => {
  const cases = [
    ['0.1.0', 'major', '1.0.0'],
    ['0.1.2', 'minor', '0.2.0'],
    ['0.1.2', 'patch', '0.1.3'],
    ['0.1.0', '0.2.0-rc.1', '0.2.0-rc.1'],
  ];
  for (const [current, asked, next] of [
    ...cases,
    ['0.2.0-rc.1', '0.2.0', '0.2.0'],
    ['0.2.0-rc.1', '0.2.0-rc.2', '0.2.0-rc.2'],
  ]) {
    assert.equal(nextVersion(current, asked), next);
  }
  for (const [current, asked] of [
    ['0.2.0', '0.1.9'],
    ['0.2.0', '0.2.0'],
    ['0.2.0', '0.2.0-rc.1'],
    ['1.0.0', '0.9.9'],
  ]) {
    assert.throws(() => nextVersion(current, asked), /is not later than/);
  }
});

test('the changelog of this tree can be released, or has nothing new', () => {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  assert.match(text, /^## \[Unreleased\]$/m);
  if (/^## \[Unreleased\]\s+(?!## )\S/m.test(text))
    assert.match(released(text, '999.0.0', '2000-01-01'), /^## \[999\.0\.0\] - 2000-01-01$/m);
});
