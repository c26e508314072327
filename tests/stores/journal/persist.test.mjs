// `persist`, with and without `restore`, when it fails or is late. The service that the crate has by itself is held to
// the same in tests/raw/logs.test.mjs.

import { SessionService } from 'statepad';
import { persistTests } from '../../support/persisting.mjs';

persistTests('the package', SessionService, [SessionService], { timeout: 50, retry: { attempts: 1 } });
