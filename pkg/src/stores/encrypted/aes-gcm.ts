// AES-256-GCM with one key, by what the host has: Node encrypts a short text at once, where WebCrypto hands it to
// another thread, which takes several times as long. Both make the same bytes.

import { builtinModule, type Builtin } from '../shared/builtin.js';
import { StoreError } from '../../store/store-error.js';

/** The bytes of the nonce, which comes first, and of the tag, which comes last. */
export const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A key that encrypts and decrypts: a nonce, the ciphertext, and a tag of 16 bytes. */
export interface AesGcm {
  /** Encrypts under a nonce that was never used before. `bound` has to be there again when it is decrypted. */
  encrypt(text: Uint8Array<ArrayBuffer>, bound: Uint8Array<ArrayBuffer>): Bytes | Promise<Bytes>;
  /** Throws for everything that was not encrypted by this key, or is bound to something else. */
  decrypt(sealed: Bytes, bound: Uint8Array<ArrayBuffer>): Uint8Array | Promise<Uint8Array>;
}

type Bytes = Uint8Array<ArrayBuffer>;
type NodeCrypto = Pick<Builtin<'node:crypto'>, 'createCipheriv' | 'createDecipheriv'>;

/** The tag of AES-256-GCM for nothing with a key and a nonce of zeros: test case 13 of its specification. */
const TAG_OF_NOTHING = '530f8afbc74536b9a963b4f1c4cb738b';

/** WebCrypto. Throws `rejected` where there is none. */
export function subtle(): SubtleCrypto {
  const webCrypto = (globalThis as { readonly crypto?: { readonly subtle?: SubtleCrypto } }).crypto?.subtle;
  if (webCrypto === undefined) {
    throw new StoreError('rejected', 'this host has no WebCrypto: browsers provide it on https pages');
  }
  return webCrypto;
}

/** Encrypts by Node with 32 bytes; `undefined` where that is not there, or does something else. */
export function nodeAesGcm(key: Bytes): AesGcm | undefined {
  const crypto = builtinModule('node:crypto');
  return isAesGcm(crypto) ? viaNode(crypto, key) : undefined;
}

/** Encrypts by WebCrypto. */
export function webAesGcm(key: CryptoKey): AesGcm {
  return {
    encrypt: async (text, additionalData) => {
      const iv = newNonce();
      const sealed = await subtle().encrypt({ name: 'AES-GCM', iv, additionalData }, key, text);
      const bytes = new Uint8Array(NONCE_BYTES + sealed.byteLength);
      bytes.set(iv);
      bytes.set(new Uint8Array(sealed), NONCE_BYTES);
      return bytes;
    },
    decrypt: async (sealed, additionalData) => {
      const iv = sealed.subarray(0, NONCE_BYTES);
      return new Uint8Array(
        await subtle().decrypt({ name: 'AES-GCM', iv, additionalData }, key, sealed.subarray(NONCE_BYTES)),
      );
    },
  };
}

function viaNode({ createCipheriv, createDecipheriv }: NodeCrypto, key: Bytes): AesGcm {
  const options = { authTagLength: TAG_BYTES };
  return {
    encrypt: (text, bound) => {
      const nonce = newNonce();
      const cipher = createCipheriv('aes-256-gcm', key, nonce, options);
      cipher.setAAD(bound);
      const sealed = cipher.update(text);
      // GCM has no padding: nothing is left over.
      cipher.final();
      const bytes = new Uint8Array(NONCE_BYTES + sealed.length + TAG_BYTES);
      bytes.set(nonce);
      bytes.set(sealed, NONCE_BYTES);
      bytes.set(cipher.getAuthTag(), NONCE_BYTES + sealed.length);
      return bytes;
    },
    decrypt: (sealed, bound) => {
      const end = sealed.length - TAG_BYTES;
      if (end < NONCE_BYTES) {
        throw new Error('it is too short for a nonce and a tag');
      }
      const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), options);
      decipher.setAAD(bound);
      decipher.setAuthTag(sealed.subarray(end));
      const text = decipher.update(sealed.subarray(NONCE_BYTES, end));
      // Throws where the tag is not the right one: the text is not to be looked at before.
      decipher.final();
      return text;
    },
  };
}

/** Random: at most 2^32 texts should be encrypted with one key. */
function newNonce(): Bytes {
  return crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
}

/** True if a host that has a part of Node's modules has this one, and it does what it says. */
function isAesGcm(crypto: Partial<NodeCrypto> | undefined): crypto is NodeCrypto {
  try {
    const cipher = crypto?.createCipheriv?.('aes-256-gcm', new Uint8Array(32), new Uint8Array(NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    cipher?.final();
    return typeof crypto?.createDecipheriv === 'function' && cipher?.getAuthTag().toString('hex') === TAG_OF_NOTHING;
  } catch {
    return false;
  }
}
