// google-adk's own client for Agent Engine over a door, in the newest version.

import { doorTests } from './door/door.mjs';

doorTests('adk-python');
