// Cross-origin requests: the origins that may read answers.

import { checkOptions, invalid } from '../checks/arguments.js';
import type { Incoming } from './incoming.js';
import { describe } from '../model/value-types.js';

/** The pages of other origins that may read answers. */
export interface CorsOptions {
  /** Their origins: `https://app.example.com`. */
  readonly origins: readonly string[];
  /** True when their requests may have cookies; false by default. */
  readonly credentials?: boolean | undefined;
}

/** Adds the headers that let the named origins read answers. */
export class Cors {
  readonly #origins: ReadonlySet<string>;
  readonly #credentials: boolean;

  constructor(input: CorsOptions) {
    checkOptions(input, ['origins', 'credentials'], 'cors');
    const { origins, credentials = false }: { origins?: unknown; credentials?: unknown } = input;
    if (!Array.isArray(origins) || !origins.every(isOrigin)) {
      invalid('cors.origins', 'must be a list of origins, like https://app.example.com');
    }
    if (typeof credentials !== 'boolean') {
      invalid('cors.credentials', `must be true or false, not ${describe(credentials)}`);
    }
    this.#origins = new Set(origins as string[]);
    this.#credentials = credentials;
  }

  /** The answer to a preflight request, for a handler of these methods. */
  preflight(request: Incoming, methods: readonly string[]): Response {
    const requestedHeaders = request.headers.get('access-control-request-headers');
    const headers = {
      'access-control-allow-methods': methods.join(', '),
      ...(requestedHeaders !== null && { 'access-control-allow-headers': requestedHeaders }),
      'access-control-max-age': '600',
    };
    const isKnown = this.#origins.has(request.headers.get('origin') ?? '');
    return this.allow(request, new Response(null, { status: 204, ...(isKnown && { headers }) }));
  }

  /** Lets the origin of the request read an answer, if it is one of the named origins. */
  allow(request: Incoming, { body, status, statusText, headers: input }: Response): Response {
    const headers = new Headers(input);
    const origin = request.headers.get('origin');
    headers.append('vary', 'origin');
    if (origin !== null && this.#origins.has(origin)) {
      headers.set('access-control-allow-origin', origin);
      if (this.#credentials) {
        headers.set('access-control-allow-credentials', 'true');
      }
    }
    return new Response(body, { status, statusText, headers });
  }
}

function isOrigin(input: unknown): boolean {
  try {
    return typeof input === 'string' && new URL(input).origin === input;
  } catch {
    return false;
  }
}
