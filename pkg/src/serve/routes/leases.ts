// Routes of leases: one runner at a time for a session.

import { PATHS } from '../../http/paths.js';
import { newId } from '../../model/ids.js';
import { HELD_LEASE, LEASE, TEXT } from './components.js';
import { namedSession, writeProof } from './shared.js';
import { route, type Answer } from './route.js';
import type { Schema } from './schema.js';
import type { LeaseProof } from '../../service/serving-access.js';

/** The duration of a lease without a `ttl`, in milliseconds. */
const DEFAULT_TTL_MS = 30_000;

const TTL = {
  type: 'integer',
  minimum: 1,
  maximum: 2 ** 31 - 1,
  description: "The duration from now on, in milliseconds by the store's clock; 30,000 by default.",
} as const satisfies Schema;

const takeLease = route(
  {
    operation: 'takeLease',
    method: 'POST',
    path: PATHS.lease,
    group: 'leases',
    summary: 'Takes the lease of a session.',
    description: 'A holder that asks again has it still: send the same `holder` when an answer was lost.',
    access: { writes: 'session' },
    headers: ['creation'],
    body: {
      type: 'object',
      properties: {
        ttl: TTL,
        holder: {
          ...TEXT,
          minLength: 1,
          maxLength: 255,
          description: 'Unique for each lease; generated when absent.',
        },
      },
      additionalProperties: false,
    },
    answers: { 200: { description: 'The lease.', schema: LEASE } },
    errors: ['SESSION_NOT_FOUND', 'LEASE_HELD', 'COMMIT_UNKNOWN'],
  },
  async (asked) => {
    const { context, ids } = asked;
    const { ttl = DEFAULT_TTL_MS, holder = newId() } = asked.body;
    await namedSession(asked);
    const { fence, until, created } = await (await context.access()).lease(ids, { holder, ttl });
    return leased({ token: fence, holder, created }, until, ttl);
  },
);

const getLease = route(
  {
    operation: 'getLease',
    method: 'GET',
    path: PATHS.lease,
    group: 'leases',
    summary: 'The lease of a session that somebody has.',
    access: { reads: 'session' },
    answers: {
      200: {
        description: 'The lease: without `lease` when nobody has one, or its time is over.',
        schema: { type: 'object', properties: { lease: HELD_LEASE } },
      },
    },
    errors: ['SESSION_NOT_FOUND'],
  },
  async (asked) => {
    const lease = await asked.context.service.leaseOf(await namedSession(asked));
    return { body: lease === undefined ? {} : { lease } };
  },
);

const renewLease = route(
  {
    operation: 'renewLease',
    method: 'POST',
    path: PATHS.renewLease,
    group: 'leases',
    summary: 'Makes a lease last longer.',
    access: { writes: 'session' },
    headers: ['lease'],
    needs: ['lease'],
    body: { type: 'object', properties: { ttl: TTL }, additionalProperties: false },
    answers: { 200: { description: 'The lease.', schema: LEASE } },
    errors: ['SESSION_NOT_FOUND', 'LEASE_LOST', 'COMMIT_UNKNOWN'],
  },
  async ({ context, ids, body: { ttl = DEFAULT_TTL_MS }, proof: given }) => {
    const proof = given as LeaseProof;
    const { until } = await (await context.access()).lease(ids, { holder: proof.holder, ttl, proof });
    return leased(proof, until, ttl);
  },
);

const releaseLease = route(
  {
    operation: 'releaseLease',
    method: 'DELETE',
    path: PATHS.lease,
    group: 'leases',
    summary: 'Releases a lease. To release it once more is no error.',
    access: { writes: 'session' },
    headers: ['lease'],
    needs: ['lease'],
    answers: { 204: { description: 'It is released.' } },
    errors: ['SESSION_NOT_FOUND', 'LEASE_LOST', 'COMMIT_UNKNOWN'],
  },
  async ({ context, ids, proof: given }) => {
    const proof = given as LeaseProof;
    await (await context.access()).lease(ids, { holder: proof.holder, ttl: 0, proof });
    return {};
  },
);

/** The routes of leases. */
export const LEASE_ROUTES = [getLease, takeLease, renewLease, releaseLease];

function leased(proof: LeaseProof, until: number, ttl: number): Answer {
  return { body: { lease: writeProof(proof), token: proof.token, until, ttl } };
}
