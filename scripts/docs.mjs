// `npm run docs` builds the reference pages from the comments of both sources into target/docs: rust/ by cargo doc,
// and typescript/ by typedoc, of the package's entry points (typedoc.json). A link that leads nowhere, and anything
// that is exported under a type without a page, is a failure.

import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './run.mjs';
import { env, inRoot } from './tools.mjs';

const docs = inRoot('target', 'docs');
rmSync(docs, { recursive: true, force: true });
mkdirSync(docs, { recursive: true });

// In a folder of its own: what is in target/doc may have pages of what is private.
const built = inRoot('target', 'cache', 'rustdoc');
rmSync(join(built, 'doc'), { recursive: true, force: true });
const rustdoc = { env: { ...env, RUSTDOCFLAGS: '-D warnings' } };
run('cargo', ['doc', '--locked', '--no-deps', '--quiet', '--target-dir', built], rustdoc);
cpSync(join(built, 'doc'), join(docs, 'rust'), { recursive: true });

run(process.execPath, [inRoot('node_modules', 'typedoc', 'bin', 'typedoc'), '--options', inRoot('typedoc.json')]);
console.log('docs: target/docs/rust/statepad/index.html, target/docs/typescript/index.html');
