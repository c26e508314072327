// The rights of clients over statepad's own routes: every operation, for every kind of client.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SessionService } from 'statepad';
import { serverOver, openServer } from './server.mjs';
import { COLUMNS, TABLE } from './rights.mjs';

/** A lease that the server has not given. */
const forged = Buffer.from(JSON.stringify({ token: 1, holder: 'x', created: 'y' })).toString('base64url');

/** The statuses of a row, by client. */
function statusesOf(ok, rights) {
  const statuses = rights.split(' ').map((status) => (status === '.' ? ok : Number(status)));
  assert.equal(statuses.length, COLUMNS.length, 'a status for each client');
  return Object.fromEntries(COLUMNS.map((client, index) => [client, statuses[index]]));
}

const clientOf = (column) => (column === '-' ? null : column);

describe('the table of rights', () => {
  it('has every operation of the routes', async () => {
    const { ask, service } = await openServer();
    const { body } = await ask('GET', '/openapi.json');
    const described = Object.values(body.paths).flatMap((methods) =>
      Object.values(methods).map((each) => each.operationId),
    );
    assert.deepEqual(new Set(TABLE.map(([operation]) => operation)), new Set(described));
    await service.close();
  });
});

for (const [operation, what, method, path, body, ok, rights, headers = {}] of TABLE) {
  describe(`${operation} ${what}`.trim(), () => {
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value === 'FORGED' ? forged : value]),
    );
    for (const [column, status] of Object.entries(statusesOf(ok, rights))) {
      it(`answers ${status} to ${column}`, async () => {
        const { ask, service } = await openServer();
        const options = { client: clientOf(column), body, headers: sent };
        const answer = await ask(method, path, options);
        assert.deepEqual([answer.operation, answer.status], [operation, status], JSON.stringify(answer.body));
        if (status === 403) {
          // The same answer, to the byte, where nothing is there.
          const empty = new SessionService();
          const other = await serverOver(empty).ask(method, path, options);
          assert.deepEqual([other.status, other.body], [403, answer.body]);
          await empty.close();
        }
        await service.close();
      });
    }
  });
}
