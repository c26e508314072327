// All routes.

import { EVENT_ROUTES } from './events.js';
import { SESSION_ROUTES } from './sessions.js';
import type { Route } from './route.js';

/** All routes, in the order of their description. */
export const ROUTES: readonly Route[] = [...SESSION_ROUTES, ...EVENT_ROUTES];
