// `inspect(service)` in a program of its own: what it prints, and that a page keeps no program running.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { inspectorPackage } from '../../support/inspector-package.mjs';

const built = inspectorPackage();
after(() => built.stop());

const KEY = "{ appName: 'tutor', userId: 'ana', sessionId: 'monday' }";
/** Two services share a store: their watches look at it from time to time. */
const STORES = {
  'in memory': 'undefined',
  'over a store that others write to': "sqliteStore(new Database('sessions.db'))",
};

/** Starts a program; its end, and its first line on standard error, where the address is. */
function run(code) {
  const file = join(built.folder, `program-${Math.random().toString(36).slice(2)}.mjs`);
  writeFileSync(
    file,
    `import process from 'node:process';
     import Database from 'better-sqlite3';
     import { SessionService } from './dist/index.js';
     import { inspect } from './dist/inspect.js';
     import { sqliteStore } from './dist/stores/sqlite/index.js';
     ${code}`,
  );
  const child = spawn(process.execPath, ['--no-warnings', file], { cwd: built.folder });
  after(() => child.kill('SIGKILL'));
  const printed = { out: '', err: '' };
  child.stdout.on('data', (text) => (printed.out += text));
  const address = new Promise((resolve) => {
    child.stderr.on('data', (text) => {
      printed.err += text;
      const url = /http:\S+/.exec(printed.err)?.[0];
      if (url !== undefined) resolve(new URL(url));
    });
  });
  const ended = once(child, 'close').then(([exit]) => ({ exit, ...printed }));
  return { child, address, ended };
}

describe('a program with an inspector', () => {
  it('prints the address on standard error, and ends when it has nothing else to do', async () => {
    const { exit, out, err } = await run(`await inspect(new SessionService(), { label: 'mine' });`).ended;
    assert.deepEqual([exit, out], [0, '']);
    assert.match(err, /^inspector of mine: http:\/\/127\.0\.0\.1:\d+\/inspector\/#token=[\w-]{43}\n$/);
  });

  it('prints nothing that it is told not to', async () => {
    const { exit, out, err } = await run(`await inspect(new SessionService(), { log: false });`).ended;
    assert.deepEqual([exit, out, err], [0, '', '']);
  });

  for (const [place, store] of Object.entries(STORES)) {
    it(`${place} ends beside an open page, whose stream ends with it`, async () => {
      const { child, address, ended } = run(`
        const service = new SessionService({ store: ${store} });
        await service.getOrCreateSession(${KEY});
        await inspect(service);
        // It works until the page is there.
        process.stdin.on('data', () => process.stdin.destroy());`);
      const { origin, hash } = await address;
      const headers = { authorization: `Bearer ${hash.replace('#token=', '')}`, accept: 'text/event-stream' };
      const query = 'appName=tutor&userId=ana&sessionId=monday&whole=true';
      const { status, body } = await fetch(`${origin}/v1/watch?${query}`, { headers });
      assert.equal(status, 200);
      const reader = body.getReader();
      for (let heard = ''; !heard.includes('event: session');) heard += Buffer.from((await reader.read()).value);
      child.stdin.write('go on\n');
      // The end of the process cuts the connection.
      await assert.rejects(async () => {
        while (!(await reader.read()).done);
        throw new Error('ended');
      });
      const { exit, err } = await ended;
      assert.equal(exit, 0, err);
    });
  }

  it('runs on with keepAlive, until it is closed', async () => {
    const { child, address, ended } = run(`
      const inspection = await inspect(new SessionService(), { keepAlive: true });
      process.stdin.unref?.();
      process.on('SIGTERM', () => inspection.close());`);
    const { origin } = await address;
    assert.equal((await fetch(`${origin}/inspector/`)).status, 200);
    child.kill('SIGTERM');
    assert.equal((await ended).exit, 0);
  });

  it('has its token in no argument and in no title of a process', async () => {
    const { out, err } = await run(`
      const { url } = await inspect(new SessionService());
      const token = new URL(url).hash.replace('#token=', '');
      console.log([process.title, ...process.argv, ...Object.values(process.env)].some((text) => text.includes(token)));
    `).ended;
    assert.equal(out, 'false\n', err);
  });
});
