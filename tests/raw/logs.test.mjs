// The logs of the service that the crate has by itself: damaged ones are read as the package reads them, and each
// reads what the other has written; what becomes of writes when `persist` fails, is late, or is alone.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { test } from 'node:test';
import { SessionService as PackageService } from 'statepad';
import { damagedLogs, keeping, told, written } from '../support/damaged-logs.mjs';
import { persistTests } from '../support/persisting.mjs';
import { rawBuild } from './build.mjs';

const { SessionService } = await import(pathToFileURL(join(await rawBuild('nodejs'), 'statepad.js')).href);
const services = [SessionService, PackageService];
const serve = (Service, records) => new Service({ ...keeping(records), now: () => 30 });

for (const { name, records, wanted } of damagedLogs) {
  test(`the crate's service reads ${name}: one bad record is the fault of its session alone`, async () => {
    const kept = [...records];
    const service = serve(SessionService, kept);
    assert.deepEqual(await told(service), wanted.told);
    assert.deepEqual(kept, records, 'reading writes nothing');
    assert.deepEqual(await written(service), wanted.written);
    const after = await told(service);
    for (const Service of services) {
      assert.deepEqual(await told(serve(Service, kept)), after);
    }
  });

  test(`the crate's service reads ${name} when the package has written more`, async () => {
    const kept = [...records];
    const service = serve(PackageService, kept);
    assert.deepEqual(await written(service), wanted.written);
    assert.deepEqual(await told(serve(SessionService, kept)), await told(service));
  });
}

persistTests("the crate's service", SessionService, services, { timeout: 50 });
