// Answers as the Fetch API has them.

import { writeJson } from './json.ts';
import type { ApiError } from '../../../pkg/src/serve/agent-engine/wire/errors.ts';

/** An answer with a body of JSON. */
export function jsonResponse(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(writeJson(body), {
    status,
    headers: { 'content-type': 'application/json; charset=UTF-8', ...headers },
  });
}

/** The answer of an error. */
export function errorResponse(error: ApiError, headers: Readonly<Record<string, string>> = {}): Response {
  const realm = error.status === 'UNAUTHENTICATED' && {
    'www-authenticate': 'Bearer realm="https://accounts.google.com/"',
  };
  return jsonResponse(error.httpStatus, error.toBody(), { ...realm, ...headers });
}

/** The answer where the API has no path: a page. */
export function notThere(): Response {
  const page = '<!DOCTYPE html>\n<html lang=en>\n<title>Error 404 (Not Found)!!1</title>\n';
  return new Response(page, { status: 404, headers: { 'content-type': 'text/html; charset=UTF-8' } });
}

/** The error that `fetch` rejects with when a connection fails. */
export function connectionLost(): TypeError {
  return new TypeError('fetch failed');
}
