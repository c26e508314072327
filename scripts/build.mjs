// Builds the npm package in pkg/: the core as WebAssembly into pkg/wasm, the TypeScript into pkg/dist, and the documents
// that are published with them; then the page, into www/dist. What is up to date is left alone. `setup.mjs build` has
// installed what this needs. `node scripts/build.mjs package` makes pkg/dist alone, which needs no Rust but a pkg/wasm.

import { copyFileSync, cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildCore } from './core.mjs';
import { bundlePackage, declarePackage } from './package.mjs';
import { page } from './page.mjs';
import { publishedReadme } from './readme.mjs';
import { filesUnder, step } from './step.mjs';
import { root } from './tools.mjs';

const inRoot = (...path) => join(root, ...path);
/** How a step is done, and by which versions of the tools: it is done again when one of these changes. */
const recipe = (...scripts) => [...scripts.map((name) => inRoot('scripts', name)), inRoot('package-lock.json')];

const onlyPackage = process.argv[2] === 'package';
if (!onlyPackage) await buildCore(recipe('core.mjs'));
await bundlePackage(recipe('package.mjs', 'entries.mjs'));
await declarePackage(recipe('package.mjs'));
if (!onlyPackage) {
  await step('www/dist', inRoot('www', 'dist'), sourcesOfPage(), buildPage);
  copyDocuments();
}

function sourcesOfPage() {
  const built = [inRoot('pkg', 'dist', '.made-from'), inRoot('pkg', 'wasm', '.made-from')];
  const own = filesUnder(inRoot('www')).filter((file) => !file.startsWith(inRoot('www', 'dist')));
  return [...own, ...built, inRoot('examples', 'conversations.jsonl'), ...recipe('page.mjs')];
}

/** Puts the page together, from the package that was just built. */
async function buildPage() {
  const { build } = await import('vite');
  await build(page);
}

/** What is published with the package. */
function copyDocuments() {
  writeFileSync(inRoot('pkg', 'README.md'), publishedReadme(readFileSync(inRoot('README.md'), 'utf8')));
  for (const name of ['CHANGELOG.md', 'LICENSE-APACHE', 'LICENSE-MIT'].filter((name) => existsSync(inRoot(name)))) {
    copyFileSync(inRoot(name), inRoot('pkg', name));
  }
  cpSync(inRoot('docs'), inRoot('pkg', 'docs'), { recursive: true });
}
