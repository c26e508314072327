// `statepad inspect` and the inspector of `statepad serve`, as processes.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { exportLines } from 'statepad/jsonl';
import { inspectorPackage } from '../support/inspector-package.mjs';
import { runs, started } from './process.mjs';
import { ask, SESSIONS, stateOf, streamOf, writeSession } from './requests.mjs';

const folder = mkdtempSync(join(tmpdir(), 'statepad-inspect-'));
after(() => rmSync(folder, { recursive: true }));
const { program, stop } = inspectorPackage();
after(stop);

const serve = async (address, ...options) =>
  await started(['serve', address, '--port', '0', ...options], { cwd: folder, program });
const inspect = async (address, ...options) =>
  await started(['inspect', address, '--no-open', ...options], { cwd: folder, program });
const inspectedBy = async (token, address, ...options) =>
  await started(['inspect', address, '--no-open', ...options], {
    cwd: folder,
    program,
    env: { STATEPAD_TOKEN: token },
  });

/** A file with a session. */
async function furnished(name) {
  const writer = await serve(name);
  assert.deepEqual(await writeSession(writer, 'monday'), [200, 200]);
  return { writer, address: join(folder, name) };
}

/** An append to the session, by the server that has a token for it. */
const append = async ({ url, token }, step) => {
  const event = { author: 'user', invocationId: 'j', actions: { stateDelta: { step } } };
  return (await ask(`${url}${SESSIONS}/monday/events`, { method: 'POST', token, body: { event } })).status;
};
const about = async ({ url, token }) => await ask(`${url}/inspector/about.json`, { token });

