// The pages of the registries, and the crate for a host without JavaScript.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { isPublished, linksOf, publishedReadme } from '../../scripts/readme.mjs';
import { env, root, wasmTarget } from '../../scripts/tools.mjs';

const read = (...path) => readFileSync(join(root, ...path), 'utf8');

/** The package's entries of Cargo.toml, line by line. */
const manifest = Object.fromEntries(
  [...read('Cargo.toml').matchAll(/^(\w[\w-]*) = "?(.*?)"?$/gm)].map(([, name, value]) => [name, value]),
);

/** The readme as each registry shows it. */
const readmes = { 'crates.io': read(manifest.readme), npm: publishedReadme(read('README.md')) };

for (const [registry, text] of Object.entries(readmes)) {
  test(`the readme that ${registry} shows has no link into the repository`, () => {
    assert.match(text, /^# statepad$/m);
    assert.match(text, /MIT or Apache-2\.0/);
    assert.deepEqual(
      linksOf(text).filter((target) => !target.startsWith('https://')),
      [],
    );
  });
}

test('a link into the repository is shown as its text and its path, and an image not at all', () => {
  const published = publishedReadme(
    'See [the stores](docs/stores.md), [Lit](https://lit.dev).\n\n![A\npicture](docs/images/a.png)\n\nEnd.',
  );
  assert.equal(published, 'See the stores (`docs/stores.md`), [Lit](https://lit.dev).\n\nEnd.');
  assert.equal(publishedReadme('[docs/stores.md](docs/stores.md#lists)'), '`docs/stores.md`');
  assert.equal(publishedReadme('[The crate](src/README.md).'), 'The crate.', 'a file that the package does not have');
});

test('every file that the readme of npm names by a path is in the package', () => {
  const named = [...readmes.npm.matchAll(/`((?:docs\/)?[\w-]+\.md)`/g)].map(([, path]) => path);
  assert.ok(named.length > 0);
  for (const path of named) assert.ok(isPublished(path) && existsSync(join(root, path)), path);
});

test('the licenses are named in the words of SPDX, and their texts are published', () => {
  assert.equal(manifest.license, 'MIT OR Apache-2.0');
  const npm = JSON.parse(read('pkg/package.json'));
  assert.equal(npm.license, manifest.license);
  const packed = cargo(root, 'package', '--list', '--allow-dirty', '--offline').split('\n');
  for (const name of ['LICENSE-APACHE', 'LICENSE-MIT']) {
    assert.ok(packed.includes(name), `the crate has ${name}`);
    assert.ok(npm.files.includes(name), `the npm package has ${name}`);
  }
  assert.ok(packed.includes(manifest.readme));
  assert.deepEqual(
    linksOf(read('CHANGELOG.md')).filter((target) => !target.startsWith('https://')),
    [],
  );
});

test('the crate asks for ranges of versions: the exact ones stand in the lock file', () => {
  const sections = read('Cargo.toml')
    .split(/^\[/m)
    .filter((section) => /dependencies/.test(section.split(']')[0]));
  assert.ok(sections.length >= 4);
  for (const section of sections) assert.doesNotMatch(section, /"\s*=\s*\d/);
});

function cargo(cwd, ...args) {
  return execFileSync('cargo', args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** A program of another crate, for bare WebAssembly: its clock and its ids are its own. */
const PROGRAM = `
use statepad::{CreateRequest, Event, Host, InMemorySessionService, SessionService, StateRef};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

struct Counting(AtomicU32);
impl Host for Counting {
    fn now(&self) -> f64 { 5.0 }
    fn new_id(&self) -> String { format!("id-{}", self.0.fetch_add(1, Ordering::Relaxed)) }
}

fn done<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("in memory nothing waits"),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn run() -> u32 {
    let service = InMemorySessionService::with_host(Counting(AtomicU32::new(0)));
    let request = CreateRequest { app_name: "app".into(), user_id: "ana".into(), ..Default::default() };
    let session = done(service.create(request)).unwrap();
    let mut event = Event::new("i");
    event.actions.set("user:n", 1.0);
    let event = done(service.append_event(session.id(), event)).unwrap();
    assert_eq!((session.id(), event.id.as_str(), event.timestamp), ("id-0", "id-1", Some(5.0)));
    let state = done(service.update_state(StateRef::User("app", "ana"), |state| {
        let n = state.get("user:n").and_then(|n| n.as_u64()).unwrap_or(0);
        state.set("user:n", n + 41)
    }));
    state.unwrap().get("user:n").and_then(|n| n.as_u64()).unwrap() as u32
}
`;

test('without its default features the crate is a service for WebAssembly without JavaScript', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'statepad-bare-'));
  try {
    mkdirSync(join(folder, 'src'));
    writeFileSync(join(folder, 'src', 'lib.rs'), PROGRAM);
    const dependency = `statepad = { path = ${JSON.stringify(root)}, default-features = false }`;
    writeFileSync(
      join(folder, 'Cargo.toml'),
      `[package]\nname = "bare"\nversion = "0.0.0"\nedition = "2024"\n\n[lib]\ncrate-type = ["cdylib"]\n\n[dependencies]\n${dependency}\n`,
    );
    cpSync(join(root, 'Cargo.lock'), join(folder, 'Cargo.lock'));
    cargo(
      folder,
      'build',
      '--quiet',
      '--offline',
      '--target',
      wasmTarget,
      '--target-dir',
      join(root, 'target', 'bare'),
    );
    const built = join(root, 'target', 'bare', wasmTarget, 'debug');
    const tree = cargo(folder, 'tree', '--offline', '--target', wasmTarget, '--prefix', 'none');
    assert.doesNotMatch(tree, /wasm-bindgen|js-sys|uuid|getrandom/);

    const module = new WebAssembly.Module(readFileSync(join(built, 'bare.wasm')));
    assert.deepEqual(WebAssembly.Module.imports(module), [], 'it needs nothing of its host');
    const exported = WebAssembly.Module.exports(module)
      .filter(({ kind }) => kind === 'function')
      .map(({ name }) => name);
    assert.deepEqual(exported, ['run'], 'the crate adds no export');
    const { exports } = await WebAssembly.instantiate(module, {});
    assert.equal(exports.run(), 42);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
