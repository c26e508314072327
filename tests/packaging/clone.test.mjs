// A fresh clone of this tree: nothing is packed from it by mistake, and `npm run pack` makes the package.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { pack, root, run, runNode, temporaryFolder } from './project.mjs';

/** A clone of the working tree as if all were committed: no built file, and nothing that is installed. */
function freshClone() {
  const folder = temporaryFolder();
  const asked = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execFileSync('git', asked, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of files.filter((path) => existsSync(join(root, path)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file));
  }
  return folder;
}

const tarballsIn = (...path) => readdirSync(join(...path)).filter((name) => name.endsWith('.tgz'));
/** The message of a program that fails. */
const refusal = async (...command) => {
  const { message } = await run(...command).then(assert.fail, (error) => error);
  return message;
};

describe('in a fresh clone', () => {
  let clone;
  before(() => {
    clone = freshClone();
    symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'), 'junction');
  });

  for (const place of ['.', 'pkg']) {
    it(`npm packs and publishes nothing from ${place === '.' ? 'the root' : place}`, async () => {
      const cwd = join(clone, place);
      assert.match(await refusal('npm', ['pack'], { cwd }), /must have name and version/);
      await refusal('npm', ['publish', '--dry-run'], { cwd });
      assert.deepEqual([...tarballsIn(clone), ...tarballsIn(clone, 'pkg')], []);
    });
  }

  it('the package of the tree says what to do instead, and npm run pack is that', () => {
    const manifest = (...path) => JSON.parse(readFileSync(join(clone, ...path, 'package.json'), 'utf8'));
    assert.match(manifest('pkg')['//'], /npm run pack/);
    assert.equal(manifest('pkg').private, true);
    assert.match(manifest().scripts.pack, / && node scripts\/pack\.mjs && /);
  });

  it('what is not built is named, and no package is made without it', async () => {
    const told = await refusal(process.execPath, ['scripts/pack.mjs'], { cwd: clone });
    assert.match(told, /pack: not built yet: .*dist\/index\.js.*; npm run build makes them/);
    assert.equal(existsSync(join(clone, 'target')), false);
  });

  it('what npm run pack makes there is what is made here, and it is installed and runs', async () => {
    // The core takes minutes to compile and is the same: all else is built anew.
    cpSync(join(root, 'pkg', 'wasm'), join(clone, 'pkg', 'wasm'), { recursive: true });
    await run(process.execPath, ['scripts/build.mjs', 'bundle', 'declarations', 'inspector'], { cwd: clone });
    assert.match(
      await run(process.execPath, ['scripts/pack.mjs'], { cwd: clone }),
      /^pack: target\/statepad-\d+\.\d+\.\d+\.tgz, from target\/npm$/m,
    );
    const [tarball, ...more] = tarballsIn(clone, 'target');
    assert.deepEqual(more, []);

    const unpacked = async (path) => {
      const folder = temporaryFolder();
      await run('tar', ['-xzf', path, '-C', folder]);
      const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      return names.map(({ parentPath, name }) => {
        const file = join(parentPath, name);
        return [file.slice(folder.length), readFileSync(file, 'base64')];
      });
    };
    const { path } = await pack();
    const [there, here] = [await unpacked(join(clone, 'target', tarball)), await unpacked(path)];
    assert.deepEqual(there.map(([name]) => name).sort(), here.map(([name]) => name).sort());
    assert.deepEqual(Object.fromEntries(there), Object.fromEntries(here));

    const folder = temporaryFolder();
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    await run('npm', ['install', '--offline', '--no-audit', '--no-fund', join(clone, 'target', tarball)], {
      cwd: folder,
    });
    writeFileSync(
      join(folder, 'main.js'),
      `import { SessionService } from 'statepad';
      const session = await new SessionService().createSession({ appName: 'a', userId: 'u', state: { 'user:n': 1 } });
      console.log(JSON.stringify(session.state));`,
    );
    assert.deepEqual(await runNode(folder, 'main.js'), { 'user:n': 1 });
  });
});
