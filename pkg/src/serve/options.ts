// The options of `serve`, and their checks.

import { Cors, type CorsOptions } from '../http/cors.js';
import { ErrorLog, type OnError } from '../http/answers.js';
import { authorizerOf, type Authorize } from '../http/principal.js';
import { checkFunction, checkObject, checkOptionalString, checkOptions, invalid } from '../checks/arguments.js';
import { describe } from '../model/value-types.js';
import type { BodyLimits } from './body.js';
import { checkInspector, type InspectorFiles } from './inspector/files.js';
import type { OriginRules } from './origin.js';
import type { StreamOptions, StreamPace } from './watch/streams.js';

/** The limits of requests. */
export interface ServeLimits {
  /** The largest body, in bytes; 8 MiB by default. Larger ones are answered with 413. */
  readonly body?: number | undefined;
  /** The longest time that a body may take to arrive, in milliseconds; 30,000 by default. Answered with 408. */
  readonly timeout?: number | undefined;
  /** The number of streams that a principal may have at a time, in this process; 1,000 by default. 429. */
  readonly streams?: number | undefined;
}

/** Options of {@link serve}. */
export interface ServeOptions extends StreamPace {
  /**
   * Returns a principal, whose rights limit the request; a `Response` that refuses it; or `undefined`, which is
   * answered with status 401. Without this function nothing is served.
   */
  readonly authorize?: Authorize | undefined;
  /** In the place of `authorize`: everyone may read and write everything. For demos, and on a machine of one's own. */
  readonly insecure?: boolean | undefined;
  /** The path below which the server is mounted, as `/agents`; none by default. */
  readonly basePath?: string | undefined;
  /**
   * The names under which it answers, without ports: `['localhost', '127.0.0.1', '[::1]']`. Requests with another
   * `Host`, and those of pages of another origin that `cors` does not name, get 403. Any name by default.
   */
  readonly hosts?: readonly string[] | undefined;
  /** The pages of other origins that may send requests and read answers; none by default. */
  readonly cors?: CorsOptions | undefined;
  readonly limits?: ServeLimits | undefined;
  /**
   * The files of the inspector, by `inspectorFiles` of `statepad/inspect`: the page at `<basePath>/inspector/` shows
   * what its client may see. None by default.
   */
  readonly inspector?: InspectorFiles | undefined;
  /**
   * Receives errors that clients do not see, those of the store, of `authorize` and inside a stream, each with the
   * number that the client gets. The console by default.
   */
  readonly onError?: OnError | undefined;
  /** Receives a line for each answered request. None by default. */
  readonly onRequest?: ((line: RequestLine) => void) | undefined;
}

/** One answered request, for a log. It has no payload, no id and no token. */
export interface RequestLine {
  /** The operation, as `createSession`; absent where no operation has this path. */
  readonly operation: string | undefined;
  readonly method: string;
  readonly status: number;
  /** The duration until the answer began, in milliseconds. */
  readonly duration: number;
}

const OPTIONS = [
  ...['authorize', 'insecure', 'basePath', 'hosts', 'cors', 'limits', 'heartbeat', 'retry', 'poll'],
  ...['inspector', 'onError', 'onRequest'],
];
const MIB = 2 ** 20;

/** The options, checked and complete. */
export interface CheckedOptions {
  readonly authorize: Authorize;
  readonly basePath: string;
  readonly rules: OriginRules;
  readonly cors: Cors | undefined;
  readonly limits: BodyLimits;
  readonly streams: StreamOptions;
  readonly inspector: InspectorFiles | undefined;
  readonly errors: ErrorLog;
  readonly onRequest: ((line: RequestLine) => void) | undefined;
}

/** Checks the options of `serve`. Throws `INVALID_ARGUMENT`. */
export function checkServeOptions(input: ServeOptions): CheckedOptions {
  checkObject(input, 'options');
  checkOptions(input, OPTIONS);
  const { authorize, insecure = false, basePath = '', hosts, cors, limits = {}, onError, onRequest } = input;
  for (const [name, value] of Object.entries({ onError, onRequest })) {
    if (value !== undefined) {
      checkFunction(value, name);
    }
  }
  checkOptions(limits, ['body', 'timeout', 'streams'], 'limits');
  const { body = 8 * MIB, timeout = 30_000, streams = 1_000 } = limits;
  const { heartbeat, retry, poll, inspector } = input;
  return {
    authorize: authorizerOf(authorize, insecure),
    basePath: checkedBase(basePath),
    rules: { hosts: checkedHosts(hosts), origins: cors?.origins ?? [] },
    cors: cors === undefined ? undefined : new Cors(cors),
    limits: { body: whole(body, 'limits.body'), timeout: whole(timeout, 'limits.timeout') },
    streams: { heartbeat, retry, poll, limit: whole(streams, 'limits.streams') },
    inspector: inspector === undefined ? undefined : checkInspector(inspector),
    errors: new ErrorLog(onError),
    onRequest,
  };
}

function checkedBase(input: unknown): string {
  checkOptionalString(input, 'basePath');
  if (input !== '' && !/^(?:\/[^/?#]+)+$/.test(input as string)) {
    invalid('basePath', `must be a path like /agents, without a slash at its end, not ${describe(input)}`);
  }
  return input as string;
}

function checkedHosts(input: unknown): readonly string[] | undefined {
  if (input === undefined) {
    return undefined;
  }
  if (!Array.isArray(input) || !input.every((name) => typeof name === 'string' && /^[^\s/]+$/.test(name))) {
    invalid('hosts', 'must be a list of names without ports, like localhost');
  }
  return (input as string[]).map((name) => name.toLowerCase());
}

function whole(input: unknown, path: string): number {
  if (!(Number.isSafeInteger(input) && (input as number) >= 1 && (input as number) < 2 ** 31)) {
    invalid(path, `must be a whole number from 1 to ${2 ** 31 - 1}, not ${describe(input)}`);
  }
  return input as number;
}
