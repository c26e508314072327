// The options of `connect`, and their checks.

import { checkFunction, checkObject, checkOptions, invalid } from '../checks/arguments.js';
import { describe } from '../model/value-types.js';
import { checkSharing, type TabSharing } from './watch/tabs/sharing.js';
import type { Server } from './server.js';

/** Options of {@link connect}. */
export interface ConnectOptions {
  /**
   * The URL of the server, with its `basePath`: `https://example.com/agents`. Pages may give a path alone. Its
   * parameters are sent with each request.
   */
  readonly url: string | URL;
  /** Sent with each request as `Authorization: Bearer …`. */
  readonly token?: string | undefined;
  /** Sent with each request; a function is called before each. */
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>) | undefined;
  /** Used in the place of the host's `fetch`. */
  readonly fetch?: ((request: string, init: RequestInit) => Promise<Response>) | undefined;
  /** The policy for cookies, for other origins too: see `fetch`. */
  readonly credentials?: RequestCredentials | undefined;
  /**
   * The longest time that a request may take, with all its attempts, in milliseconds; 30,000 by default. An attempt
   * without an answer after a third of it is sent again.
   */
  readonly timeout?: number | undefined;
  readonly retry?:
    | {
        /** The number of attempts in all, within `timeout`; 10 by default. */
        readonly attempts?: number | undefined;
        /**
         * The pause after the first attempt, in milliseconds, doubled after each further one up to 5 s; 100 by
         * default. A longer one that the server names counts.
         */
        readonly pause?: number | undefined;
      }
    | undefined;
  /**
   * The silence after which the connection of the watches counts as dead, in milliseconds; 45,000 by default: three
   * heartbeats of the server.
   */
  readonly silence?: number | undefined;
  /**
   * Lets the tabs of an origin share one connection for their watches of whole sessions, as `statepad/react` has
   * them; by default they share none.
   */
  readonly shareTabs?: TabSharing | undefined;
}

const OPTIONS = ['url', 'token', 'headers', 'fetch', 'credentials', 'timeout', 'retry', 'silence', 'shareTabs'];

/** The options, checked and complete. */
export interface CheckedConnection {
  readonly server: Server;
  readonly timeout: number;
  readonly attempts: number;
  readonly pause: number;
  readonly silence: number;
  readonly shareTabs: TabSharing | undefined;
}

/** Checks the options of `connect`. Throws `INVALID_ARGUMENT`. */
export function checkConnection(input: ConnectOptions | string | URL): CheckedConnection {
  const options = typeof input === 'string' || input instanceof URL ? { url: input } : input;
  checkObject(options, 'options');
  checkOptions(options, OPTIONS);
  const { url, token, headers, fetch, credentials, timeout = 30_000, retry = {}, silence = 45_000 } = options;
  checkOptions(retry, ['attempts', 'pause'], 'retry');
  const { attempts = 10, pause = 100 } = retry;
  if (fetch !== undefined) {
    checkFunction(fetch, 'fetch');
  }
  for (const [path, value, least] of [
    ['timeout', timeout, 1],
    ['retry.attempts', attempts, 1],
    ['retry.pause', pause, 0],
    ['silence', silence, 1],
  ] as const) {
    if (!(typeof value === 'number' && value >= least && value < 2 ** 31)) {
      invalid(path, `must be a number from ${least} to ${2 ** 31 - 1}, not ${describe(value)}`);
    }
  }
  if (options.shareTabs !== undefined) {
    checkSharing(options.shareTabs);
  }
  const server = { ...checkedUrl(url), headers, fetch, credentials, token: checkedToken(token) };
  return { server, timeout, attempts, pause, silence, shareTabs: options.shareTabs };
}

/** The base of all addresses, and the parameters of each. A page completes a path when it sends a request. */
function checkedUrl(input: unknown): Pick<Server, 'base' | 'parameters'> {
  if (typeof input !== 'string' && !(input instanceof URL)) {
    invalid('url', input === undefined ? 'is missing' : `must be a string or a URL, not ${describe(input)}`);
  }
  const [withQuery = ''] = String(input).split('#', 1);
  const [path = '', parameters = ''] = withQuery.split(/\?(.*)/s, 2);
  if (!/^(https?:\/\/[^/]|[./])/i.test(path)) {
    invalid(
      'url',
      `must be a URL like https://example.com/agents, or a path like /agents, not ${JSON.stringify(path.slice(0, 100))}`,
    );
  }
  return { base: path.replace(/\/+$/, ''), parameters };
}

/** A token that a header can carry. Its text is in no message. */
function checkedToken(input: unknown): string | undefined {
  if (input !== undefined && !(typeof input === 'string' && /^[\x21-\x7e]+$/.test(input))) {
    invalid(
      'token',
      `must be a string of visible ASCII characters${typeof input === 'string' ? '' : `, not ${describe(input)}`}`,
    );
  }
  return input;
}
