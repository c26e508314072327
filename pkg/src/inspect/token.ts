// The token of one run, and the one request by which a browser gets it.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { JsonReply, type Reply } from '../http/reply.js';
import { refused, type ErrorLog } from '../http/answers.js';
import type { Authorize, Principal } from '../http/principal.js';
import type { Incoming } from '../http/incoming.js';
import type { Api, Call } from '../serve/api.js';

/** The bytes of a secret. */
const SECRET_BYTES = 32;
/** The time in which a ticket is good, in milliseconds: a browser may have to be started. */
const TICKET_MS = 120_000;
const OPEN = '/inspector/open/';

/** Makes a secret that nobody guesses, of letters, digits, `-` and `_`. */
export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url');
}

/** Knows the principal of requests with one token. A comparison takes as long as any other. */
export function authorizeBy(token: string, principal: Principal): Authorize {
  const isToken = comparisonWith(token);
  return ({ headers }) => {
    const given = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    return given !== undefined && isToken(given) ? principal : undefined;
  };
}

function comparisonWith(secret: string): (given: string) => boolean {
  const digest = digestOf(secret);
  return (given) => timingSafeEqual(digestOf(given), digest);
}

function digestOf(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/**
 * Leads a browser to the page with its token. A browser is started with an address among its arguments, which every
 * user of the machine can list: so the token is not in that address but in the answer to it, which is given once.
 */
export class OpeningApi implements Api {
  /** The path for the browser, below the server. */
  readonly path: string;
  readonly #errors: ErrorLog;
  readonly #token: string;
  readonly #isTicket: (given: string) => boolean;
  readonly #ends = performance.now() + TICKET_MS;
  #isUsed = false;

  constructor(token: string, errors: ErrorLog) {
    const ticket = newSecret();
    this.path = OPEN + ticket;
    this.#isTicket = comparisonWith(ticket);
    this.#token = token;
    this.#errors = errors;
  }

  find(method: string, path: string): Call | readonly string[] | undefined {
    if (!path.startsWith(OPEN)) {
      return undefined;
    }
    const answer = async (): Promise<Reply> => await Promise.resolve(this.#answer(path.slice(OPEN.length)));
    return method === 'GET' ? { operation: 'openInspector', answerAnyone: answer, answer } : ['GET'];
  }

  refusal(error: unknown, request: Incoming): Reply {
    return this.#errors.answer(error, request);
  }

  #answer(ticket: string): Reply {
    if (this.#isUsed || performance.now() > this.#ends || !this.#isTicket(ticket)) {
      const message = 'the address was used already, or is too old: take the one that the program has printed';
      throw refused(410, message);
    }
    this.#isUsed = true;
    const headers = {
      location: `../#token=${this.#token}`,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    };
    return new JsonReply({}, 303, headers);
  }
}
