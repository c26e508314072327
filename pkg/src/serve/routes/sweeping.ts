// Routes that remove what has expired.

import { PATHS } from '../../http/paths.js';
import { route, type Answer, type Asked, type Declaration } from './route.js';
import type { Schema, ValueOf } from './schema.js';

/** The most that one request removes, and the number without a `limit`: a request is answered within its time. */
const MOST = 1_000;
const DEFAULT_LIMIT = 500;

const SWEEP = {
  type: 'object',
  properties: {
    limit: {
      type: 'integer',
      minimum: 1,
      description: `The most sessions and users together; ${DEFAULT_LIMIT} by default. At most ${MOST} are removed.`,
    },
    dryRun: { type: 'boolean', description: 'True to remove nothing, and to count all that has expired.' },
  },
  additionalProperties: false,
} as const satisfies Schema;

const COUNT = { type: 'integer', minimum: 0 } as const;

const SWEPT = {
  description: 'The numbers of what was removed, or would be.',
  schema: {
    type: 'object',
    properties: {
      sessions: { ...COUNT, description: 'Sessions that have expired.' },
      users: { ...COUNT, description: 'Users without sessions, whose values are older than the server keeps them.' },
      more: { type: 'boolean', description: 'True where there may be more: ask again.' },
    },
    required: ['sessions', 'users', 'more'],
  },
} as const;

/** The common part of both routes. */
const SWEEPING = {
  method: 'POST',
  group: 'growth',
  description: 'It takes the right `sweep`, and may be sent again, and by several clients at once.',
  access: { may: 'sweep' },
  body: SWEEP,
  answers: { 200: SWEPT },
  errors: ['COMMIT_UNKNOWN'],
} as const;

const sweepAll = route(
  { ...SWEEPING, operation: 'sweep', path: PATHS.sweep, summary: 'Removes what has expired, of all apps.' },
  async (asked) => await swept(asked, undefined),
);

const sweepApp = route(
  { ...SWEEPING, operation: 'sweepApp', path: PATHS.sweepApp, summary: 'Removes what has expired, of an app.' },
  async (asked) => await swept(asked, asked.ids.appName),
);

/** The routes that sweep. */
export const SWEEP_ROUTES = [sweepAll, sweepApp];

async function swept(
  {
    context,
    body,
    request: { signal },
  }: Pick<Asked<Declaration>, 'context' | 'request'> & {
    readonly body: ValueOf<typeof SWEEP>;
  },
  appName: string | undefined,
): Promise<Answer> {
  const { dryRun = false } = body;
  const limit = dryRun ? body.limit : Math.min(body.limit ?? DEFAULT_LIMIT, MOST);
  const { sessions, users } = await context.service.sweep({ appName, limit, dryRun, signal });
  return { body: { sessions, users, more: limit !== undefined && sessions + users >= limit } };
}
