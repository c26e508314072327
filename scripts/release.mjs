// Makes this tree the next release: `npm run release -- 0.2.0`, or `major`, `minor`, `patch`. The crate gets the
// version, in its manifest and in its lock file, and so does the Python package; the npm package takes it from there
// when it is packed (pack.mjs). The entries under "Unreleased" in the changelog go under the version and the date.
// Nothing is committed or published: the last lines say what is left to do.
// `--dry-run` changes nothing.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { root } from './tools.mjs';

/** Pre-releases are those that npm, crates.io and PyPI have in common. */
const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-(?:alpha|beta|rc)\.\d+)?$/;

/**
 * The files with the version of this project, and its pattern in each. Each expression has it as its group `version`.
 */
const places = {
  'Cargo.toml': /^\[package\]\n(?:(?!\[)[^\n]*\n)*?version = "(?<version>[^"]+)"/m,
  'Cargo.lock': /^name = "statepad"\nversion = "(?<version>[^"]+)"/m,
  'python/pyproject.toml': /^\[project\]\n(?:(?!\[)[^\n]*\n)*?version = "(?<version>[^"]+)"/m,
};

/** A release that cannot be made as it was asked for; `message` says why. */
export class ReleaseError extends Error {}

/**
 * @returns {Record<string, string>} the version that each file of the tree in `folder` names
 * @param {string} folder
 */
export function versionsIn(folder) {
  /** @param {[string, RegExp]} place */
  const read = ([file, expression]) => {
    const match = expression.exec(readFileSync(join(folder, file), 'utf8'));
    if (match === null) throw new ReleaseError(`${file} names no version of statepad`);
    return [file, match.groups?.version];
  };
  return Object.fromEntries(Object.entries(places).map(read));
}

/** @param {string} version */
function numbersOf(version) {
  const match = VERSION.exec(version);
  if (match === null) throw new ReleaseError(`${version} is no version`);
  return match.slice(1).map(Number);
}

/**
 * The version after `current`: `target` itself when it is one, or the next major, minor or patch.
 *
 * @param {string} current @param {string | undefined} target
 */
export function nextVersion(current, target) {
  const [major, minor, patch] = numbersOf(current);
  /** @type {Record<string, string>} */
  const nearest = {
    major: `${major + 1}.0.0`,
    minor: `${major}.${minor + 1}.0`,
    patch: `${major}.${minor}.${patch + 1}`,
  };
  const next = nearest[target ?? ''] ?? target ?? '';
  if (!VERSION.test(next)) throw new ReleaseError('say which version: major, minor, patch, or a number as 1.2.3');
  if (!isLater(next, current)) throw new ReleaseError(`${next} is not later than ${current}`);
  return next;
}

/**
 * Returns true if one version comes after another. A pre-release comes before its release; two of one release count as
 * equal.
 *
 * @param {string} one @param {string} other
 */
function isLater(one, other) {
  const [a, b] = [one, other].map((version) => [...numbersOf(version), version.includes('-') ? 0 : 1]);
  const at = a.findIndex((number, index) => number !== b[index]);
  return at === -1 ? one !== other && one.includes('-') : a[at] > b[at];
}

/**
 * The changelog with all that is unreleased under a version, and an empty section for what comes next.
 *
 * @param {string} changelog @param {string} version @param {string} date
 */
export function released(changelog, version, date) {
  const heading = /^## \[Unreleased\]\n/m;
  const start = heading.exec(changelog);
  if (start === null) throw new ReleaseError('CHANGELOG.md has no section "## [Unreleased]"');
  const rest = changelog.slice(start.index + start[0].length);
  const end = rest.search(/^## \[/m);
  const section = end === -1 ? rest : rest.slice(0, end);
  if (!/^[-*] /m.test(section)) throw new ReleaseError('CHANGELOG.md has nothing under "Unreleased"');
  if (new RegExp(`^## \\[${version.replaceAll('.', '\\.')}\\]`, 'm').test(changelog))
    throw new ReleaseError(`CHANGELOG.md has ${version} already`);
  return `${changelog.slice(0, start.index)}## [Unreleased]\n\n## [${version}] - ${date}\n${rest}`;
}

/**
 * Plans the next release of the tree in `folder`: the new text of each file that changes. It throws when the tree is
 * not as it was committed, or when its files name different versions.
 *
 * @param {string} folder @param {string} target @param {string} date as YYYY-MM-DD
 */
export function planRelease(folder, target, date) {
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: folder, encoding: 'utf8' }).trimEnd();
  if (changed !== '') throw new ReleaseError(`commit or remove what has changed first:\n${changed}`);
  const versions = versionsIn(folder);
  const [current, ...others] = new Set(Object.values(versions));
  if (others.length > 0) throw new ReleaseError(`the versions differ: ${JSON.stringify(versions)}`);
  const version = nextVersion(current, target);

  /** @type {Record<string, string>} */
  const texts = { 'CHANGELOG.md': released(readFileSync(join(folder, 'CHANGELOG.md'), 'utf8'), version, date) };
  for (const [file, expression] of Object.entries(places)) {
    const text = readFileSync(join(folder, file), 'utf8');
    texts[file] = text.replace(expression, (line) => line.replace(current, version));
  }
  return { current, version, texts };
}

/**
 * The command: plans the release of a folder, and writes it unless it is a trial.
 *
 * @param {string[]} args
 */
function main(args) {
  const dry = args.includes('--dry-run');
  const [target, ...more] = args.filter((/** @type {string} */ arg) => arg !== '--dry-run');
  if (more.length > 0)
    throw new ReleaseError(`what is ${more.join(' ')}? usage: npm run release -- VERSION [--dry-run]`);
  const { current, version, texts } = planRelease(root, target, new Date().toISOString().slice(0, 10));
  for (const [file, text] of Object.entries(texts)) if (!dry) writeFileSync(join(root, file), text);
  console.log(`${dry ? 'would change' : 'changed'} ${Object.keys(texts).join(', ')}: ${current} to ${version}`);
  console.log(`what is left to do:
  npm test
  git commit -am "Release ${version}" && git tag -a v${version} -m "statepad ${version}"
  cargo publish --locked
  npm run pack && npm publish ./target/statepad-${version}.tgz
  upload target/python/statepad-* to PyPI, which npm run pack has made, too`);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof ReleaseError)) throw error;
    console.error(`release: ${error.message}`);
    process.exitCode = 1;
  }
}
