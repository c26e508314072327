// google-adk's own client for Agent Engine against a server of `statepad/serve`, in the newest version.

import { serverTests } from './server/tests.mjs';

serverTests('adk-python');
