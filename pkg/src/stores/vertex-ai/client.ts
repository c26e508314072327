// One request to the API at a time: with a token, tried again where that does no harm.

import { sleep } from '../../async/sleep.js';
import { asError, outcomeOf, refusal, unavailable, type Outcome } from './answers.js';
import type { Settings } from './options.js';
import type { TokenSource } from './token.js';
import type { Engine } from './names.js';
import type { StoreContext } from '../../store/contract.js';

/** A request. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The location of the engine. */
  readonly location: Engine['location'];
  /** The path behind the version in the URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** The headers of a request. */
type Headers = Record<string, string>;

const MAX_PAUSE_MS = 5_000;

/** Makes requests. */
export class ApiClient {
  readonly #settings: Settings;
  readonly #token: TokenSource;

  constructor(settings: Settings, token: TokenSource) {
    this.#settings = settings;
    this.#token = token;
  }

  /** The most times that a request is made. */
  get attempts(): number {
    return this.#settings.attempts;
  }

  /**
   * Makes a request once, and once more with another token when the first one is not taken. Throws the reason of the
   * caller's signal, and `unavailable` when there is no token.
   */
  async send(request: ApiRequest, caller: StoreContext): Promise<Outcome> {
    const outcome = await this.#sendWith(await this.#credentials(false), request, caller);
    return outcome.kind === 'refused' && outcome.error.http === 401
      ? await this.#sendWith(await this.#credentials(true), request, caller)
      : outcome;
  }

  /**
   * Asks for something that changes nothing, until there is an answer. `undefined`: there is no such thing. Throws
   * `unavailable` and `rejected`.
   */
  async read(request: Omit<ApiRequest, 'method'>, caller: StoreContext): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.send({ ...request, method: 'GET' }, caller);
      if (outcome.kind === 'done') {
        return outcome.body;
      }
      if (outcome.kind === 'refused') {
        if (outcome.error.http === 404) {
          return undefined;
        }
        throw refusal(outcome.error);
      }
      if (attempt >= this.attempts) {
        throw unavailable(outcome.kind === 'busy' ? asError(outcome.error) : outcome.cause);
      }
      await this.pauseAfter(attempt, outcome.wait, caller);
    }
  }

  /** Waits after a try that failed: a random part of a pause that grows, or the time that the API asks for. */
  async pauseAfter(attempt: number, wait: number, { signal }: StoreContext): Promise<void> {
    const pause = Math.min(MAX_PAUSE_MS, this.#settings.pause * 2 ** (attempt - 1)) * Math.random();
    await sleep(Math.max(pause, wait), signal);
  }

  /** The headers that say who asks. `isRefused`: those before were not taken. */
  async #credentials(isRefused: boolean): Promise<Headers> {
    const { apiKey } = this.#settings;
    return apiKey === undefined
      ? { authorization: `Bearer ${await this.#token(isRefused)}` }
      : { 'x-goog-api-key': apiKey };
  }

  async #sendWith(credentials: Headers, request: ApiRequest, caller: StoreContext): Promise<Outcome> {
    const { signal } = caller;
    signal.throwIfAborted();
    try {
      const { method } = request;
      const body = request.body === undefined ? undefined : JSON.stringify(request.body);
      const init =
        body === undefined
          ? { method, headers: credentials, signal }
          : { method, headers: { ...credentials, 'content-type': 'application/json' }, signal, body };
      const outcome = await outcomeOf(await this.#settings.fetch(this.#urlOf(request), init));
      if (outcome.kind === 'done' || outcome.kind === 'refused') {
        caller.answered?.();
      }
      return outcome;
    } catch (cause) {
      signal.throwIfAborted();
      return { kind: 'unclear', cause, isOver: false, wait: 0 };
    }
  }

  #urlOf({ location, path, query = {} }: ApiRequest): string {
    const { baseUrl, apiVersion } = this.#settings;
    const pairs = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    const search = pairs.length === 0 ? '' : `?${pairs.join('&')}`;
    return `${baseUrl ?? `https://${hostOf(location)}`}/${apiVersion}/${path}${search}`;
  }
}

/** The multi-regions, whose hosts are called otherwise than those of regions. */
const MULTI_REGIONS: ReadonlySet<string> = new Set(['us', 'eu']);

function hostOf(location: string): string {
  if (location === 'global') {
    return 'aiplatform.googleapis.com';
  }
  return MULTI_REGIONS.has(location)
    ? `aiplatform.${location}.rep.googleapis.com`
    : `${location}-aiplatform.googleapis.com`;
}