describe('statepad inspect', () => {
  it('prints its address and serves the page and the sessions to those with its token', async () => {
    const { writer, address } = await furnished('one.db');
    const page = await inspect(address);
    const { inspector, write } = JSON.parse(page.printed.out);
    assert.deepEqual([inspector, page.store, write], [`${page.url}/inspector/#token=${page.token}`, address, false]);
    const { status, headers } = await fetch(`${page.url}/inspector/`);
    assert.deepEqual([status, headers.get('referrer-policy')], [200, 'no-referrer']);
    assert.equal((await about({ url: page.url })).status, 401);
    assert.deepEqual((await about(page)).body, { store: address, write: false, base: '../' });
    assert.deepEqual(await stateOf(page, 'monday'), { step: 2, 'app:motd': 'hello' });
    assert.equal((await ask(page.url + SESSIONS, { token: `${page.token}x` })).status, 401);
    const end = await page.stop();
    assert.deepEqual([end.code, end.signal, end.err], [0, null, '']);
    await writer.stop();
  });

  it('shows what another process writes meanwhile, and ends its streams by a signal', async () => {
    const { writer, address } = await furnished('live.db');
    const page = await inspect(address);
    const stream = await streamOf(page, 'monday');
    await stream.until('"step":2');
    assert.equal(await append(writer, 3), 200);
    await stream.until('"step":3');
    page.child.kill('SIGINT');
    await stream.end();
    assert.deepEqual([(await page.ended).code, (await page.ended).err], [0, '']);
    await writer.stop();
  });

  it('only reads, unless it is told to write', async () => {
    const { writer, address } = await furnished('written.db');
    await writer.stop();
    const reader = await inspect(address);
    assert.equal(await append(reader, 3), 403);
    await reader.stop();
    const page = await inspect(address, '--write');
    assert.equal(JSON.parse(page.printed.out).write, true);
    assert.equal((await about(page)).body.write, true);
    assert.equal(await append(page, 4), 200);
    assert.equal((await stateOf(page, 'monday')).step, 4);
    await page.stop();
  });

  it('shows only what its filters name', async () => {
    const { writer, address } = await furnished('filtered.db');
    await writer.stop();
    const page = await inspect(address, '--app', 'tutor', '--user', 'ana', '--session', 'monday');
    assert.equal((await ask(`${page.url}${SESSIONS}/monday`, { token: page.token })).status, 200);
    for (const path of [`${SESSIONS}/tuesday`, '/v1/apps/shop/users', '/v1/apps/tutor/users/ben/sessions']) {
      assert.equal((await ask(page.url + path, { token: page.token })).status, 403, path);
    }
    await page.stop();
  });

  it('passes requests on to a server, with the token of the environment or of a file', async () => {
    const { writer } = await furnished('behind.db');
    const file = join(folder, 'token.txt');
    writeFileSync(file, `${writer.token}\n`, { mode: 0o600 });
    for (const page of [
      await inspectedBy(writer.token, writer.url),
      await inspect(writer.url, '--token-file', file),
      await inspectedBy(writer.token, writer.url, '--write'),
    ]) {
      assert.equal(page.store, writer.url);
      const stream = await streamOf(page, 'monday');
      await stream.until('"app:motd":"hello"');
      const isWriter = JSON.parse(page.printed.out).write;
      assert.equal(await append(page, 5), isWriter ? 200 : 403);
      if (isWriter) await stream.until('"step":5');
      await stream.cancel();
      const end = await page.stop();
      assert.equal(end.code, 0, end.err);
      assert.doesNotMatch(end.out + end.err, new RegExp(writer.token));
    }
    // The server has logged its requests, and no token.
    const { err } = await writer.stop();
    assert.match(err, /"operation":"watch"/);
    assert.doesNotMatch(err, new RegExp(writer.token));
  });

  it('shows the lines of an export, which cannot be written to', async () => {
    const service = new SessionService();
    await service.createSession({ appName: 'tutor', userId: 'ana', sessionId: 'monday', state: { step: 2 } });
    let lines = '';
    for await (const line of exportLines(service, { appName: 'tutor' })) lines += `${line}\n`;
    writeFileSync(join(folder, 'export.jsonl'), lines);
    const page = await inspect('export.jsonl');
    assert.deepEqual(await stateOf(page, 'monday'), { step: 2 });
    assert.equal((await page.stop()).code, 0);
    const end = await runs(['inspect', 'export.jsonl', '--no-open', '--write'], { cwd: folder, program });
    assert.deepEqual([end.code, end.out], [1, '']);
    assert.equal(end.err, 'statepad inspect: export.jsonl can only be read: leave --write out\n');
  });

  const FAILURES = [
    [['memory:', '--port', 'x'], 2, /--port must be a whole number from 0 to 65535/],
    [['nothing'], 2, /the address is of no known kind/],
    [['http://127.0.0.1:1', '--app', 'shop'], 2, /--app, --user and --session are not for a server/],
    [['http://127.0.0.1:1/'], 1, /http:\/\/127\.0\.0\.1:1\/? cannot be read: .*cannot be reached/],
    [['memory:', '--token-file', 'x'], 2, /--token-file is for the address of a server/],
  ];
  for (const [args, code, err] of FAILURES) {
    it(`refuses ${args.join(' ')}`, async () => {
      const end = await runs(['inspect', ...args, '--no-open'], { cwd: folder, program });
      assert.deepEqual([end.code, end.out], [code, '']);
      assert.match(end.err, err);
    });
  }

  it('refuses a token that the server does not know, and does not repeat it', async () => {
    const { writer } = await furnished('guarded.db');
    const env = { STATEPAD_TOKEN: 'wr0ng-t0ken' };
    const end = await runs(['inspect', writer.url, '--no-open'], { cwd: folder, program, env });
    assert.equal(end.code, 1);
    assert.match(end.err, /cannot be read: the server does not know the token/);
    assert.doesNotMatch(end.err, /wr0ng/);
    await writer.stop();
  });

  it('names a port that is taken', async () => {
    const page = await inspect('memory:');
    const { port } = new URL(page.url);
    const end = await runs(['inspect', 'memory:', '--no-open', '--port', port], { cwd: folder, program });
    assert.equal(end.code, 1);
    assert.match(end.err, new RegExp(`^statepad inspect: port ${port} of 127\\.0\\.0\\.1 cannot be used: `));
    await page.stop();
  });
});

