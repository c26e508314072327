// Projects of the kits that people use, as they have them: each is installed from a lock file of its own, once, and
// gets the package as it would be published, and the files of its recipe in docs/hosts.md.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { blocksOf, textOf } from '../docs/pages.mjs';
import { conversation, pack, root, run } from '../packaging/project.mjs';

/** The folder where kits are installed: outside of what is tracked, and found again by the next run. */
const installed = join(root, 'target', 'hosts');

/** The lines of a block that a reader needs to know which file it is. */
const NAME = /^(?:\/\/|#) ([\w./[\]-]+\.\w+)\n/;

/** The files of a section of a page, docs/hosts.md unless told otherwise: the first line of each block names it. */
export function filesOf(heading, page = 'docs/hosts.md') {
  const named = blocksOf(textOf(page)).filter((block) => block.heading === heading && NAME.test(block.code));
  return Object.fromEntries(named.map(({ code }) => [NAME.exec(code)[1], code]));
}

/** The commands of a section of docs/hosts.md, line by line. */
export function commandsOf(heading) {
  const blocks = blocksOf(textOf('docs/hosts.md')).filter((block) => block.heading === heading);
  return blocks.filter(({ language }) => language === 'sh').flatMap(({ code }) => code.trim().split('\n'));
}

/** The header of HTTP of a section of docs/hosts.md. */
export function headerOf(heading) {
  const [{ code }] = blocksOf(textOf('docs/hosts.md')).filter(
    (block) => block.heading === heading && block.language === 'text',
  );
  const [name, ...value] = code.trim().split(': ');
  return [name, value.join(': ')];
}

/**
 * Installs what the lock file of a kit names, unless it is there; answers the folder. It lies in `from`, a folder of
 * tests/hosts unless told otherwise.
 */
export async function install(kit, from = join(root, 'tests', 'hosts', kit)) {
  const manifests = ['package.json', 'package-lock.json'].map((name) => join(from, name));
  const hash = createHash('sha256');
  for (const file of manifests) hash.update(readFileSync(file));
  const folder = join(installed, `${kit}-${hash.digest('hex').slice(0, 12)}`);
  if (existsSync(folder)) return folder;
  mkdirSync(installed, { recursive: true });
  // Those of other lock files are of no use any more.
  for (const name of readdirSync(installed)) {
    if (name.startsWith(`${kit}-`)) rmSync(join(installed, name), { recursive: true, force: true });
  }
  const begun = join(installed, `.${kit}`);
  rmSync(begun, { recursive: true, force: true });
  mkdirSync(begun);
  for (const file of [...manifests, join(root, '.npmrc')]) copyFileSync(file, join(begun, file.split(/[\\/]/).at(-1)));
  // The packages of the lock file, as it names them. Not by `npm ci`, which refuses a lock file that was written while
  // a registry lacked the packages of every other platform.
  await run('npm', ['install', '--no-save', '--no-progress'], { cwd: begun });
  renameSync(begun, folder);
  return folder;
}

/** Puts the package as it would be published among the installed ones. */
async function putIn(folder) {
  const place = join(folder, 'node_modules', 'statepad');
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place);
  await run('tar', ['-xzf', (await pack()).path, '-C', place, '--strip-components=1']);
}

/**
 * A project of a kit with the package installed, and `files` (name to text) in it. The module `conversation.js` lies
 * there, too.
 */
export async function hostOf(kit, files) {
  const folder = await install(kit);
  const kept = ['node_modules', 'package.json', 'package-lock.json', '.npmrc'];
  for (const name of readdirSync(folder).filter((name) => !kept.includes(name))) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
  await putIn(folder);
  for (const [name, text] of Object.entries({ 'conversation.js': conversation, ...files })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return {
    folder,
    run: (...command) => runIn(folder, ...command),
    printed: (...command) => printedIn(folder, ...command),
    start: (...command) => start(folder, ...command),
  };
}

/** Nothing is sent to the makers of the kits, nor asked of them. */
const QUIET = {
  NEXT_TELEMETRY_DISABLED: '1',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  DO_NOT_TRACK: '1',
  DENO_NO_UPDATE_CHECK: '1',
};

/** The environment of programs: those of the project come first, and nothing is coloured or sent anywhere. */
function environment(folder, extra = {}) {
  const env = { ...process.env };
  for (const name of ['NODE_OPTIONS', 'NODE_TEST_CONTEXT', 'FORCE_COLOR']) delete env[name];
  const found = [...programsOf(folder), dirname(process.execPath), env.PATH].join(delimiter);
  return { ...env, PATH: found, NO_COLOR: '1', CI: 'true', ...QUIET, ...extra };
}

/**
 * The folders of programs: those of npm; and where Bun and Deno lie for each platform, as nothing that is installed
 * runs code of its own, which would have put them among the others.
 */
function programsOf(folder) {
  const modules = join(folder, 'node_modules');
  const platforms = ['@oven', '@deno'].map((scope) => join(modules, scope)).filter((scope) => existsSync(scope));
  const places = platforms.flatMap((scope) => readdirSync(scope).map((name) => join(scope, name)));
  return [...places.flatMap((place) => [place, join(place, 'bin')]), join(modules, '.bin')];
}

/** Runs a command line in the project, as a reader types it; answers `{ ok, output }`, all that it printed. */
async function runIn(folder, line, { env, timeout = 240_000 } = {}) {
  const child = spawn(line, {
    cwd: folder,
    shell: true,
    env: environment(folder, env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const from of [child.stdout, child.stderr]) from.setEncoding('utf8').on('data', (text) => (output += text));
  const watch = setTimeout(() => child.kill('SIGKILL'), timeout);
  const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  clearTimeout(watch);
  return { ok: code === 0, output };
}

/** Runs a command line that must succeed; answers what it printed. */
async function printedIn(folder, line, options) {
  const { ok, output } = await runIn(folder, line, options);
  assert.ok(ok, output);
  return output.trim();
}

/**
 * Starts a server in the project and waits until it prints what `ready` matches. Answers
 * `{ found, output(), stop() }`: the match, and what was printed so far.
 */
export async function start(folder, program, args, { ready, env, timeout = 120_000 }) {
  const child = spawn(program, args, {
    cwd: folder,
    env: environment(folder, env),
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: what it starts itself is ended with it.
    detached: process.platform !== 'win32',
  });
  let output = '';
  const ended = new Promise((resolve) => child.on('close', resolve).on('error', resolve));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGTERM');
    }
    await ended;
  };
  const found = await new Promise((resolve, reject) => {
    const watch = setTimeout(() => reject(new Error(`it is not ready after ${timeout} ms:\n${output}`)), timeout);
    const look = (text) => {
      output += text;
      const match = ready.exec(output);
      if (match) settle(resolve, match);
    };
    const settle = (settled, value) => {
      clearTimeout(watch);
      settled(value);
    };
    for (const from of [child.stdout, child.stderr]) from.setEncoding('utf8').on('data', look);
    void ended.then(() => settle(reject, new Error(`it ended before it was ready:\n${output}`)));
  }).catch(async (error) => {
    await stop();
    throw error;
  });
  return { found, output: () => output, stop };
}
