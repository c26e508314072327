// The credentials of requests: any token will do, but one is required, and it must not have expired.

import { ApiError } from '../../../pkg/src/serve/agent-engine/wire/errors.ts';
import type { Target, VertexCall } from '../../../pkg/src/serve/agent-engine/wire/paths.ts';

const EXPECTED =
  'Expected OAuth 2 access token, login cookie or other valid authentication credential. ' +
  'See https://developers.google.com/identity/sign-in/web/devconsole-project.';

/** The tokens that were used. */
export class Tokens {
  #areNeeded: boolean;
  readonly #areOptional: boolean;
  readonly #used = new Set<string>();
  readonly #expired = new Set<string>();

  /** Unless it is said, a token is needed from the first request on that has one. */
  constructor(need: 'required' | 'optional' | undefined) {
    this.#areNeeded = need === 'required';
    this.#areOptional = need === 'optional';
  }

  /**
   * Checks that a request has a token that has not expired, or an API key; in express mode it has to be a key. Answers
   * the key, which is empty where there is none.
   */
  check(headers: Headers, parameters: URLSearchParams, { call, project }: Target): string {
    const token = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    const key = headers.get('x-goog-api-key') ?? parameters.get('key') ?? '';
    const isExpress = project === '';
    if (token !== undefined && !isExpress) {
      this.#checkToken(token, call);
    } else if (key === '' && (this.#areNeeded || isExpress)) {
      throw refused('Request is missing required authentication credential.', 'CREDENTIALS_MISSING', call);
    }
    return key;
  }

  /** Lets all tokens expire that were used. */
  expire(): void {
    for (const token of this.#used) {
      this.#expired.add(token);
    }
  }

  #checkToken(token: string, call: VertexCall): void {
    this.#areNeeded = !this.#areOptional;
    this.#used.add(token);
    if (this.#expired.has(token)) {
      throw refused('Request had invalid authentication credentials.', 'ACCESS_TOKEN_EXPIRED', call);
    }
  }
}

function refused(message: string, reason: string, call: VertexCall): ApiError {
  const service = call === 'getOperation' ? 'longrunning.Operations' : 'cloud.aiplatform.v1beta1.SessionService';
  const method = `google.${service}.${call.charAt(0).toUpperCase()}${call.slice(1)}`;
  const metadata = { service: 'aiplatform.googleapis.com', method };
  const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'googleapis.com', metadata };
  return new ApiError('UNAUTHENTICATED', `${message} ${EXPECTED}`, [info]);
}
