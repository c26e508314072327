// The keys of an encrypted store, which come from the environment, and what is said of one whose keys are missing.

import { Buffer } from 'node:buffer';
import process from 'node:process';
import { UsageError } from '../errors.js';
import { StoreError, type SessionStore } from '../../store.js';
import type { Secrets } from '../secrets.js';

/** The variables of the environment: keys under their ids, and the key for encrypted names. */
export const KEYS_VARIABLE = 'STATEPAD_KEYS';
export const NAME_KEY_VARIABLE = 'STATEPAD_NAME_KEY';

/** The form of {@link KEYS_VARIABLE}. */
export const KEYS_FORM = 'ID=BASE64,ID=BASE64';

const KEY_BYTES = 32;

/** The keys of the environment. */
interface Keys {
  readonly keys: readonly { readonly id: string; readonly key: Uint8Array }[];
  readonly nameKey: Uint8Array | undefined;
}

/**
 * The store with the keys of the environment, so that what is encrypted in it is read and written as it was. Without
 * keys, reading something encrypted is refused. Throws `UsageError`, which repeats no key.
 */
export async function withKeys(store: SessionStore, secrets: Secrets): Promise<SessionStore> {
  const { encryptedStore, isSealed } = await import('../../stores/encrypted/index.js');
  const found = keysIn(process.env, secrets);
  if (found === undefined) {
    return refusingSealed(store, isSealed);
  }
  const { keys, nameKey } = found;
  const [current = { id: '' }] = keys;
  return encryptedStore(store, {
    keys,
    current: current.id,
    ...(nameKey !== undefined && { names: 'encrypted', nameKey }),
  });
}

function keysIn(environment: Readonly<Record<string, string | undefined>>, secrets: Secrets): Keys | undefined {
  const text = environment[KEYS_VARIABLE]?.trim() ?? '';
  const name = environment[NAME_KEY_VARIABLE]?.trim() ?? '';
  if (text === '') {
    return undefined;
  }
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  const keys = parts.map((part, index) => {
    const [, id = '', base64 = ''] = /^([\w.-]{1,64})=(.+)$/.exec(part) ?? [];
    secrets.hide(base64 === '' ? part : base64);
    const key = bytesOf(base64);
    if (key?.length !== KEY_BYTES) {
      const which = id === '' ? `entry ${index + 1}` : `the key "${id}"`;
      throw new UsageError(`${KEYS_VARIABLE}: ${which} must be ${KEYS_FORM}, ${KEY_BYTES} bytes each`);
    }
    return { id, key };
  });
  secrets.hide(name);
  const nameKey = name === '' ? undefined : bytesOf(name);
  if (name !== '' && (nameKey === undefined || nameKey.length < KEY_BYTES)) {
    throw new UsageError(`${NAME_KEY_VARIABLE} must be ${KEY_BYTES} bytes or more in base64`);
  }
  return { keys, nameKey };
}

/** The bytes of a text in base64, of either alphabet; `undefined` for another text. */
function bytesOf(text: string): Uint8Array | undefined {
  return /^[\w+/-]+={0,2}$/.test(text) ? new Uint8Array(Buffer.from(text, 'base64')) : undefined;
}

/** A store that refuses to answer what is encrypted: without its keys nobody can read it. */
function refusingSealed(store: SessionStore, isSealed: (value: unknown) => boolean): SessionStore {
  const check = (...values: readonly unknown[]): void => {
    if (values.some((value) => isSealed(value))) {
      const message = `the sessions are encrypted: their keys come from ${KEYS_VARIABLE}, as ${KEYS_FORM}`;
      throw new StoreError('rejected', message);
    }
  };
  const checkScopes = (...scopes: readonly (object | undefined)[]): void =>
    scopes.forEach((scope) => check(...(Object.values(scope ?? {}) as readonly unknown[])));
  const readLog = store.readLog?.bind(store);
  const refusing: Partial<SessionStore> = {
    load: async (key, query, context) => {
      const loaded = await store.load(key, query, context);
      checkScopes(loaded?.state.session, loaded?.state.app, loaded?.state.user);
      check(...(loaded?.events.map(({ data }) => data) ?? []));
      return loaded;
    },
    list: async (query, context) => {
      const page = await store.list(query, context);
      checkScopes(page.app, ...page.users.values(), ...page.rows.map(({ state }) => state));
      return page;
    },
    loadScope: async (scope, context) => {
      const loaded = await store.loadScope(scope, context);
      checkScopes(loaded.state);
      return loaded;
    },
    ...(readLog && {
      readLog: async (scope, query, context) => {
        const log = await readLog(scope, query, context);
        log.entries.forEach(({ writes }) => check(...writes.flatMap(({ from, to }) => [from, to])));
        return log;
      },
    }),
  };
  // All else is that of the store, also what it knows only once it is open.
  return Object.assign(Object.create(store) as SessionStore, refusing);
}
