// The options of `vertexAiStore`, and their checks.

import { defined } from '../../model/defined.js';
import { checkCount, checkFunction, checkOptions, invalid } from '../../checks/arguments.js';
import { describe } from '../../model/value-types.js';
import { checkText } from '../shared/options.js';
import { engineIn, type EngineOf, type Place } from './names.js';
import type { StoreContext } from '../../store/contract.js';

/** The part of an answer that the store reads. */
export interface VertexAiResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  text(): Promise<string>;
}

/** A function that makes a request: `fetch` of the Fetch API, as far as the store needs it. */
export type VertexAiFetch = (
  url: string,
  init: {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly signal: StoreContext['signal'];
  },
) => Promise<VertexAiResponse>;

/** Options of `vertexAiStore`. */
export interface VertexAiStoreOptions {
  /** The id of the Google Cloud project, or its number. Needed unless there is an `apiKey`. */
  readonly project?: string | undefined;
  /**
   * The location of the engines: `us-central1`, or the multi-region `us` or `eu`. Needed unless there is an `apiKey`.
   */
  readonly location?: string | undefined;
  /** An API key of express mode, which implies the project and the location: neither is set then, nor is `token`. */
  readonly apiKey?: string | undefined;
  /**
   * The Agent Engine that keeps the sessions: its id, its full resource name
   * (`projects/…/locations/…/reasoningEngines/…`), or a function that tells one for each app. Without it the app's own
   * name has to be one of the two. One engine is one app: a second app that has the same one is refused.
   */
  readonly engine?: string | EngineOf | undefined;
  /**
   * Answers an access token, for each request: let it keep the token while it is good. It is asked once more when the
   * API does not take one. Without it `google-auth-library` finds the credentials, where it is installed.
   */
  readonly token?: (() => string | Promise<string>) | undefined;
  /** The function that makes the requests. Default: the host's `fetch`. */
  readonly fetch?: VertexAiFetch | undefined;
  /**
   * The origin of the API. By default it is `https://{location}-aiplatform.googleapis.com`,
   * `https://aiplatform.{location}.rep.googleapis.com` for the multi-regions `us` and `eu`, and
   * `https://aiplatform.googleapis.com` for `global` and in express mode.
   */
  readonly baseUrl?: string | undefined;
  /** The version of the API. Default: `v1beta1`. */
  readonly apiVersion?: string | undefined;
  /** The lifetime of a new session, as the API says it: `'86400s'`. Not with `expireTime`. */
  readonly ttl?: string | undefined;
  /** The time when new sessions end, in RFC 3339: `'2030-01-01T00:00:00Z'`. Not together with `ttl`. */
  readonly expireTime?: string | undefined;
  /** The number of tries in all of a request that fails for the moment. Default: 4. */
  readonly attempts?: number | undefined;
  /**
   * The longest wait before the second try, in milliseconds, twice as long before each further one. Default: 200. A
   * random part of it is waited, or the time that the API asks for, if that is longer.
   */
  readonly pause?: number | undefined;
  /**
   * The most that the clocks of writers may differ, in milliseconds. Default: 5 minutes. An event that comes in with
   * an earlier time than that before the last known one is not seen until all is read again.
   */
  readonly clockSkew?: number | undefined;
}

/** The options with all that they leave open. */
export interface Settings {
  readonly place: Place;
  readonly engineOf: EngineOf;
  readonly apiKey: string | undefined;
  readonly token: (() => string | Promise<string>) | undefined;
  readonly fetch: VertexAiFetch;
  readonly baseUrl: string | undefined;
  readonly apiVersion: string;
  /** The end of a new session, as the API takes it. */
  readonly expiry: { readonly ttl?: string; readonly expireTime?: string };
  readonly attempts: number;
  readonly pause: number;
  readonly clockSkew: number;
}

const OPTIONS = [
  'project',
  'location',
  'apiKey',
  'engine',
  'token',
  'fetch',
  'baseUrl',
  'apiVersion',
  'ttl',
  'expireTime',
  'attempts',
  'pause',
  'clockSkew',
];
const CLOCK_SKEW_MS = 300_000;
const EXAMPLE = "vertexAiStore({ project: 'my-project', location: 'us-central1' })";

