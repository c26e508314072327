/**
 * The documents as their tests read them: their blocks of code, their links, and how a block is run.
 */
import { execFile } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** The root of the repository. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every page for people, as a path from the root: those of docs/, those that lie there, and those of registries. */
export const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  'src/README.md',
  'python/README.md',
];

/** The text of a page. */
export const textOf = (page) => readFileSync(join(root, page), 'utf8');

/** The blocks of a page, each with the heading that it stands under. */
export function blocksOf(text) {
  const blocks = [];
  let heading = '';
  for (const [, title, language, code] of text.matchAll(/^#+ (.+)$|^```(\w*)\n([\s\S]*?)^```$/gm)) {
    if (title === undefined) {
      blocks.push({ heading, language, code });
    } else {
      heading = title;
    }
  }
  return blocks;
}

/**
 * The runs that a block of text shows, `$ node FILE ARGUMENTS` and what it prints, in order; none when it is no such
 * block.
 */
export function transcriptOf(block) {
  const runs = block?.language === 'text' ? block.code.matchAll(/^\$ node (\S+\.mjs)(.*)\n((?:(?!\$ ).*\n)*)/gm) : [];
  return [...runs].map(([, file, rest, shown]) => ({
    file,
    args: [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare),
    shown,
  }));
}

/** The text without its blocks of code. */
const proseOf = (text) => text.replace(/^```[^]*?^```$/gm, '');

/** The anchors of a page, as GitHub makes them of the headings. */
export function anchorsOf(text) {
  const headings = [...proseOf(text).matchAll(/^#+ (.+)$/gm)].map(([, title]) => title);
  return headings.map((title) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}

/**
 * The links of a page that stay in the repository: `{ path, anchor }`, the path as it is written, empty for the page
 * itself.
 */
export function linksOf(text) {
  const targets = [
    ...proseOf(text)
      .replace(/`[^`\n]*`/g, '')
      .matchAll(/\]\(([^)\s]+)\)/g),
  ].map(([, target]) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => ({ path: target.split('#')[0], anchor: target.split('#')[1] }));
}

/**
 * Runs `work` with a folder of its own: inside the repository, so that programs there import what is installed here,
 * and out of the way of its linters.
 */
export async function inFolder(work) {
  await mkdir(join(root, 'target'), { recursive: true });
  const folder = await mkdtemp(join(root, 'target', 'docs-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes `files` (path to text) into a folder. */
export async function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** The README's first program in a language, and what it prints: the block of text behind it. */
export function programIn(language) {
  const blocks = blocksOf(textOf('README.md'));
  const at = blocks.findIndex((block) => block.language === language);
  return { program: blocks[at].code, shown: blocks[at + 1].language === 'text' ? blocks[at + 1].code : undefined };
}

/** Runs Node in a folder; answers what it printed. */
export async function node(folder, args, env = {}) {
  const colorless = { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env };
  return (
    await execute(process.execPath, ['--no-warnings', ...args], { cwd: folder, env: colorless, timeout: 120_000 })
  ).stdout;
}

/** Runs a block as a module; answers what it printed. */
export async function printed(code, env, flags = []) {
  return await inFolder(async (folder) => {
    await write(folder, { 'block.mjs': code });
    return await node(folder, [...flags, 'block.mjs'], env);
  });
}

/** TypeScript's options for the programs of the pages. */
export const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable', 'dom'],
  module: 'nodenext',
  types: ['node'],
  // ADK's declarations do not stand a check of their own.
  skipLibCheck: true,
};

/** TypeScript's errors in `files` (name to text), strict, line by line. */
export async function compile(files) {
  return await inFolder(async (folder) => {
    const compilerOptions = { ...STRICT, noEmit: true };
    await write(folder, { ...files, 'tsconfig.json': JSON.stringify({ compilerOptions, files: Object.keys(files) }) });
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const { stdout } = await execute(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch((error) => error);
    return stdout.split('\n').filter((line) => line !== '');
  });
}
