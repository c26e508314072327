// The pages: every `js` block of docs/ runs and prints what its comments say, or what the commands below it show;
// every `ts` block compiles, every link leads somewhere, in the package, too; what pages name is there.

import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join, posix, sep } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { isPublished } from '../../scripts/readme.mjs';
import { startRedis, whyNoRedis } from '../support/redis.mjs';
import {
  anchorsOf,
  blocksOf,
  compile,
  inFolder,
  linksOf,
  node,
  pages,
  printed,
  root,
  textOf,
  transcriptOf,
  write,
} from './pages.mjs';

/** The output that the comments of a block promise, line by line. */
function expectedOf(code) {
  return [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);
}

/** The answers of a page's models, by the agent's name: ADK's agents run without a network. */
const MODELS = {
  'docs/adk.md': {
    shop: 'We have sencha.',
    moon: 'The moon pulls.',
    sun: 'The sun pulls.',
    editor: 'Both pull.',
  },
  'docs/time.md': { shop: 'We have sencha.' },
  'docs/leases.md': { shop: 'We have sencha.' },
};

/** Modules that stand in for a service on the network, by what a program has that asks it. */
const STAND_INS = { Runner: 'tests/docs/model.mjs', 'stores/vertex-ai': 'tests/docs/vertex.mjs' };

/** A block that names its file in its first line belongs to a project in another host, where tests/hosts runs it. */
const IN_A_HOST = /^\/\/ [\w./[\]-]+\.\w+\n/;

/** A log behind HTTP: what is posted to it is appended, and read by GET. */
async function startLog() {
  let log = '';
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      log += (await request.toArray()).join('');
    }
    response.end(request.method === 'POST' ? '' : log);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => new Promise((resolve) => server.close(resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, stop };
}

/** Its blocks are files of projects in other hosts, where tests/hosts runs them. */
const HOSTS = 'docs/hosts.md';

for (const page of pages.filter((path) => path.startsWith('docs/') && path !== HOSTS)) {
  describe(page, () => {
    const text = textOf(page);
    const blocks = blocksOf(text);
    const env = { MODEL_SAYS: JSON.stringify(MODELS[page] ?? {}) };
    /** The flags that a program is started with: they replace the services that it would ask over the network. */
    const flagsOf = (code) =>
      Object.entries(STAND_INS).flatMap(([name, file]) => (code.includes(name) ? ['--import', join(root, file)] : []));
    const servers = [];

    before(async () => {
      const starts = { REDIS_URL: whyNoRedis() === undefined ? startRedis : undefined, LOG_URL: startLog };
      for (const [name, start] of Object.entries(starts)) {
        if (start !== undefined && text.includes(`process.env.${name}`)) {
          const server = await start();
          servers.push(server);
          env[name] = server.url;
        }
      }
    });
    after(() => Promise.all(servers.map(({ stop }) => stop())));

    for (const [index, { heading, language, code }] of blocks.entries()) {
      const name = `block ${index + 1}, of "${heading}",`;
      const transcript = transcriptOf(blocks[index + 1]);
      if (language === 'js' && transcript.length > 0) {
        test(`${name} prints what the commands below it show`, async () => {
          await inFolder(async (folder) => {
            for (const { file, args, shown } of transcript) {
              await write(folder, { [file]: code });
              assert.equal(await node(folder, [...flagsOf(code), file, ...args], env), shown);
            }
          });
        });
      } else if (language === 'js' && !IN_A_HOST.test(code)) {
        test(`${name} prints what it says`, { skip: /\bREDIS_URL\b/.test(code) && whyNoRedis() }, async () => {
          const expected = expectedOf(code);
          assert.ok(expected.length > 0, 'it says nothing');
          assert.deepEqual((await printed(code, env, flagsOf(code))).split('\n').slice(0, -1), expected);
        });
      } else {
        test(`${name} is of a kind that pages have`, () =>
          assert.ok(
            ['js', 'ts', 'sh', 'text', 'python', 'java', 'nginx', 'yaml'].includes(language) ||
              (language === 'tsx' && IN_A_HOST.test(code)),
            language,
          ));
      }
    }
  });
}

/** Types of a host that is not installed here. */
const CLOUDFLARE = `declare module 'cloudflare:workers' {
  export class DurableObject { readonly ctx: { readonly storage: import('statepad/stores/cloudflare').DurableObjectStorageLike } }
}`;

test('every block in TypeScript compiles, strict', async () => {
  const files = pages
    .filter((page) => page !== HOSTS)
    .flatMap((page) =>
      blocksOf(textOf(page)).flatMap(({ language, code }, index) =>
        language === 'ts' ? [[`${page.replace(/\W/g, '-')}-${index + 1}.ts`, code]] : [],
      ),
    );
  assert.ok(files.length > 5);
  assert.deepEqual(await compile({ ...Object.fromEntries(files), 'cloudflare.d.ts': CLOUDFLARE }), []);
});

