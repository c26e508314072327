// The readme as it is published.

import { readFileSync } from 'node:fs';

/** An inline link or image of Markdown whose target is a path of the repository. */
const RELATIVE = /(!?)\[([^\]]*)\]\((?!https?:\/\/|#)([^)\s]+)\)/g;

/** The files of the package, as package.json names them: paths, with `*` for a part of a name and `**` for folders. */
const { files } = JSON.parse(readFileSync(new URL('../pkg/package.json', import.meta.url), 'utf8'));
const published = [...files.filter((/** @type {string} */ pattern) => !pattern.startsWith('!')), 'README.md'].map(
  (pattern) =>
    new RegExp(
      `^${pattern.replace(/\./g, '\\.').replace(/\*+\/?/g, (/** @type {string} */ stars) => (stars.length > 1 ? '.*' : '[^/]*'))}$`,
    ),
);

/**
 * Returns true if the package has a document of the repository, under the same path.
 *
 * @param {string} path
 */
export function isPublished(path) {
  return published.some((pattern) => pattern.test(path));
}

/**
 * The page of a registry shows the readme without the repository: a link to a file that the package has becomes its
 * text and the path; a link to another file becomes its text; an image, which the package does not have, is left out.
 *
 * @param {string} text
 */
export function publishedReadme(text) {
  return text
    .replace(RELATIVE, (_, image, label, target) => {
      const [path] = target.split('#');
      if (image) {
        return '';
      }
      return isPublished(path) && path !== label
        ? `${label} (\`${path}\`)`
        : isPublished(path)
          ? `\`${path}\``
          : label;
    })
    .replace(/\n{3,}/g, '\n\n');
}

/**
 * The targets of all links and images in a text of Markdown, but for those in code.
 *
 * @param {string} text
 */
export function linksOf(text) {
  const prose = text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g)];
  const named = [...prose.matchAll(/^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm)];
  const html = [...prose.matchAll(/\b(?:href|src)\s*=\s*["']([^"']+)/g)];
  return [...inline, ...named, ...html].map(([, target]) => target);
}
