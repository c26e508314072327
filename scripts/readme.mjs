// The readme as it is published.

/** An inline link or image of Markdown whose target is a path of the repository. */
const RELATIVE = /(!?)\[([^\]]*)\]\((?!https?:\/\/|#)([^)\s]+)\)/g;

/**
 * The page of a registry shows the readme without the repository: a link to a file becomes its text and the path,
 * under which the package has the file; an image, which the package does not have, is left out.
 */
export function publishedReadme(text) {
  return text
    .replace(RELATIVE, (_, image, label, path) => (image ? '' : `${label} (\`${path}\`)`))
    .replace(/\n{3,}/g, '\n\n');
}

/** The targets of all links and images in a text of Markdown, but for those in code. */
export function linksOf(text) {
  const prose = text.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '');
  const inline = [...prose.matchAll(/\]\(\s*<?([^)\s>]+)/g)];
  const named = [...prose.matchAll(/^\s*\[[^\]]+\]:\s*<?(\S+?)>?\s*$/gm)];
  const html = [...prose.matchAll(/\b(?:href|src)\s*=\s*["']([^"']+)/g)];
  return [...inline, ...named, ...html].map(([, target]) => target);
}
