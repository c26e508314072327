// google-adk's own client for Agent Engine at a server of `statepad/serve`, in the oldest version 2 that pip gives.

import { serverTests } from '../adk-python/server/tests.mjs';

// It makes a client for each request, which takes its time.
serverTests('adk-python-oldest', { count: 10 });
