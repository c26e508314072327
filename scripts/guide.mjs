// The guide: the documents of the repository as pages that the demo page links to. They are served with it, so that
// they are those of this very version, and there without a network.

import { copyFileSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import MarkdownIt from 'markdown-it';
import { root } from './tools.mjs';

/** @type {Map<string, string>} the documents, and the page that each becomes */
export const PAGES = new Map([
  ['README.md', 'index.html'],
  ['src/README.md', 'crate.html'],
  ['python/README.md', 'python-package.html'],
  ['ARCHITECTURE.md', 'architecture.html'],
  ['CHANGELOG.md', 'changelog.html'],
  ['CONTRIBUTING.md', 'contributing.html'],
  ['SECURITY.md', 'security.html'],
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => /** @type {const} */ ([`docs/${name}`, name.replace(/\.md$/, '.html')])),
]);

/** The files that the guide is made from. */
export function guideSources() {
  return [...PAGES.keys(), ...imagesOf()].map((path) => join(root, path));
}

function imagesOf() {
  return readdirSync(join(root, 'docs', 'images')).map((name) => `docs/images/${name}`);
}

/**
 * Writes the guide into a folder. Fails on a link to a file that is no page of it.
 *
 * @param {string} folder
 */
export function writeGuide(folder) {
  mkdirSync(join(folder, 'images'), { recursive: true });
  for (const image of imagesOf()) copyFileSync(join(root, image), join(folder, 'images', basename(image)));
  for (const [path, name] of PAGES) {
    writeFileSync(join(folder, name), pageOf(path, readFileSync(join(root, path), 'utf8')));
  }
}

const markdown = new MarkdownIt({ html: false });

/**
 * Headings have the ids that links between the documents name.
 *
 * @type {import('markdown-it').RenderRule}
 */
markdown.renderer.rules.heading_open = (tokens, index, options, env, self) => {
  tokens[index].attrSet('id', slugOf(tokens[index + 1].content, env.slugs));
  return self.renderToken(tokens, index, options);
};
/** @type {import('markdown-it').RenderRule} */
markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
  tokens[index].attrSet('href', addressOf(tokens[index].attrGet('href') ?? '', env.path));
  return self.renderToken(tokens, index, options);
};
const image = markdown.renderer.rules.image;
/** @type {import('markdown-it').RenderRule} */
markdown.renderer.rules.image = (tokens, index, options, env, self) => {
  tokens[index].attrSet('src', addressOf(tokens[index].attrGet('src') ?? '', env.path));
  return image(tokens, index, options, env, self);
};

/**
 * The id of a heading, as GitHub makes it.
 *
 * @param {string} text @param {Map<string, number>} slugs
 */
function slugOf(text, slugs) {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');
  const times = slugs.get(slug) ?? 0;
  slugs.set(slug, times + 1);
  return times === 0 ? slug : `${slug}-${times}`;
}

/**
 * The target in the guide of a document's link.
 *
 * @param {string} target @param {string} path
 */
function addressOf(target, path) {
  if (/^(https?:|#)/.test(target)) return target;
  const [file, anchor] = target.split('#');
  const linkedPath = posix.join(dirname(path), file);
  if (imagesOf().includes(linkedPath)) return `images/${basename(linkedPath)}`;
  if (!PAGES.has(linkedPath)) throw new Error(`${path} links to ${target}, which is no page of the guide`);
  return PAGES.get(linkedPath) + (anchor === undefined ? '' : `#${anchor}`);
}

/** @param {string} path @param {string} text */
function pageOf(path, text) {
  const content = markdown.render(text, { path, slugs: new Map() });
  const title = /^# (.+)$/m.exec(text)?.[1].replaceAll('`', '') ?? path;
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${markdown.utils.escapeHtml(title)}${path === 'README.md' ? '' : ' · statepad'}</title>
    <style>${STYLE}</style>
  </head>
  <body>
    <nav><a href="index.html">Guide</a> <a href="../index.html">Demo</a></nav>
    <main>${content}</main>
  </body>
</html>
`;
}

const STYLE = `
      :root { color-scheme: light dark; font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; line-height: 1.55; }
      body { max-width: 52rem; margin: 0 auto; padding: 1rem; color: light-dark(#1b2330, #e6e9ee); background: light-dark(#fff, #0f1318); }
      a { color: light-dark(#3b3fd1, #9da3ff); }
      nav a { margin-right: 1rem; }
      pre { overflow-x: auto; padding: 0.8rem; border-radius: 6px; }
      code { font-family: ui-monospace, 'DejaVu Sans Mono', monospace; font-size: 0.9em; }
      pre, :not(pre) > code { background: light-dark(#f0f1f4, #1a2029); }
      :not(pre) > code { padding: 0.1em 0.3em; border-radius: 4px; }
      table { display: block; overflow-x: auto; border-collapse: collapse; }
      th, td { padding: 0.3rem 0.6rem; border: 1px solid light-dark(#d5d9e0, #333c49); text-align: left; vertical-align: top; }
      img { max-width: 100%; }
    `;