/** Throws `INVALID_ARGUMENT` for options that cannot be used. */
export function settingsOf(options: VertexAiStoreOptions): Settings {
  checkPresence(options);
  checkOptions(options, OPTIONS);
  checkValues(options);
  const { engine, apiKey, token, baseUrl, ttl, expireTime } = options;
  return {
    place: placeOf(options),
    apiKey,
    engineOf: typeof engine === 'function' ? engine : (app) => engine ?? app,
    token,
    fetch: options.fetch ?? (async (url, init) => await globalThis.fetch(url, init)),
    baseUrl: baseUrl?.replace(/\/+$/, ''),
    apiVersion: options.apiVersion ?? 'v1beta1',
    expiry: defined({ ttl, expireTime }),
    attempts: options.attempts ?? 4,
    pause: options.pause ?? 200,
    clockSkew: options.clockSkew ?? CLOCK_SKEW_MS,
  };
}

function checkPresence(options: unknown): void {
  if (options === undefined) {
    invalid('options', `are missing: ${EXAMPLE}`);
  }
}

/** The place of engines. Throws `INVALID_ARGUMENT` for options that do not determine it. */
function placeOf({ project, location, apiKey, token }: VertexAiStoreOptions): Place {
  if (apiKey === undefined) {
    return {
      project: checkPart('project', project, "'my-project'"),
      location: checkPart('location', location, "'us-central1'"),
    };
  }
  checkApiKey(apiKey);
  for (const [name, value] of Object.entries({ project, location, token })) {
    if (value !== undefined) {
      invalid(name, 'cannot go together with apiKey: express mode has its own');
    }
  }
  return 'express';
}

function checkValues(options: VertexAiStoreOptions): void {
  const { engine, ttl, expireTime } = options;
  const place = placeOf(options);
  if (typeof engine === 'string' ? engineIn(engine, place) === undefined : engine !== undefined) {
    const what = "an id ('1234567890'), projects/…/locations/…/reasoningEngines/…, or a function of the app's name";
    if (typeof engine !== 'function') {
      invalid('engine', `must be ${what}, not ${typeof engine === 'string' ? `"${engine}"` : describe(engine)}`);
    }
  }
  for (const name of ['token', 'fetch'] as const) {
    if (options[name] !== undefined) {
      checkFunction(options[name], name);
    }
  }
  checkUrl(options.baseUrl);
  if (options.apiVersion !== undefined) {
    checkPart('apiVersion', options.apiVersion, "'v1beta1'");
  }
  if (ttl !== undefined && expireTime !== undefined) {
    invalid('ttl', 'cannot go together with expireTime');
  }
  checkForm('ttl', ttl, /^\d+(\.\d{1,9})?s$/, "seconds with an s: '86400s'");
  checkForm('expireTime', expireTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/, 'in RFC 3339');
  checkCount(options.attempts, 'attempts');
  if (options.attempts === 0) {
    invalid('attempts', 'must be at least 1');
  }
  checkCount(options.pause, 'pause');
  checkCount(options.clockSkew, 'clockSkew');
}

/** A part of a URL. */
function checkPart(path: string, value: unknown, example: string): string {
  checkText(path, value, example);
  const text = value as string;
  return /^[\w.:-]+$/.test(text) ? text : invalid(path, `has characters that cannot be in a resource name: "${text}"`);
}

/** Refuses an API key that cannot go into a header. */
function checkApiKey(apiKey: unknown): void {
  checkText('apiKey', apiKey, 'the key of express mode');
  if (!/^[\x21-\x7e]+$/.test(apiKey as string)) {
    invalid('apiKey', 'has characters that a key cannot have');
  }
}

function checkForm(path: string, value: unknown, form: RegExp, what: string): void {
  if (value !== undefined && !(typeof value === 'string' && form.test(value))) {
    invalid(path, `must be ${what}, not ${typeof value === 'string' ? `"${value}"` : describe(value)}`);
  }
}

function checkUrl(url: unknown): void {
  if (url !== undefined && !(typeof url === 'string' && /^https?:\/\/[^/?#]/.test(url))) {
    invalid('baseUrl', "must be a URL: 'https://us-central1-aiplatform.googleapis.com'");
  }
}
