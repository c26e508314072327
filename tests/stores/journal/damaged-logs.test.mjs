// Records that were damaged where `persist` keeps them: what the package tells of them, and what can be written then.
// The service that the crate has by itself is held to the same in tests/raw/logs.test.mjs.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionService } from 'statepad';
import { damagedLogs, keeping, told, written } from '../../support/damaged-logs.mjs';

const serve = (records) => new SessionService({ ...keeping(records), now: () => 30 });

for (const { name, records, wanted } of damagedLogs) {
  test(`the package reads ${name}: one bad record is the fault of its session alone`, async () => {
    const kept = [...records];
    const service = serve(kept);
    assert.deepEqual(await told(service), wanted.told);
    assert.deepEqual(kept, records, 'reading writes nothing');
    assert.deepEqual(await written(service), wanted.written);
    assert.deepEqual(await told(serve(kept)), await told(service));
  });
}
