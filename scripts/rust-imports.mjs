// Looks for circles of modules of the crate: of two modules at most one may use the other, over however many others.
// `npm run check` runs it; for pkg/src dependency-cruiser does the same.

import { readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { pathToFileURL } from 'node:url';
import { filesUnder } from './step.mjs';
import { root } from './tools.mjs';

/**
 * @typedef {{ module: string[], text: string }} Source
 * A file of the crate: the path of its module from the root, which is [], and what is in it.
 */

/**
 * For each module, those that it uses: the deepest module of each path that it names. A `mod` line uses nothing, nor
 * does a `pub use` of what lies in its own folder, which shows it under a shorter name; the tests at the end of a file
 * are left out.
 *
 * @param {Source[]} sources
 * @returns {Map<string, Set<string>>}
 */
export function usesOf(sources) {
  const modules = new Set(sources.map(({ module }) => nameOf(module)));
  return new Map(
    sources.map((source) => {
      const named = pathsIn(source, modules).map((path) => deepest(path, modules));
      return [nameOf(source.module), new Set(named.filter((name) => name !== nameOf(source.module)))];
    }),
  );
}

/**
 * The circles of a graph, each as the nodes of one way round it; of circles that share nodes, one at least.
 *
 * @param {Map<string, Set<string>>} uses
 */
export function circlesOf(uses) {
  /** @type {string[][]} */
  const circles = [];
  const done = new Set();
  /** @param {string} name @param {string[]} way */
  const visit = (name, way) => {
    if (way.includes(name)) {
      circles.push([...way.slice(way.indexOf(name)), name]);
      return;
    }
    if (done.has(name)) return;
    for (const next of [...(uses.get(name) ?? [])].sort()) visit(next, [...way, name]);
    done.add(name);
  };
  for (const name of [...uses.keys()].sort()) visit(name, []);
  return circles;
}

/** @param {string[]} module */
const nameOf = (module) => ['crate', ...module].join('::');

/** @param {string[]} path @param {Set<string>} modules */
function deepest(path, modules) {
  for (let length = path.length; length > 0; length--) {
    if (modules.has(nameOf(path.slice(0, length)))) return nameOf(path.slice(0, length));
  }
  return nameOf([]);
}

/**
 * The paths in a file that begin at the root, at the module itself, at one around it or in it: each from the root.
 *
 * @param {Source} source @param {Set<string>} modules
 */
function pathsIn({ module, text }, modules) {
  const code = withoutTests(withoutTexts(text));
  const children = [...modules].map((name) => name.split('::').slice(1)).filter(isChildOf(module));
  const starts = ['crate', 'self', '(?:super::)*super', ...children.map((child) => child.at(-1))];
  const uses = code.matchAll(new RegExp(`(pub(?:\\(\\w+\\))? use )?(?<![\\w:])(${starts.join('|')})\\s*::\\s*`, 'g'));
  return [...uses].flatMap(({ 0: { length }, 1: shows, 2: start, index }) => {
    const from = startOf(start, [...module, ...inlineAround(code, index)], module);
    const paths = pathsFrom(code, index + length).map((rest) => [...from, ...rest]);
    return shows === undefined ? paths : paths.filter((path) => !module.every((name, place) => name === path[place]));
  });
}

/**
 * The names of the modules within the file in whose braces a place is.
 *
 * @param {string} code @param {number} at
 */
function inlineAround(code, at) {
  const opened = [...code.slice(0, at).matchAll(/\bmod (\w+)\s*\{/g)];
  return opened.filter(({ 0: { length }, index }) => endOf(code, index + length - 1) > at).map(([, name]) => name);
}

/**
 * The place of the brace that closes the one at a place.
 *
 * @param {string} code @param {number} at
 */
function endOf(code, at) {
  let depth = 0;
  for (let place = at; place < code.length; place++) {
    if (code[place] === '{') depth++;
    if (code[place] === '}' && --depth === 0) return place;
  }
  return code.length;
}

/** @param {string[]} module */
const isChildOf = (module) => (/** @type {string[]} */ other) =>
  other.length === module.length + 1 && module.every((name, place) => name === other[place]);

/**
 * The module at which a path begins: `around` is the module that it stands in, within that of the file.
 *
 * @param {string} start @param {string[]} around @param {string[]} module
 */
function startOf(start, around, module) {
  if (start === 'crate') return [];
  if (start === 'self') return around;
  if (!start.startsWith('super')) return [...module, start];
  return around.slice(0, Math.max(0, around.length - start.split('::').length));
}

/**
 * The ends of a path of which the beginning stands before `at`: several where it goes on in braces.
 *
 * @param {string} code @param {number} at @returns {string[][]}
 */
function pathsFrom(code, at) {
  const name = /^(?:r#)?(\w+)(\s*::\s*(?=[\w{]))?/.exec(code.slice(at, at + 200));
  if (name !== null) {
    const [all, word, goesOn] = name;
    return goesOn === undefined ? [[word]] : pathsFrom(code, at + all.length).map((rest) => [word, ...rest]);
  }
  if (code[at] !== '{') return [[]];
  return itemsIn(code, at).flatMap((item) => pathsFrom(item, 0));
}

/**
 * The items between the brace at a place and the one that closes it.
 *
 * @param {string} code @param {number} at
 */
function itemsIn(code, at) {
  const items = [''];
  let depth = 0;
  for (const letter of code.slice(at + 1, endOf(code, at))) {
    depth += letter === '{' ? 1 : letter === '}' ? -1 : 0;
    if (letter === ',' && depth === 0) items.push('');
    else items.push(items.pop() + letter);
  }
  return items.map((item) => item.trim()).filter((item) => item !== '');
}

/**
 * Code without comments, and with empty texts.
 *
 * @param {string} text
 */
function withoutTexts(text) {
  const parts = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|r(#+)"[\s\S]*?"\1|"(?:\\[\s\S]|[^"\\])*"|'(?:\\.|[^'\\])'/g;
  return text.replace(parts, (part) => (part.startsWith('/') ? '' : '""'));
}

/** @param {string} code */
const withoutTests = (code) => code.replace(/#\[cfg\(test\)\]\s*(?:mod tests\s*\{[\s\S]*|[^;{]*;)/g, '');

/** @param {string} folder @returns {Source[]} */
function sourcesOf(folder) {
  const files = filesUnder(folder).filter((file) => file.endsWith('.rs'));
  return files.map((file) => {
    const module = relative(folder, file).slice(0, -'.rs'.length).split(sep);
    return { module: module.join() === 'lib' ? [] : module, text: readFileSync(file, 'utf8') };
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const circles = circlesOf(usesOf(sourcesOf(join(root, 'src'))));
  for (const circle of circles) console.error(`a circle of modules: ${circle.join(' → ')}`);
  process.exitCode = circles.length === 0 ? 0 : 1;
}
