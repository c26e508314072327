// Markdown as elements, for texts that anybody may have written. It is loaded at the first text that is drawn.

import MarkdownIt, { type Token } from 'markdown-it';

const parser = new MarkdownIt({ html: false, linkify: true, breaks: true });
// `readme.md` in a sentence is no address.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });

/** The elements that Markdown may become, by the tag of their token. Headings of a message are none of the page. */
const ELEMENTS: ReadonlyMap<string, string> = new Map([
  ...['p', 'ul', 'ol', 'li', 'blockquote', 'strong', 'em', 's', 'hr', 'br'].map((tag) => [tag, tag] as const),
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td'].map((tag) => [tag, tag] as const),
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [tag, 'p'] as const),
]);

/** The elements whose text has a direction of its own. */
const BLOCKS = new Set(['p', 'li', 'blockquote', 'th', 'td']);

/** The schemes of addresses that a link may have. */
const SCHEMES = new Set(['http:', 'https:', 'mailto:']);

/**
 * The text as elements in one `div`. It is parsed, and never becomes HTML text: a tag in it stays text. An image
 * becomes a link, so that nothing is loaded; a link that is neither `http:`, `https:` nor `mailto:` becomes text.
 */
export function markdownOf(text: string): HTMLElement {
  const root = document.createElement('div');
  root.className = 'markdown';
  append(parser.parse(text, {}), root);
  return root;
}

function append(tokens: readonly Token[], root: Element): void {
  const open = [root];
  for (const token of tokens) {
    const parent = open.at(-1) ?? root;
    if (token.nesting === 1) {
      const element = token.hidden ? undefined : elementOf(token);
      if (element !== undefined) {
        placeOf(element, parent);
      }
      open.push(element ?? parent);
    } else if (token.nesting === -1) {
      open.pop();
    } else if (token.children !== null && token.type === 'inline') {
      append(token.children, parent);
    } else {
      parent.append(leafOf(token));
    }
  }
}

/** Puts an element into its parent; a table into a box of its own, which scrolls. */
function placeOf(element: Element, parent: Element): void {
  if (element.localName !== 'table') {
    parent.append(element);
    return;
  }
  const box = document.createElement('div');
  box.className = 'table';
  box.append(element);
  parent.append(box);
}

function elementOf(token: Token): HTMLElement {
  if (token.type === 'link_open') {
    return linkTo(token.attrGet('href') ?? '');
  }
  const name = ELEMENTS.get(token.tag) ?? 'span';
  const element = document.createElement(name);
  if (token.type === 'heading_open') {
    element.className = 'heading';
    element.dataset['level'] = token.tag.slice(1);
  }
  if (BLOCKS.has(name)) {
    element.dir = 'auto';
  }
  const align = /^text-align:(center|right)$/u.exec(token.attrGet('style') ?? '')?.[1];
  if (align !== undefined) {
    element.dataset['align'] = align;
  }
  const start = token.attrGet('start');
  if (start !== null && element instanceof HTMLOListElement) {
    element.start = Number(start);
  }
  return element;
}

function leafOf(token: Token): Node {
  switch (token.type) {
    case 'fence':
    case 'code_block':
      return codeBlock(token);
    case 'code_inline':
      return withText('code', token.content);
    case 'image': {
      const link = linkTo(token.attrGet('src') ?? '');
      link.append(`Image: ${token.content === '' ? (token.attrGet('src') ?? '').slice(0, 80) : token.content}`);
      return link;
    }
    case 'softbreak':
    case 'hardbreak':
    case 'hr':
      return document.createElement(token.type === 'hr' ? 'hr' : 'br');
    default:
      return document.createTextNode(token.content);
  }
}

function codeBlock({ content, info }: Token): HTMLElement {
  const block = document.createElement('pre');
  block.dir = 'ltr';
  const language = info.trim().split(/\s/u)[0] ?? '';
  if (language !== '') {
    block.dataset['language'] = language;
  }
  block.append(withText('code', content.replace(/\n$/u, '')));
  return block;
}

function withText(name: string, text: string): HTMLElement {
  const element = document.createElement(name);
  element.textContent = text;
  return element;
}

/** A link in a tab of its own; text when its address is not safe to follow. */
function linkTo(address: string): HTMLElement {
  const scheme = URL.canParse(address) ? new URL(address).protocol : '';
  if (!SCHEMES.has(scheme)) {
    const text = document.createElement('span');
    text.className = 'no-link';
    text.title = `not a link that can be followed: ${address.slice(0, 200)}`;
    return text;
  }
  const link = document.createElement('a');
  link.href = address;
  link.target = '_blank';
  link.rel = 'noopener noreferrer';
  link.title = address.slice(0, 400);
  return link;
}
