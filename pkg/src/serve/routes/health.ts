// Routes for what runs the server. They need no principal.

import { PATHS } from '../../http/paths.js';
import { StatepadError } from '../../model/errors.js';
import { OK } from './components.js';
import { route } from './route.js';
import type { ServerContext } from '../api.js';

const health = route(
  {
    operation: 'health',
    method: 'GET',
    path: PATHS.health,
    group: 'server',
    summary: 'Answers as long as the server runs.',
    access: 'anyone',
    answers: { 200: { description: 'It runs.', schema: OK } },
    errors: [],
  },
  async () => ({ body: { ok: true } }),
);

const readiness = route(
  {
    operation: 'readiness',
    method: 'GET',
    path: PATHS.readiness,
    group: 'server',
    summary: 'Answers whether the store answers.',
    access: 'anyone',
    answers: { 200: { description: 'The store answers.', schema: OK } },
    errors: [],
  },
  async ({ context }) => {
    await askStoreOnce(context);
    return { body: { ok: true } };
  },
);

/** The routes for what runs the server. */
export const HEALTH_ROUTES = [health, readiness];

/** Questions that are under way: anyone may ask, and the store is asked once at a time. */
const asking = new WeakMap<ServerContext, Promise<void>>();

async function askStoreOnce(context: ServerContext): Promise<void> {
  let question = asking.get(context);
  if (question === undefined) {
    question = askStore(context).finally(() => asking.delete(context));
    asking.set(context, question);
  }
  await question;
}

/** A name that no app has. */
const NOBODY = 'statepad/readyz';

/** Asks the store something that it finds at once. Throws `STORE_UNAVAILABLE`. */
async function askStore(context: ServerContext): Promise<void> {
  try {
    const access = await context.access();
    await (access.hasOwners ? access.owners(NOBODY, NOBODY) : context.service.getAppState({ appName: NOBODY }));
  } catch (cause) {
    throw new StatepadError('STORE_UNAVAILABLE', 'the store does not answer', { cause });
  }
}
