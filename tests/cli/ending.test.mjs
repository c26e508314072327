// The end of `statepad serve`: what is under way is answered, streams end, and a second signal does not wait.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { after, describe, it } from 'node:test';
import { clearInterval, setInterval } from 'node:timers';
import { started } from './process.mjs';
import { ask, SESSIONS, stateOf, streamOf, writeSession } from './requests.mjs';

const folder = mkdtempSync(join(tmpdir(), 'statepad-ending-'));
after(() => rmSync(folder, { recursive: true }));

/** A request whose body is sent in part; it has arrived when this resolves. */
async function half({ url, token }, body) {
  const text = JSON.stringify(body);
  const sent = request(url + SESSIONS, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', expect: '100-continue' },
  });
  const answered = new Promise((resolve, reject) => sent.once('response', resolve).once('error', reject));
  answered.catch(() => undefined);
  sent.flushHeaders();
  // The server has read the headers then.
  await new Promise((resolve) => sent.once('continue', resolve));
  sent.write(text.slice(0, 5));
  return { answered, finish: () => sent.end(text.slice(5)) };
}

describe('a server that is told to end', () => {
  for (const signal of ['SIGTERM', 'SIGINT']) {
    it(`by ${signal} answers the request that is under way, and what it wrote is kept`, async () => {
      const address = join(folder, `${signal}.db`);
      const server = await started(['serve', address, '--port', '0']);
      const { answered, finish } = await half(server, { sessionId: 'late', state: { step: 1 } });
      server.child.kill(signal);
      await refusing(server);
      finish();
      const response = await answered;
      assert.deepEqual([response.statusCode, (await json(response)).id], [200, 'late']);
      const end = await server.ended;
      assert.deepEqual([end.code, end.signal], [0, null], end.err);
      const next = await started(['serve', address, '--port', '0']);
      assert.deepEqual(await stateOf(next, 'late'), { step: 1 });
      await next.stop();
    });
  }

  it('takes a signal that comes twice at once for one, as npx passes them on', async () => {
    const server = await started(['serve', 'memory:', '--port', '0']);
    const { answered, finish } = await half(server, { sessionId: 'late' });
    server.child.kill('SIGINT');
    server.child.kill('SIGINT');
    await refusing(server);
    finish();
    assert.equal((await answered).statusCode, 200);
    assert.equal((await server.ended).code, 0);
  });

  it('ends at once by a later signal', async () => {
    const server = await started(['serve', 'memory:', '--port', '0', '--grace', '3600']);
    const { answered } = await half(server, { sessionId: 'late' });
    const isCut = assert.rejects(answered, { code: 'ECONNRESET' });
    const again = setInterval(() => server.child.kill('SIGTERM'), 100);
    const end = await server.ended;
    clearInterval(again);
    await isCut;
    assert.equal(end.code, 1);
    assert.match(end.err, /SIGTERM: ended at once/);
  });

  it('cuts off what takes longer than the grace, and ends with 1', async () => {
    const server = await started(['serve', 'memory:', '--port', '0', '--grace', '0']);
    const { answered } = await half(server, { sessionId: 'late' });
    const isCut = assert.rejects(answered, { code: 'ECONNRESET' });
    const end = await server.stop();
    await isCut;
    assert.equal(end.code, 1);
    assert.match(end.err, /requests cut off after 0 s: 1/);
  });

  it('ends the streams that are open', async () => {
    const server = await started(['serve', 'memory:', '--port', '0']);
    assert.deepEqual(await writeSession(server, 'monday'), [200, 200]);
    const stream = await streamOf(server, 'monday');
    await stream.until('"step":2');
    server.child.kill('SIGTERM');
    await stream.end();
    assert.equal((await server.ended).code, 0);
  });
});

/** Resolves when a server takes no connection any more. */
async function refusing({ url }) {
  for (;;) {
    const error = await ask(`${url}/healthz`).catch((reason) => reason);
    if (error.code === 'ECONNREFUSED') return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
