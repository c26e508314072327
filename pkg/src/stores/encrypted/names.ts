// Names that the inner store does not see: it gets a token for each, the same one every time.

import { describe } from '../../model/value-types.js';
import { StoreError } from '../../store/store-error.js';
import { toBase64 } from './base64.js';
import { subtle } from './aes-gcm.js';
import { bytesOf, isBytes, isKeyMaterial, type KeyMaterial } from './keys.js';
import type { Binding } from './cipher.js';

/** Makes the tokens of names. */
export interface NameTokens {
  /** The token of a name at a place: 22 characters. Nothing shows that two places have the same name. */
  token(name: string, place: Binding): Promise<string>;
  /** Identifies the name key without revealing it: 22 characters. */
  fingerprint(): Promise<string>;
}

/** The bytes of a token: so many that no two names ever share one. */
const TOKEN_BYTES = 16;
/** The bytes that a name key has at least. */
const LEAST_KEY_BYTES = 32;

const encoder = new TextEncoder();

/** Derives the key for tokens from the name key. Throws `rejected` for one that does not suit. */
export function nameTokens(nameKey: KeyMaterial): NameTokens {
  if (!isKeyMaterial(nameKey)) {
    throw new StoreError(
      'rejected',
      `the name key must be ${LEAST_KEY_BYTES} bytes (a Uint8Array) or a CryptoKey, not ${describe(nameKey)}`,
    );
  }
  const isHkdf = !isBytes(nameKey) && nameKey.algorithm.name === 'HKDF' && nameKey.usages.includes('deriveKey');
  if (isBytes(nameKey) ? nameKey.length < LEAST_KEY_BYTES : !isHkdf) {
    throw new StoreError(
      'rejected',
      `the name key must have ${LEAST_KEY_BYTES} bytes, or be a CryptoKey for HKDF and deriveKey`,
    );
  }
  const material = isBytes(nameKey) ? bytesOf(nameKey) : nameKey;
  let derived: Promise<CryptoKey> | undefined;
  const sign = async (data: unknown): Promise<string> => {
    derived ??= derive(material);
    const signature = await subtle().sign('HMAC', await derived, encoder.encode(JSON.stringify(data)));
    return toBase64(new Uint8Array(signature, 0, TOKEN_BYTES))
      .replaceAll('+', '-')
      .replaceAll('/', '_')
      .replace(/=+$/, '');
  };
  let fingerprint: Promise<string> | undefined;
  return {
    token: (name, place) => sign(['name', ...place, name]),
    fingerprint: () => (fingerprint ??= sign(['key'])),
  };
}

async function derive(material: KeyMaterial): Promise<CryptoKey> {
  const isRaw = isBytes(material);
  const base = isRaw
    ? await subtle().importKey('raw', bytesOf(material), 'HKDF', false, ['deriveKey'])
    : (material as CryptoKey);
  const algorithm = {
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(),
    info: encoder.encode('statepad names 1'),
  };
  return subtle().deriveKey(algorithm, base, { name: 'HMAC', hash: 'SHA-256', length: 256 }, false, ['sign']);
}
