// The modules of the package that are files of their own: those that are exported, those that are run, and those that
// stay by themselves.

import { readFileSync, readdirSync } from 'node:fs';

const { exports, bin } = JSON.parse(readFileSync(new URL('../pkg/package.json', import.meta.url), 'utf8'));

/**
 * The modules that users may import: the targets of `exports`, in any condition, as modules of pkg/src without their
 * ending.
 */
const EXPORTED = modulesOf(exports);
/** The modules that users run. */
const RUN = modulesOf(bin);
/** An application with its libraries: it is bundled by itself, by scripts/inspector.mjs. */
const BUNDLED = /^inspector([\\/]|$)/;
const ALONE = /^(engine[\\/](wasm|load\.[\w-]+)|model[\\/]errors|inspect[\\/]folder)$/;

/** @typedef {string | { [condition: string]: Targets }} Targets a value of `exports` or `imports` */

/**
 * Every target that a value of `exports` or `imports` in a package.json names.
 *
 * @param {Targets | Targets[]} value @returns {string[]}
 */
export function targetsOf(value) {
  return typeof value === 'string' ? [value] : Object.values(value).flatMap(targetsOf);
}

/** @param {Targets} value */
function modulesOf(value) {
  const built = (/** @type {string} */ target) => /^\.\/dist\/(.+)(?<!\.d)\.js$/.exec(target)?.slice(1) ?? [];
  return new Set(targetsOf(value).flatMap(built));
}

/**
 * The names of all of them in a folder of the package, with an ending.
 *
 * @param {string} folder @param {string} ending
 */
export function entryNames(folder, ending) {
  return names(
    folder,
    ending,
    (/** @type {string} */ name) => !BUNDLED.test(name) && (isExported(name) || RUN.has(name) || ALONE.test(name)),
  );
}

/**
 * The names of those that users may import.
 *
 * @param {string} folder @param {string} ending
 */
export function exportedNames(folder, ending) {
  return names(folder, ending, isExported);
}

/**
 * The names of those that users run.
 *
 * @param {string} folder
 */
export function runNames(folder) {
  return names(folder, '.js', (/** @type {string} */ name) => RUN.has(name));
}

/** @param {string} name */
function isExported(name) {
  return EXPORTED.has(name.replaceAll('\\', '/'));
}

/** @param {string} folder @param {string} ending @param {(name: string) => boolean} isChosen */
function names(folder, ending, isChosen) {
  return readdirSync(folder, { encoding: 'utf8', recursive: true })
    .filter((name) => name.endsWith(ending) && !name.endsWith('.d.ts'))
    .filter((name) => isChosen(name.slice(0, -ending.length)));
}
