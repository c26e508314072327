// Laws of the service that hold for a client, too: whatever is done, it equals the model, and every handle shows what
// it should.

import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Twin, operations } from '../../contract/model.mjs';
import { clientOf } from '../../support/client.mjs';
import { runs } from '../../support/fixtures.mjs';

describe('a client equals the model of the service under random operations', () => {
  const through = (service) => clientOf(service, { retry: { attempts: 2, pause: 0 } }, { onError: () => undefined });
  const kinds = {
    'of a service in memory': { stored: false },
    'of a service with a store that fails now and then': { stored: true },
    'of two services over one store in turn': { stored: true, services: 2 },
    'of three services over one store, with little room': { stored: true, services: 3, cachedEvents: 3 },
  };
  for (const [name, kind] of Object.entries(kinds)) {
    test(name, async () => {
      const property = fc.asyncProperty(operations, async (steps) => {
        const twin = new Twin({ ...kind, through });
        for (const step of steps) {
          await twin.run(step);
        }
        await twin.end();
      });
      await fc.assert(property, { numRuns: runs(100) });
    });
  }
});
