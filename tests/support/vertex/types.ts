// The options and the members of a fake.

import type { VertexCall } from '../../../pkg/src/serve/agent-engine/wire/paths.ts';

/** A request that the fake has got. */
export interface VertexRequest {
  /** The called method; `undefined` when the API has no such path. */
  readonly call: VertexCall | undefined;
  readonly method: string;
  /** The path of its address, as it was sent. */
  readonly path: string;
  /** The parameters of its address; the last one of each name. */
  readonly query: Readonly<Record<string, string>>;
  /** Its headers by their names in lower case, without `authorization` and `x-goog-api-key`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its body as JSON; `undefined` when it has none, or one that is no JSON. */
  readonly body: unknown;
}

/** Something that goes wrong. */
export type VertexTrouble = VertexTroubleKind & {
  /** The number of requests that it affects; 1 by default. */
  readonly times?: number | undefined;
  /** The requests that it affects: those of a call, or those that a function chooses; all by default. */
  readonly when?: VertexCall | ((request: VertexRequest) => boolean) | undefined;
};

/** A deliberate fault. */
export type VertexTroubleKind =
  | {
      /** An error is answered, and nothing is done. */
      readonly kind: 'error';
      /** Its HTTP status. */
      readonly status: 403 | 429 | 500 | 503 | 504;
      /** The header `Retry-After`, in seconds or as a date. */
      readonly retryAfter?: number | string | undefined;
    }
  | {
      /** The connection fails before the request arrives. */
      readonly kind: 'request-lost';
    }
  | {
      /** The request is carried out, and the connection fails before the answer arrives. */
      readonly kind: 'answer-lost';
    }
  | {
      /** The request is carried out, and its answer comes late. */
      readonly kind: 'slow';
      /** The delay, in milliseconds. */
      readonly delay: number;
    }
  | {
      /** The operation that a request starts is not done at once, and neither is its work. Others are not met. */
      readonly kind: 'pending';
      /** The number of polls before it is done. */
      readonly polls: number;
    };

/** Options of {@link fakeVertexAi}. */
export interface FakeVertexAiOptions {
  /** The clock, in milliseconds since the epoch; `Date.now` by default. */
  readonly now?: (() => number) | undefined;
  /** Numbers from 0 up to, but not including, 1, for ids; `Math.random` by default. */
  readonly random?: (() => number) | undefined;
  /** The numbers of projects, by their ids. Others have one that follows from their id. */
  readonly projects?: Readonly<Record<string, string>> | undefined;
  /** The ids of the engines that exist; all do by default. */
  readonly engines?: readonly string[] | undefined;
  /**
   * The time that it takes to make a session, in milliseconds of the clock; 0 by default. Until then its id is taken,
   * it is not there (404), and the operation that makes it is not done. The service has taken up to 2,800.
   */
  readonly creationDelay?: number | undefined;
  /**
   * True when requests need a token (`Authorization: Bearer`) or an API key, as they do at the service: those without
   * one are answered 401. Unless told otherwise, they do from the first request on that has a token.
   */
  readonly token?: 'required' | 'optional' | undefined;
}

/** A fake of the sessions API of Agent Engine. */
export interface FakeVertexAi {
  /** Answers a request, as the function of the Fetch API does. It needs no `this`. */
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>;
  /** All requests so far. Those that were aborted before they were sent are not among them. */
  readonly requests: readonly VertexRequest[];
  /**
   * Lets something go wrong. A request meets one trouble at most: the first that is meant for it and has not yet met
   * as many requests as it should.
   */
  readonly disturb: (trouble: VertexTrouble) => void;
  /** Lets all tokens expire that were used so far: requests with them are answered 401. */
  readonly expireTokens: () => void;
}
