// Errors as texts for people, without secrets.

import type { Secrets } from './secrets.js';

/** The number of causes that are told. */
const MOST = 4;

/** The message of an error, and those of its causes that say more; with `debug` its stack. */
export function problemOf(error: unknown, secrets: Secrets, debug: boolean): string {
  const texts: string[] = [];
  let cause: unknown = error;
  for (let depth = 0; cause !== undefined && depth < MOST; depth++) {
    const text = debug ? stackOf(cause) : messageOf(cause);
    if (!texts.some((known) => known.includes(text))) {
      texts.push(text);
    }
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return secrets.clean(texts.join(debug ? '\n' : ': '));
}

function stackOf(error: unknown): string {
  return error instanceof Error && error.stack !== undefined ? error.stack : messageOf(error);
}

/** The message; that of the first of several errors, and a code, where the error itself has none. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  const { errors, code } = error as { readonly errors?: readonly unknown[]; readonly code?: unknown };
  if (error.message !== '') {
    return error.message;
  }
  if (errors?.[0] !== undefined) {
    return messageOf(errors[0]);
  }
  return typeof code === 'string' ? code : error.name;
}
