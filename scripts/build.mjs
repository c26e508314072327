// Builds the npm package in pkg/: the core as WebAssembly into pkg/wasm, the TypeScript into pkg/dist; then the page,
// into www/dist. Parts that are up to date are left alone. `setup.mjs build` has installed the tools. Parts by name:
// `node scripts/build.mjs core bundle declarations inspector page`; the last four need no Rust, but the output of the
// first.

import { buildCore } from './core.mjs';
import { guideSources, writeGuide } from './guide.mjs';
import { bundleInspector } from './inspector.mjs';
import { bundlePackage, declarePackage } from './package.mjs';
import { page } from './page.mjs';
import { filesUnder, step } from './step.mjs';
import { inRoot } from './tools.mjs';

/**
 * The files that define a step: its scripts and the versions of the tools. The step runs again when one of them
 * changes.
 *
 * @param {...string} scripts
 */
const recipe = (...scripts) => [...scripts.map((name) => inRoot('scripts', name)), inRoot('package-lock.json')];

const parts = {
  core: () => buildCore(recipe('core.mjs', 'module-text.mjs', 'split-module.mjs', 'printing.mjs')),
  bundle: () => bundlePackage(recipe('package.mjs', 'printing.mjs', 'sql.mjs', 'entries.mjs')),
  declarations: () => declarePackage(recipe('package.mjs', 'printing.mjs', 'entries.mjs')),
  inspector: () => bundleInspector(recipe('inspector.mjs', 'printing.mjs')),
  page: () => step({ name: 'www/dist', seconds: 5 }, inRoot('www', 'dist'), sourcesOfPage(), buildPage),
};

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
const unknown = chosen.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(`build: there is no part ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}`);
  process.exit(1);
}
for (const [name, make] of Object.entries(parts)) if (chosen.includes(name)) await make();

function sourcesOfPage() {
  const built = [
    inRoot('pkg', 'dist', '.made-from'),
    inRoot('pkg', 'dist', '.inspector-from'),
    inRoot('pkg', 'wasm', '.made-from'),
  ];
  const own = filesUnder(inRoot('www')).filter((file) => !file.startsWith(inRoot('www', 'dist')));
  const pages = guideSources();
  return [...own, ...built, ...pages, inRoot('examples', 'conversations.jsonl'), ...recipe('page.mjs', 'guide.mjs')];
}

/** Puts the page together, from the package that was just built, and beside it the guide. */
async function buildPage() {
  const { build } = await import('vite');
  await build(page);
  writeGuide(inRoot('www', 'dist', 'guide'));
}
