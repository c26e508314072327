// google-adk's own client for Agent Engine over a door, in the oldest version 2 that pip gives.

import { doorTests } from '../adk-python/door/door.mjs';

// It makes a client for each request, which takes its time.
doorTests('adk-python-oldest', { count: 10 });
