// The files of the inspector beside the routes: what is answered, to whom, and under which headers.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { FILES, inspectorPackage } from '../../support/inspector-package.mjs';
import { inspectorFiles, serve } from './inspector.mjs';

const inspector = await inspectorFiles({ label: 'sessions.db' });
const READER = { id: 'reader', apps: 'all', users: 'all', writes: [] };
const WRITER = { id: 'writer', apps: 'all', users: 'all' };
const authorize = ({ headers }) =>
  ({ 'Bearer reader': READER, 'Bearer writer': WRITER })[headers.get('authorization') ?? ''];
const lines = [];
const handler = serve(new SessionService(), {
  authorize,
  inspector,
  basePath: '/agents',
  hosts: ['localhost'],
  onRequest: (line) => lines.push(line),
});
const ask = async (path, init = {}) => await handler(new Request(`http://localhost/agents/inspector${path}`, init));
const served = Object.entries(FILES).filter(([, [, type]]) => type !== undefined);

describe('the files of the inspector', () => {
  for (const [name, [content, type]] of served) {
    it(`${name} has its type and its bytes, for everyone`, async () => {
      const answer = await ask(`/${name}`);
      assert.deepEqual([answer.status, answer.headers.get('content-type')], [200, type]);
      assert.equal(answer.headers.get('content-length'), String(Buffer.byteLength(content)));
      assert.equal(await answer.text(), content);
    });
  }

  it('all have the headers that keep other pages out', async () => {
    for (const [name] of served) {
      const { headers } = await ask(`/${name}`);
      assert.equal(
        headers.get('content-security-policy'),
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; " +
          "img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; " +
          "frame-ancestors 'none'",
      );
      for (const [header, value] of [
        ['cache-control', 'no-cache'],
        ['cross-origin-opener-policy', 'same-origin'],
        ['cross-origin-resource-policy', 'same-origin'],
        ['referrer-policy', 'no-referrer'],
        ['x-content-type-options', 'nosniff'],
        ['x-frame-options', 'DENY'],
      ]) {
        assert.equal(headers.get(header), value, `${name}: ${header}`);
      }
    }
  });

  it('has the page at the folder itself, and leads there from the path without its slash', async () => {
    assert.equal(await (await ask('/')).text(), FILES['index.html'][0]);
    const { status, headers } = await ask('');
    assert.deepEqual([status, headers.get('location')], [308, 'inspector/']);
  });

  it('answers a browser that has a file that it is the same', async () => {
    const etag = (await ask('/index.html')).headers.get('etag');
    const again = await ask('/index.html', { headers: { 'if-none-match': `"other", ${etag}` } });
    assert.deepEqual([again.status, await again.text(), again.headers.get('etag')], [304, '', etag]);
    assert.equal((await ask('/index.html', { headers: { 'if-none-match': '"other"' } })).status, 200);
  });

  for (const name of ['notes.txt', '.made-from', 'assets', 'assets/', 'none.js', 'constructor', '__proto__']) {
    it(`has nothing at ${name}`, async () => {
      assert.equal((await ask(`/${name}`)).status, 404);
    });
  }

  for (const name of ['/../package.json', '/..%2fpackage.json', '/%2e%2e/package.json', '//etc/passwd']) {
    it(`never looks for ${name} in a file system`, async () => {
      const { status } = await ask(name);
      assert.equal(status, 404);
    });
  }

  for (const method of ['POST', 'DELETE', 'PATCH', 'PUT']) {
    it(`takes no ${method}`, async () => {
      assert.equal((await ask('/index.html', { method })).status, 405);
    });
  }

  it('answers neither a foreign Host nor another origin', async () => {
    for (const headers of [{ host: 'evil.example' }, { origin: 'https://evil.example' }, { origin: 'null' }]) {
      for (const path of ['/', '/assets/page.js', '/about.json']) {
        const answer = await ask(path, { headers });
        assert.equal(answer.status, 403, `${path} ${JSON.stringify(headers)}`);
        assert.doesNotMatch(await answer.text(), /doctype|export/);
      }
    }
  });

  it('are logged by their operation, without their paths', () => {
    const own = lines.filter(({ operation }) => operation === 'inspector');
    assert.ok(own.length > 5);
    assert.deepEqual(Object.keys(own[0]).sort(), ['duration', 'method', 'operation', 'status']);
  });

  it('are not there without the option', async () => {
    const plain = serve(new SessionService(), { authorize });
    assert.equal((await plain(new Request('http://localhost/inspector/'))).status, 404);
  });
});

describe('the facts about the server', () => {
  const about = async (token) => await ask('/about.json', token && { headers: { authorization: `Bearer ${token}` } });

  it('are for those with a token: they name the store', async () => {
    for (const token of [undefined, 'wrong']) {
      const answer = await about(token);
      assert.equal(answer.status, 401);
      assert.doesNotMatch(await answer.text(), /sessions\.db/);
    }
  });

  for (const [token, write] of [
    ['reader', false],
    ['writer', true],
  ]) {
    it(`tell the ${token} whether it may write`, async () => {
      const answer = await about(token);
      assert.deepEqual(await answer.json(), { store: 'sessions.db', write, base: '../' });
      assert.equal(answer.headers.get('cache-control'), 'no-store');
    });
  }
});

describe('the reading of the files', () => {
  it('fails where there are none, and says why that may be', async () => {
    for (const files of [{}, { 'page.js': ['', 'text/javascript'] }]) {
      const bare = inspectorPackage(files);
      try {
        const { inspectorFiles: read } = await bare.load('inspect');
        await assert.rejects(read(), /the files of the inspector are not in .*page.*: a bundled program/);
      } finally {
        bare.stop();
      }
    }
  });

  it('refuses options that it does not know', async () => {
    await assert.rejects(inspectorFiles({ labl: 'x' }), { code: 'INVALID_ARGUMENT' });
    await assert.rejects(inspectorFiles({ label: '' }), { code: 'INVALID_ARGUMENT', path: 'label' });
    assert.throws(() => serve(new SessionService(), { insecure: true, inspector: {} }), { path: 'inspector' });
  });
});

describe('a server that asks for no token', () => {
  it('tells its facts to everyone', async () => {
    const open = serve(new SessionService(), { insecure: true, inspector });
    const answer = await open(new Request('http://localhost/inspector/about.json'));
    assert.deepEqual(await answer.json(), { store: 'sessions.db', write: true, base: '../' });
  });
});
