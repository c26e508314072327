// The fake on hosts that are not Node: it needs nothing of Node's own, and answers the same.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';
import { EdgeVM } from '@edge-runtime/vm';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { fakeVertexAi } from '../../support/vertex.mjs';
import { asker, addressOf, makeSession } from '../ask.mjs';

const PROGRAM = `
  import { fakeVertexAi } from '../../support/vertex/index.ts';
  export async function converse() {
    const vertex = fakeVertexAi({ now: () => 0, random: () => 0.5 });
    const ask = async (method, path, body) => {
      const response = await vertex.fetch(${JSON.stringify(addressOf('/sessions'))} + path, { method, body });
      return [response.status, await response.json()];
    };
    return [
      await ask('POST', '?sessionId=s1', '{"userId":"ann","sessionState":{"b":1,"a":[-0.0]}}'),
      await ask('POST', '/s1:appendEvent', '{"author":"a","invocationId":"i","timestamp":"2026-01-01T00:00:00.5Z"}'),
      await ask('GET', '/s1/events?pageSize=1'),
      await ask('POST', '', '{"userId":"\\\\ud800"}'),
      await ask('GET', '/s1'),
    ];
  }
`;

/** The program, ready to run somewhere. */
async function bundle(run, format) {
  const { outputFiles, metafile } = await build({
    stdin: { contents: PROGRAM + run, resolveDir: fileURLToPath(new URL('.', import.meta.url)) },
    bundle: true,
    format,
    platform: 'browser',
    metafile: true,
    write: false,
  });
  assert.deepEqual(
    Object.values(metafile.outputs).flatMap(({ imports }) => imports),
    [],
  );
  return outputFiles[0].text;
}

describe('the fake answers the same', () => {
  let expected;
  before(async () => {
    const text = await bundle('', 'esm');
    const { converse } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
    expected = await converse();
    assert.deepEqual(
      expected.map(([status]) => status),
      [200, 200, 200, 400, 200],
    );
  });

  test('in the edge runtime', async () => {
    const vm = new EdgeVM();
    vm.evaluate(await bundle('globalThis.told = converse().then(JSON.stringify);', 'iife'));
    assert.deepEqual(JSON.parse(await vm.evaluate('told')), JSON.parse(JSON.stringify(expected)));
  });

  test('in workerd', async () => {
    const script = await bundle('export default { fetch: async () => Response.json(await converse()) };', 'esm');
    const worker = new Miniflare({ modules: true, script, compatibilityDate: '2025-01-01', cf: false });
    try {
      const response = await worker.dispatchFetch('http://localhost/');
      assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(expected)));
    } finally {
      await worker.dispose();
    }
  });

  describe('behind a server of Node', () => {
    let server;
    let vertex;
    before(async () => {
      vertex = fakeVertexAi();
      server = createServer(async (request, response) => {
        const { method, headers } = request;
        const body = Buffer.concat(await request.toArray());
        const init = { method, headers, ...(body.length > 0 && { body }) };
        const answer = await vertex.fetch(`http://${headers.host}${request.url}`, init);
        response.writeHead(answer.status, Object.fromEntries(answer.headers));
        response.end(await answer.text());
      });
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    });
    after(() => new Promise((resolve) => server.close(resolve)));

    test('and is asked for over HTTP', async () => {
      const ask = asker({
        fetch: (url, init) =>
          fetch(url.replace(/^https:\/\/[^/]*/, `http://127.0.0.1:${server.address().port}`), init),
      });
      assert.equal((await makeSession(ask, 's1')).status, 200);
      assert.equal((await ask('GET /sessions/s1')).body.userId, 'ann');
      assert.equal((await ask('DELETE /sessions/s1', {})).body.done, true);
      assert.equal((await ask('GET /sessions/s1')).status, 404);
      assert.equal(vertex.requests.length, 4);
    });
  });
});
