// Deliberate faults.

import { ApiError, type StatusName } from '../../../pkg/src/serve/agent-engine/wire/errors.ts';
import { errorResponse } from './responses.ts';
import type { VertexRequest, VertexTrouble } from './types.ts';

const REFUSALS: Readonly<Record<number, readonly [StatusName, string]>> = {
  403: ['PERMISSION_DENIED', 'The caller does not have permission.'],
  429: ['RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'],
  500: ['INTERNAL', 'Internal error encountered.'],
  503: ['UNAVAILABLE', 'The service is currently unavailable.'],
  504: ['DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.'],
};

/** The troubles that are still to come. */
export class Troubles {
  #coming: { readonly trouble: VertexTrouble; left: number }[] = [];

  add(trouble: VertexTrouble): void {
    this.#coming.push({ trouble, left: trouble.times ?? 1 });
  }

  /** The trouble that a request meets, if there is one for it. */
  take(request: VertexRequest): VertexTrouble | undefined {
    const met = this.#coming.find(({ trouble, left }) => left > 0 && isMeant(trouble, request));
    if (met !== undefined) {
      met.left -= 1;
      this.#coming = this.#coming.filter(({ left }) => left > 0);
    }
    return met?.trouble;
  }
}

/** The answer of a trouble that is an error. */
export function refusalOf({ status, retryAfter }: VertexTrouble & { readonly kind: 'error' }): Response {
  const [name, message] = REFUSALS[status] ?? ['INTERNAL', 'Internal error encountered.'];
  return errorResponse(
    new ApiError(name, message),
    retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) },
  );
}

function isMeant({ kind, when }: VertexTrouble, request: VertexRequest): boolean {
  if (kind === 'pending' && request.call !== 'createSession' && request.call !== 'deleteSession') {
    return false;
  }
  return when === undefined || (typeof when === 'string' ? request.call === when : when(request));
}