describe('the browser', { skip: process.platform !== 'linux' && 'xdg-open is of Linux' }, () => {
  /** A folder with an xdg-open that writes down its arguments. */
  function opener() {
    const bin = mkdtempSync(join(folder, 'bin-'));
    const written = join(bin, 'args');
    writeFileSync(
      join(bin, 'xdg-open'),
      `#!/bin/sh\nprintf '%s\\n' "$@" > "${written}.part"\nmv "${written}.part" "${written}"\n`,
    );
    chmodSync(join(bin, 'xdg-open'), 0o755);
    const args = new Promise((resolve) => {
      const look = () => existsSync(written) && resolve(readFileSync(written, 'utf8').trim().split('\n'));
      const watcher = watch(bin, look);
      after(() => watcher.close());
      look();
    });
    return { args, env: { PATH: `${bin}${delimiter}${process.env.PATH}` } };
  }

  it('is given an address that leads to the page once, and in which there is no token', async () => {
    const { args, env } = opener();
    const page = await started(['inspect', 'memory:'], { cwd: folder, program, env });
    const [url, ...others] = await args;
    assert.deepEqual(others, []);
    assert.match(url, new RegExp(`^${page.url}/inspector/open/[\\w-]{43}$`));
    assert.ok(!url.includes(page.token));
    const head = await fetch(url, { method: 'HEAD', redirect: 'manual' });
    assert.equal(head.status, 405, 'a look at it does not use it up');
    assert.equal((await ask(url.replace(/.$/, ''))).status, 410);
    assert.equal((await ask(url, { headers: { host: 'evil.example' } })).status, 403);
    const opened = await ask(url);
    assert.deepEqual([opened.status, opened.headers['cache-control']], [303, 'no-store']);
    assert.equal(new URL(opened.headers.location, url).href, `${page.url}/inspector/#token=${page.token}`);
    const again = await ask(url);
    assert.deepEqual([again.status, again.headers.location], [410, undefined]);
    assert.equal((await page.stop()).err, '');
  });

  it('may be missing: the address is printed anyway', async () => {
    const page = await started(['inspect', 'memory:'], {
      cwd: folder,
      program,
      env: { PATH: mkdtempSync(join(folder, 'no-')) },
    });
    assert.equal((await about(page)).status, 200);
    const end = await page.stop();
    assert.deepEqual([end.code, end.err], [0, '']);
  });
});

describe('the inspector of statepad serve', () => {
  it('is named by the greeting, and has the rights of the tokens of the server', async () => {
    const file = join(folder, 'tokens.txt');
    writeFileSync(file, 'reader-reader-reader users=ana writes=\nwriter-writer-writer\n', { mode: 0o600 });
    const server = await serve('memory:', '--base-path', '/agents', '--token-file', file);
    const { inspector } = JSON.parse(server.printed.out);
    assert.equal(inspector, `${server.url}/inspector/`);
    assert.equal((await fetch(inspector)).status, 200);
    assert.equal((await about({ url: server.url })).status, 401);
    for (const [token, write] of [
      ['reader-reader-reader', false],
      ['writer-writer-writer', true],
    ]) {
      assert.deepEqual((await about({ url: server.url, token })).body, { store: 'memory:', write, base: '../' });
    }
    const end = await server.stop();
    assert.match(end.err, /"operation":"inspector","method":"GET","status":200/);
    assert.doesNotMatch(end.err, /reader-reader|writer-writer|agents/);
  });

  it('needs no token where the server asks for none', async () => {
    const server = await serve('memory:', '--insecure');
    assert.equal((await about({ url: server.url })).status, 200);
    await server.stop();
  });

  it('is left out by an option', async () => {
    const server = await serve('memory:', '--no-inspector');
    assert.deepEqual(Object.keys(JSON.parse(server.printed.out)), ['listening', 'store', 'token']);
    assert.equal((await ask(`${server.url}/inspector/`)).status, 404);
    await server.stop();
  });

  it('is missing with a warning where its files are not there', async () => {
    const bare = inspectorPackage({});
    const server = await started(['serve', 'memory:', '--port', '0'], { cwd: folder, program: bare.program });
    assert.equal((await ask(`${server.url}/healthz`)).status, 200);
    const { err } = await server.stop();
    assert.match(err, /"level":"warn","message":"the files of the inspector are not in /);
    bare.stop();
  });
});