for (const page of pages) {
  test(`the links of ${page} lead somewhere`, () => {
    for (const { path, anchor } of linksOf(textOf(page))) {
      const target = path === '' ? page : posix.join(posix.dirname(page), path);
      assert.ok(existsSync(join(root, target)), path);
      assert.ok(anchor === undefined || anchorsOf(textOf(target)).includes(anchor), `${path}#${anchor}`);
    }
  });
}

for (const page of pages.filter((path) => path.startsWith('docs/'))) {
  test(`the links of ${page} lead to what is published with it`, () => {
    const targets = linksOf(textOf(page))
      .filter(({ path }) => path !== '')
      .map(({ path }) => posix.join(posix.dirname(page), path));
    assert.deepEqual(
      targets.filter((target) => !isPublished(target)),
      [],
    );
  });
}

/** Every file of the project's folders, as a path from the root. */
const sources = ['bench', 'docs', 'examples', 'pkg/src', 'python', 'scripts', 'src', 'tests', 'www'].flatMap(
  (folder) =>
    readdirSync(join(root, folder), { recursive: true }).map((path) => `/${folder}/${path.replaceAll(sep, '/')}`),
);

/** The folders that a build makes. */
const GENERATED = /^(pkg|www)\/(dist|wasm)/;

/** A name with an ending, a folder with a slash behind it, or a path from the root. */
const NAMES_A_FILE = /\.(rs|ts|md|mjs|json|cjs|toml)$|\/$|^(bench|docs|examples|pkg|python|scripts|src|tests|www)\//;

for (const page of ['ARCHITECTURE.md', 'CONTRIBUTING.md']) {
  test(`the files and folders that ${page} names are there`, () => {
    const names = [...textOf(page).matchAll(/`([\w.-]*\w(?:\/[\w.-]+)*\/?)`/g)].map(([, name]) => name);
    const paths = names.filter((name) => NAMES_A_FILE.test(name) && !GENERATED.test(name));
    assert.ok(paths.length > 10);
    const isThere = (path) =>
      existsSync(join(root, path)) || sources.some((source) => source.endsWith(`/${path.replace(/\/$/, '')}`));
    assert.deepEqual(
      paths.filter((path) => !isThere(path)),
      [],
    );
  });
}

test('the table of ARCHITECTURE.md is the one that the imports are checked with', () => {
  const rows = [...textOf('ARCHITECTURE.md').matchAll(/^\| ((?:`[\w/-]+`(?:, )?)+) \| (.*) \|$/gm)];
  const namesIn = (cell) => [...cell.matchAll(/`([\w/-]+)`/g)].map(([, name]) => name).sort();
  const table = new Map(rows.flatMap(([, folders, may]) => namesIn(folders).map((folder) => [folder, namesIn(may)])));
  const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs');
  const checked = forbidden
    .map(({ comment = '' }) => /^pkg\/src\/(\S+) may import (.*) and itself$/.exec(comment))
    .filter(Boolean);
  assert.ok(checked.length > 15);
  for (const [, folder, may] of checked) {
    // Those of the inspector name the folders in it.
    const [application] = /^inspector\//.exec(folder) ?? [''];
    const allowed = may === 'nothing' ? [] : may.split(', ').map((name) => `${application}${name}`);
    assert.deepEqual(table.get(folder) ?? table.get('stores/X'), allowed.sort(), folder);
  }
});

test('docs/errors.md names every code, and the README every page', () => {
  const codes = [...textOf('pkg/src/model/errors.ts').matchAll(/^ {2}\| '([A-Z_]+)'/gm)].map(([, code]) => code);
  const rows = [...textOf('docs/errors.md').matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, code]) => code);
  assert.ok(codes.length > 15);
  assert.deepEqual(rows.filter((code) => !code.startsWith('STATEPAD_')).sort(), codes.sort());
  const linked = linksOf(textOf('README.md')).map(({ path }) => path);
  assert.deepEqual(
    pages.filter((page) => page !== 'README.md' && !linked.includes(page)),
    [],
  );
});

test('every command of npm that a page names is there', () => {
  const { scripts } = JSON.parse(textOf('package.json'));
  const named = pages.flatMap((page) => [...textOf(page).matchAll(/\bnpm run ([\w:]+)/g)].map(([, name]) => name));
  assert.ok(named.length > 10);
  assert.deepEqual(
    [...new Set(named)].filter((name) => !(name in scripts)),
    [],
  );
});
