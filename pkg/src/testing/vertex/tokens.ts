// Who asks: nobody is told apart, but requests must bring a token, and tokens expire.

import { ApiError } from './errors.js';
import type { VertexCall } from './paths.js';

const EXPECTED =
  'Expected OAuth 2 access token, login cookie or other valid authentication credential. ' +
  'See https://developers.google.com/identity/sign-in/web/devconsole-project.';

/** The tokens that were used. */
export class Tokens {
  readonly #isOpen: boolean;
  readonly #used = new Set<string>();
  readonly #expired = new Set<string>();

  /** Requests of an open service need no token. */
  constructor(isOpen: boolean) {
    this.#isOpen = isOpen;
  }

  /** Checks that a request has a token that has not expired, or an API key. */
  check(headers: Headers, parameters: URLSearchParams, call: VertexCall): void {
    const token = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    if (token !== undefined) {
      this.#checkToken(token, call);
    } else if (!this.#isOpen && !headers.get('x-goog-api-key') && !parameters.get('key')) {
      throw refused('Request is missing required authentication credential.', 'CREDENTIALS_MISSING', call);
    }
  }

  /** Lets all tokens expire that were used. */
  expire(): void {
    for (const token of this.#used) {
      this.#expired.add(token);
    }
  }

  #checkToken(token: string, call: VertexCall): void {
    this.#used.add(token);
    if (this.#expired.has(token)) {
      throw refused('Request had invalid authentication credentials.', 'ACCESS_TOKEN_EXPIRED', call);
    }
  }
}

function refused(message: string, reason: string, call: VertexCall): ApiError {
  const method = call === 'getOperation' ? 'longrunning.Operations.GetOperation' : methodOf(call);
  const metadata = { service: 'aiplatform.googleapis.com', method: `google.${method}` };
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com', metadata };
  return new ApiError('UNAUTHENTICATED', `${message} ${EXPECTED}`, [info]);
}

function methodOf(call: VertexCall): string {
  return `cloud.aiplatform.v1beta1.SessionService.${call.charAt(0).toUpperCase()}${call.slice(1)}`;
}
