// Routes: what each is declared as, and what answers it.

import type { Incoming } from '../../http/incoming.js';
import type { Reply } from '../../http/reply.js';
import type { IdsOf } from '../../http/paths.js';
import type { Rights, StorageWork } from '../../http/principal.js';
import type { ErrorCode } from '../../model/errors.js';
import type { Once } from '../../model/once.js';
import type { StoredScope } from '../../model/scope.js';
import type { LeaseProof } from '../../service/serving-access.js';
import type { ServerContext } from '../api.js';
import type { ObjectSchema, Schema, ValueOf } from './schema.js';

/**
 * The rights that a route takes; they are asked for before a body is read. A target is that of the path.
 *
 * - `anyone`: none, not even a principal
 * - `client`: a principal; the route itself leaves out what it may not see
 * - `app`: to see something in the app
 * - `sessions`: to see sessions, of the user where the path has one
 * - `creation`: to create sessions of the user
 * - `{ reads }`, `{ writes }`: the target, which is of this scope
 * - `{ may }`: a work on the app of the path, or on all apps
 */
export type Access =
  | 'anyone'
  | 'client'
  | 'app'
  | 'sessions'
  | 'creation'
  | { readonly reads: StoredScope }
  | { readonly writes: StoredScope }
  | { readonly may: StorageWork };

/** One answer of a route. */
export interface DeclaredAnswer {
  readonly description: string;
  /** Of its JSON; absent where it has no body. */
  readonly schema?: Schema;
  /** True where it may be a stream of server-sent events. */
  readonly isStream?: true;
  /** Its headers, by their names in {@link ANSWER_HEADERS}. */
  readonly headers?: readonly AnswerHeader[];
}

/** A route as data: requests are checked by it, and the description of the routes is printed from it. */
export interface Declaration {
  /** The name of the operation. */
  readonly operation: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** A template of `PATHS`. */
  readonly path: string;
  readonly group: string;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  /** The parameters of the URL. */
  readonly query?: ObjectSchema;
  readonly headers?: readonly RequestHeader[];
  /** Those of them that may not be absent. */
  readonly needs?: readonly RequestHeader[];
  /** The body. It may be absent where none of its members is required. */
  readonly body?: ObjectSchema;
  readonly answers: Readonly<Record<number, DeclaredAnswer>>;
  /** The codes of errors beyond those that every route may answer with. */
  readonly errors: readonly ErrorCode[];
}

/** The headers that requests may have. */
export const REQUEST_HEADERS = {
  lease: {
    name: 'Statepad-Lease',
    description: 'The lease under which it is written: refused with LEASE_LOST once another holder has taken it.',
  },
  key: {
    name: 'Idempotency-Key',
    description:
      'From 1 to 255 visible ASCII characters. For at least 24 hours the same request under the same key is answered ' +
      'and not carried out again; another one is refused with KEY_REUSED.',
  },
  creation: {
    name: 'If-Match',
    description: 'The ETag of the session: another session, which was created under its id since, is left alone.',
  },
} as const;

/** The name of a header that requests may have. */
export type RequestHeader = keyof typeof REQUEST_HEADERS;

/** The headers that answers may have. */
export const ANSWER_HEADERS = {
  creation: { name: 'ETag', description: 'Identifies this session among those that were created under its id.' },
  replayed: { name: 'Idempotency-Replayed', description: '`true` when an earlier attempt was carried out.' },
  values: {
    name: 'Statepad-Values',
    description: '`unknown` when the values of a repeated answer may be later ones than those of the first attempt.',
  },
} as const;

/** The name of a header that answers may have. */
export type AnswerHeader = keyof typeof ANSWER_HEADERS;

/** The headers of an answer to a request with a key. */
export const ANSWER_ONCE = ['replayed', 'values'] as const satisfies readonly AnswerHeader[];

/** A request to a route, checked by its declaration. */
export interface Asked<D extends Declaration> {
  readonly context: ServerContext;
  readonly rights: Rights;
  readonly request: Incoming;
  readonly ids: Readonly<Record<IdsOf<D['path']>, string>>;
  readonly query: D extends { readonly query: infer Query } ? ValueOf<Query> : undefined;
  readonly body: D extends { readonly body: infer Body } ? ValueOf<Body> : undefined;
  /** Reads the bytes of a body that is not declared. */
  readonly anyBody: () => Promise<Uint8Array>;
  /** The lease in its header. */
  readonly proof: LeaseProof | undefined;
  /** Its identity, where it has a key. */
  readonly once: Once | undefined;
  /** The creation id in `If-Match`. */
  readonly creation: string | undefined;
}

/** The answer to a request; 200 unless it says otherwise, or 204 without a body. */
export interface Answer {
  readonly body?: unknown;
  /** The creation id for the ETag. */
  readonly creation?: string;
}

/** A route. */
export interface Route {
  readonly declaration: Declaration;
  readonly answer: (asked: Asked<Declaration>) => Promise<Answer | Reply>;
}

/** Makes a route: what answers it gets the types that are declared. */
export function route<const D extends Declaration>(
  declaration: D,
  answer: (asked: Asked<D>) => Promise<Answer | Reply>,
): Route {
  return { declaration, answer };
}
