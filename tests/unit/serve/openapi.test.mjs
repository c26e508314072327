// The description of the routes: valid, and kept by a linter of others.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { SessionService } from 'statepad';
import { serverOver } from './server.mjs';
import { COLUMNS } from './rights.mjs';

const redocly = fileURLToPath(new URL('../../../node_modules/@redocly/cli/bin/cli.js', import.meta.url));

describe('the description of the routes', () => {
  it('has no fault that the linter of Redocly knows', async () => {
    const { ask } = serverOver(new SessionService());
    const { body } = await ask('GET', '/openapi.json', { client: COLUMNS[0] });
    const folder = mkdtempSync(join(tmpdir(), 'statepad-openapi-'));
    try {
      writeFileSync(join(folder, 'openapi.json'), JSON.stringify(body));
      const { stdout } = spawnSync(process.execPath, [redocly, 'lint', 'openapi.json', '--format=json'], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      });
      const { problems, totals } = JSON.parse(stdout);
      assert.deepEqual(
        problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
        [],
      );
      assert.deepEqual([totals.errors, totals.warnings], [0, 0]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('names the path below which the server is mounted', async () => {
    const { handler } = serverOver(new SessionService(), { basePath: '/agents/server' });
    const { servers } = await (await handler(new Request('http://host/agents/server/openapi.json'))).json();
    assert.deepEqual(servers, [{ url: '/agents/server' }]);
    assert.equal((await handler(new Request('http://host/openapi.json'))).status, 404);
  });
});
