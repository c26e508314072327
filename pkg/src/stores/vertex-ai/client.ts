// One request to the API at a time: with a token, tried again where that does no harm.

import { sleep } from '../../async/sleep.js';
import { asError, outcomeOf, refusal, unavailable, type Outcome } from './answers.js';
import type { Settings } from './options.js';
import type { TokenSource } from './token.js';
import type { Engine } from './names.js';
import type { Signal } from '../../async/abort.js';

/** A request. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Where the engine is. */
  readonly location: Engine['location'];
  /** What is behind the version in the URL. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

const MAX_PAUSE_MS = 5_000;

/** Makes requests. */
export class ApiClient {
  readonly #settings: Settings;
  readonly #token: TokenSource;

  constructor(settings: Settings, token: TokenSource) {
    this.#settings = settings;
    this.#token = token;
  }

  /** How often a request is made at most. */
  get attempts(): number {
    return this.#settings.attempts;
  }

  /**
   * Makes a request once, and once more with another token when the first one is not taken. Throws the reason of the
   * signal, and `unavailable` when there is no token.
   */
  async send(request: ApiRequest, signal: Signal): Promise<Outcome> {
    const outcome = await this.#sendWith(await this.#token(false), request, signal);
    return outcome.kind === 'refused' && outcome.error.http === 401
      ? await this.#sendWith(await this.#token(true), request, signal)
      : outcome;
  }

  /**
   * Asks for something that changes nothing, until there is an answer. `undefined`: there is no such thing. Throws
   * `unavailable` and `rejected`.
   */
  async read(request: Omit<ApiRequest, 'method'>, signal: Signal): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.send({ ...request, method: 'GET' }, signal);
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
      await this.pauseAfter(attempt, outcome.wait, signal);
    }
  }

  /** Waits after a try that failed: a random part of a pause that grows, or what the API asks for. */
  async pauseAfter(attempt: number, wait: number, signal: Signal): Promise<void> {
    const pause = Math.min(MAX_PAUSE_MS, this.#settings.pause * 2 ** (attempt - 1)) * Math.random();
    await sleep(Math.max(pause, wait), signal);
  }

  async #sendWith(token: string, request: ApiRequest, signal: Signal): Promise<Outcome> {
    signal.throwIfAborted();
    try {
      const init = { method: request.method, headers: headersOf(token, request), signal };
      const body = request.body === undefined ? {} : { body: JSON.stringify(request.body) };
      return await outcomeOf(await this.#settings.fetch(this.#urlOf(request), { ...init, ...body }));
    } catch (cause) {
      signal.throwIfAborted();
      return { kind: 'unclear', cause, isOver: false, wait: 0 };
    }
  }

  #urlOf({ location, path, query = {} }: ApiRequest): string {
    const { baseUrl, apiVersion } = this.#settings;
    const host = location === 'global' ? 'aiplatform.googleapis.com' : `${location}-aiplatform.googleapis.com`;
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
    );
    const search = given.length === 0 ? '' : `?${given.join('&')}`;
    return `${baseUrl ?? `https://${host}`}/${apiVersion}/${path}${search}`;
  }
}

function headersOf(token: string, { body }: ApiRequest): Record<string, string> {
  const authorization = `Bearer ${token}`;
  return body === undefined ? { authorization } : { authorization, 'content-type': 'application/json' };
}
