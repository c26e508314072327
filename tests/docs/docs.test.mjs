// The pages in docs/: every `js` block runs and prints what its comments say; what any block takes from statepad is there.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startRedis, whyNoRedis } from '../support/redis.mjs';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const run = promisify(execFile);

/** The blocks of a page, each named by the heading that it stands under. */
function blocksOf(text) {
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

/** What the comments of a block say that it prints, line by line. */
function expectedOf(code) {
  return [...code.matchAll(/\/\/ → (.*)$/gm)].map(([, text]) => text);
}

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

/** Runs a block as a module of this repository, in a folder of its own, and answers what it has printed. */
async function printed(code, env) {
  const folder = await mkdtemp(fileURLToPath(new URL('docs-', import.meta.url)));
  try {
    await writeFile(join(folder, 'block.mjs'), code);
    const options = { cwd: folder, env: { ...process.env, NO_COLOR: '1', FORCE_COLOR: '0', ...env }, timeout: 120_000 };
    const { stdout } = await run(process.execPath, ['--no-warnings', 'block.mjs'], options);
    return stdout.split('\n').slice(0, -1);
  } finally {
    await rm(folder, { recursive: true });
  }
}

for (const page of ['json-lines.md', 'stores.md', 'write-your-own-store.md']) {
  describe(page, () => {
    const text = readFileSync(join(docs, page), 'utf8');
    const blocks = blocksOf(text);
    const env = {};
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
      if (language === 'js') {
        test(`${name} prints what it says`, { skip: /\bREDIS_URL\b/.test(code) && whyNoRedis() }, async () => {
          const expected = expectedOf(code);
          assert.ok(expected.length > 0, 'it says nothing');
          assert.deepEqual(await printed(code, env), expected);
        });
      } else {
        test(`${name} is for people and other hosts, and imports what there is`, async () => {
          assert.ok(['ts', 'sh', 'text'].includes(language), language);
          for (const [, names, from] of code.matchAll(/^import (?!type )\{ (.+) \} from '(statepad[^']*)'/gm)) {
            const exported = await import(from);
            for (const name of names.split(', ').filter((one) => !one.startsWith('type '))) {
              assert.ok(name in exported, `${from} has no ${name}`);
            }
          }
        });
      }
    }

    test('its links lead somewhere', () => {
      for (const [, target] of text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)) {
        assert.ok(existsSync(join(dirname(join(docs, page)), target)), target);
      }
    });
  });
}
