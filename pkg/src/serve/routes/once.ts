// Requests with an Idempotency-Key: what identifies them, and those that are being answered.

import { base64UrlOf } from '../../http/base64url.js';
import { invalid } from '../../checks/arguments.js';
import { StatepadError } from '../../model/errors.js';
import { REQUEST_HEADERS } from './route.js';
import type { Once } from '../../model/once.js';

/** The parts by which a request is the same one as another. */
export interface RequestIdentity {
  /** The stable id of the principal. */
  readonly principal: string;
  readonly operation: string;
  /** The ids in the path. */
  readonly ids: Readonly<Record<string, string>>;
  readonly key: string;
}

/** Checks the value of the header. */
export function checkedKey(key: string): string {
  return /^[!-~]{1,255}$/.test(key)
    ? key
    : invalid(REQUEST_HEADERS.key.name, 'must have from 1 to 255 visible ASCII characters, without blanks');
}

/** The requests with a key that this process is answering. */
export class OpenRequests {
  readonly #open = new Set<string>();

  /**
   * Runs a request. `run` gets its identity, and returns its answer; `repeated` tells of an earlier attempt that was
   * carried out. Throws `STATE_CONFLICT` while another request with the same key is being answered.
   */
  async run<T>(
    identity: RequestIdentity,
    body: unknown,
    run: (once: Once, repeated: () => Repeated) => Promise<T>,
  ): Promise<T> {
    const { principal, operation, ids, key } = identity;
    const id = await hash([principal, operation, ids, key]);
    if (this.#open.has(id)) {
      throw new StatepadError('STATE_CONFLICT', 'a request with this Idempotency-Key is being answered: retry later', {
        path: REQUEST_HEADERS.key.name,
      });
    }
    this.#open.add(id);
    try {
      let repeated: Repeated;
      const onRepeated = (isKnown: boolean): void => {
        repeated = { isKnown };
      };
      return await run({ id, digest: await hash(body), onRepeated }, () => repeated);
    } finally {
      this.#open.delete(id);
    }
  }
}

/** Of a repeated request: true when the values of its answer are those of the first attempt. */
export type Repeated = { readonly isKnown: boolean } | undefined;

/** SHA-256 of a JSON value, whatever the order of its members. */
async function hash(value: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(value, sorted));
  return base64UrlOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/** The entries of an object in place of it: `__proto__` is a member like any other. */
function sorted(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return value;
  }
  return {
    members: Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .flat(),
  };
}
