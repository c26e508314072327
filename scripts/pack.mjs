// `npm run pack` makes the package that is published: a folder of its own, target/npm, and its tarball beside it. The
// package in pkg/ is that of the tree, private and without a version, so that nothing is packed there by mistake.

import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { targetsOf } from './entries.mjs';
import { isPublished, publishedReadme } from './readme.mjs';
import { versionsIn } from './release.mjs';
import { run } from './run.mjs';
import { filesUnder } from './step.mjs';
import { inRoot, root } from './tools.mjs';

/** Members of the tree's package.json that say something about the tree. */
const OF_THE_TREE = ['//', 'private', 'scripts', 'devDependencies'];

/** A package that cannot be made; `message` says why. */
export class PackError extends Error {}

/** The package.json that is published: that of the tree, with the version of the crate. */
function publishedManifest() {
  const manifest = JSON.parse(readFileSync(inRoot('pkg', 'package.json'), 'utf8'));
  for (const member of OF_THE_TREE) delete manifest[member];
  const { name, ...rest } = manifest;
  return { name, version: versionsIn(root)['Cargo.toml'], ...rest };
}

/** The files that are published, by their paths in the package: where each is in the tree. */
function publishedFiles() {
  const built = ['dist', 'wasm'].flatMap((name) => (existsSync(inRoot('pkg', name)) ? inRoot('pkg', name) : []));
  const paths = [
    ...built.flatMap(filesUnder).map((file) => ({ path: relative(inRoot('pkg'), file), file })),
    ...filesUnder(inRoot('docs')).map((file) => ({ path: relative(root, file), file })),
    ...['CHANGELOG.md', 'LICENSE-APACHE', 'LICENSE-MIT'].map((path) => ({ path, file: inRoot(path) })),
  ];
  const files = new Map(paths.map(({ path, file }) => [path.split(sep).join('/'), file]));
  for (const path of files.keys()) if (!isPublished(path)) files.delete(path);
  return files;
}

/**
 * Fills `folder` with the package that is published, from what was built; what it had before is removed.
 *
 * @param {string} folder
 */
export function makePackage(folder) {
  const manifest = publishedManifest();
  const files = publishedFiles();
  const missing = targetsOf([manifest.exports, manifest.imports, manifest.bin])
    .map((/** @type {string} */ target) => target.replace('./', ''))
    .filter((/** @type {string} */ path) => path !== 'package.json' && !files.has(path));
  if (missing.length > 0) throw new PackError(`not built yet: ${missing.join(', ')}; npm run build makes them`);
  rmSync(folder, { recursive: true, force: true });
  for (const [path, file] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    copyFileSync(file, join(folder, path));
  }
  for (const target of targetsOf(manifest.bin)) chmodSync(join(folder, target), 0o755);
  writeFileSync(join(folder, 'README.md'), publishedReadme(readFileSync(inRoot('README.md'), 'utf8')));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    const folder = inRoot('target', 'npm');
    makePackage(folder);
    run('npm', ['pack', folder, '--pack-destination', inRoot('target'), '--loglevel', 'error']);
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    console.log(`pack: target/${name}-${version}.tgz, from target/npm`);
  } catch (error) {
    if (!(error instanceof PackError)) throw error;
    console.error(`pack: ${error.message}`);
    process.exitCode = 1;
  }
}
