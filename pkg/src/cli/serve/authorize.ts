// The principal of a request, by its token.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ALL_SCOPES, ALL_WORKS, type KnownToken } from './token-file.js';
import type { Authorize, Principal } from '../../serve.js';

/** The bytes of a token that is made. */
const TOKEN_BYTES = 32;

/** Makes a token that may do everything. Its principal has the same name in every run. */
export function madeToken(): KnownToken {
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  return { token, principal: { id: 'owner', apps: 'all', users: 'all', writes: ALL_SCOPES, may: ALL_WORKS } };
}

/**
 * Finds the principal of a request by the token in `authorization` or in `x-goog-api-key`. Each comparison takes as
 * long as any other, and all tokens are compared: the time of an answer tells nothing about a token.
 */
export function authorizeBy(tokens: readonly KnownToken[]): Authorize {
  const known = tokens.map(({ token, principal }) => ({ digest: digestOf(token), principal }));
  const principalOf = (token: string): Principal | undefined => {
    const digest = digestOf(token);
    let found: Principal | undefined;
    for (const { digest: other, principal } of known) {
      found = timingSafeEqual(digest, other) ? principal : found;
    }
    return found;
  };
  return ({ headers }) => {
    const given = [bearerIn(headers.get('authorization')), headers.get('x-goog-api-key')];
    const [first, second] = given.map((token) => principalOf(token ?? ''));
    return first ?? second;
  };
}

function bearerIn(header: string | null): string | undefined {
  return /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
}

function digestOf(token: string): Uint8Array {
  return createHash('sha256').update(token).digest();
}
