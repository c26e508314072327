// A server of `statepad serve`, and the token that it asks for.

import { readFile } from 'node:fs/promises';
import process from 'node:process';
import { CommandError, UsageError } from '../errors.js';
import { isStatepadError } from '../../index.js';
import type { Secrets } from '../secrets.js';
import type { SessionClient } from '../../client.js';

/** The variable of the environment that has the token where no file is named. */
export const TOKEN_VARIABLE = 'STATEPAD_TOKEN';
/** The attempts of a request: somebody waits for the answer. */
const ATTEMPTS = 4;

/**
 * A client of a server that has answered. Its requests carry the token, if any. Throws `UsageError` for a token
 * that cannot be one, `CommandError` for a server that asks for another one, and the errors of the client.
 */
export async function openedServer(
  url: string,
  { tokenFile, secrets }: { readonly tokenFile: string | undefined; readonly secrets: Secrets },
): Promise<SessionClient> {
  const token = await tokenOf(tokenFile);
  if (token !== undefined) {
    secrets.hide(token);
  }
  const { connect } = await import('../../client.js');
  const client = connect({ url, token, retry: { attempts: ATTEMPTS } });
  try {
    await client.getSession({ appName: 'statepad', userId: 'statepad', sessionId: 'statepad' });
  } catch (error) {
    const code = isStatepadError(error) ? error.code : undefined;
    if (code === 'UNAUTHENTICATED') {
      const has = token === undefined ? 'asks for a token' : 'does not know the token';
      throw new CommandError(`the server ${has}: it comes from --token-file FILE, or ${TOKEN_VARIABLE}`);
    }
    // The token may be for other apps.
    if (code !== 'FORBIDDEN') {
      throw error;
    }
  }
  return client;
}

/**
 * The token for a server: that of the file, or else that of the environment. Throws `UsageError`, which does not
 * repeat it.
 */
export async function tokenOf(path: string | undefined): Promise<string | undefined> {
  const text = path === undefined ? process.env[TOKEN_VARIABLE] : await textOf(path);
  const place = path === undefined ? TOKEN_VARIABLE : `the token file ${path}`;
  const token = text?.trim() ?? '';
  if (token === '' && path === undefined) {
    return undefined;
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new UsageError(`${place} must have one token and nothing else`);
  }
  return token;
}

async function textOf(path: string): Promise<string> {
  return await readFile(path, 'utf8').catch((error: unknown) => {
    const { code = 'it cannot be read' } = error as { readonly code?: string };
    throw new UsageError(`the token file ${path}: ${code === 'ENOENT' ? 'there is no such file' : code}`);
  });
}
