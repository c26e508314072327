// Access tokens: those that a callback gives, or those of the credentials that Google's own library finds.

import { StoreError } from '../../store/store-error.js';
import type { Settings } from './options.js';

/** Answers a token. `isRefused`: the API did not take the one before. */
export type TokenSource = (isRefused: boolean) => Promise<string>;

/** The part of `google-auth-library` that is used. */
interface GoogleAuth {
  getAccessToken(): Promise<string | null | undefined>;
}

interface GoogleAuthLibrary {
  readonly GoogleAuth: new (options: { scopes: string }) => GoogleAuth;
}

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
/** A function, so that bundlers do not look for an optional package. */
const libraryName = (): string => 'google-auth-library';
const ADVICE = 'pass `token`, a function that returns an access token, or install google-auth-library';

/** Makes a source of tokens. It throws `unavailable` when there is none: nothing has been sent then. */
export function tokenSource({ token }: Pick<Settings, 'token'>): TokenSource {
  const ask = token === undefined ? libraryTokens() : async () => await token();
  return async (isRefused) => {
    let token: unknown;
    try {
      token = await ask(isRefused);
    } catch (cause) {
      throw cause instanceof StoreError ? cause : noToken(cause);
    }
    if (typeof token !== 'string' || token === '') {
      throw noToken();
    }
    return token;
  };
}

/** Tokens of the library, which keeps them while they are good. One that was refused is asked for anew. */
function libraryTokens(): (isRefused: boolean) => Promise<unknown> {
  let auth: GoogleAuth | undefined;
  return async (isRefused) => {
    if (auth === undefined || isRefused) {
      auth = await newAuth();
    }
    return await auth.getAccessToken();
  };
}

async function newAuth(): Promise<GoogleAuth> {
  let library: GoogleAuthLibrary;
  try {
    library = (await import(libraryName())) as GoogleAuthLibrary;
  } catch (cause) {
    throw new StoreError('rejected', `there are no credentials: ${ADVICE}`, { cause });
  }
  return new library.GoogleAuth({ scopes: SCOPE });
}

function noToken(cause?: unknown): StoreError {
  const why = cause instanceof Error ? cause.message : 'there is none';
  return new StoreError('unavailable', `no access token is available: ${why}`, { cause });
}
