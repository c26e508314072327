// All routes.

import { descriptionRoute } from './description.js';
import { EVENT_ROUTES } from './events.js';
import { HEALTH_ROUTES } from './health.js';
import { LEASE_ROUTES } from './leases.js';
import { LIST_ROUTES } from './lists.js';
import { PAST_ROUTES } from './past.js';
import { REWIND_ROUTES } from './rewinding.js';
import { SESSION_ROUTES } from './sessions.js';
import { STATE_ROUTES } from './state.js';
import { SWEEP_ROUTES } from './sweeping.js';
import { WATCH_ROUTES } from './watching.js';
import type { Route } from './route.js';

/** All routes, in the order of their description. */
export const ROUTES: readonly Route[] = [
  ...LIST_ROUTES,
  ...SESSION_ROUTES,
  ...REWIND_ROUTES,
  ...EVENT_ROUTES,
  ...STATE_ROUTES,
  ...PAST_ROUTES,
  ...LEASE_ROUTES,
  ...SWEEP_ROUTES,
  ...WATCH_ROUTES,
  ...HEALTH_ROUTES,
  descriptionRoute(() => ROUTES),
];
