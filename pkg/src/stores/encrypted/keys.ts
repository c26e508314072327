// The keys of an encrypted store, and the cipher of each.

import { describe } from '../../model/value-types.js';
import { isStoreError, StoreError } from '../../store/store-error.js';
import { nodeAesGcm, subtle, webAesGcm, type AesGcm } from './aes-gcm.js';

/** A WebCrypto `CryptoKey`, by its shape: not every program has the type. */
export interface WebCryptoKey {
  readonly type: string;
  readonly extractable: boolean;
  readonly algorithm: { readonly name: string; readonly length?: number };
  readonly usages: readonly string[];
}

/** 32 random bytes, or a key that WebCrypto has made of them. */
export type KeyMaterial = Uint8Array | WebCryptoKey;

/** A key under the id that is stored with everything it encrypts. */
export interface NamedKey {
  /** 1 to 64 of the characters `A-Z a-z 0-9 . _ -`. */
  readonly id: string;
  readonly key: KeyMaterial;
}

/** Finds the key of an id; `undefined` when there is none. Asked once for each id, unless it throws. */
export type FindKey = (id: string) => KeyMaterial | undefined | Promise<KeyMaterial | undefined>;

/** The form of ids: they are written between colons. */
export const KEY_ID = /^[\w.-]{1,64}$/;

/** The bytes of a key. */
const KEY_BYTES = 32;

/** The keys that there are. */
export interface KeyOptions {
  readonly keys: readonly NamedKey[] | FindKey;
  readonly current?: string;
}

/** The keys, each made ready once. */
export class Keyring {
  /** The id of the key that encrypts. */
  readonly current: string;
  readonly #source: FindKey;
  readonly #keys = new Map<string, AesGcm>();
  /** The keys that are being looked for. */
  readonly #coming = new Map<string, Promise<AesGcm>>();

  /** Throws `rejected` for keys that do not suit. */
  constructor({ keys, current }: KeyOptions) {
    if (typeof keys !== 'function' && !(Array.isArray(keys) && keys.every(isNamedKey))) {
      throw new StoreError('rejected', 'keys must be a list of { id, key }, or a function that finds a key by its id');
    }
    this.current = currentOf(typeof keys === 'function' ? undefined : keys.map(({ id }) => id), current);
    const list =
      typeof keys === 'function' ? undefined : keys.map(({ id, key }) => copyOf(id, key, id === this.current));
    const byId = new Map(list?.map(({ id, key }) => [id, key]));
    this.#source = typeof keys === 'function' ? keys : (id) => byId.get(id);
  }

  /**
   * The key of an id; later, when it has to be found first. Throws `rejected` when there is none, `unavailable` when
   * the function that finds it throws.
   */
  get(id: string): AesGcm | Promise<AesGcm> {
    return this.#keys.get(id) ?? this.#coming.get(id) ?? this.#find(id);
  }

  /** Looks for a key. A look-up that failed may be tried again. */
  async #find(id: string): Promise<AesGcm> {
    const coming = this.#import(id);
    this.#coming.set(id, coming);
    try {
      const key = await coming;
      this.#keys.set(id, key);
      return key;
    } finally {
      this.#coming.delete(id);
    }
  }

  async #import(id: string): Promise<AesGcm> {
    let material: KeyMaterial | undefined;
    try {
      material = await this.#source(id);
    } catch (error) {
      throw isStoreError(error)
        ? error
        : new StoreError('unavailable', `the key "${id}" is not available now`, { cause: error });
    }
    if (material === undefined) {
      throw new StoreError('rejected', `the key "${id}" is missing`);
    }
    checkKey(id, material, id === this.current);
    if (!isBytes(material)) {
      return webAesGcm(material as CryptoKey);
    }
    const bytes = bytesOf(material);
    return (
      nodeAesGcm(bytes) ?? webAesGcm(await subtle().importKey('raw', bytes, 'AES-GCM', false, ['encrypt', 'decrypt']))
    );
  }
}

/** True if a key consists of bytes, maybe of another realm. */
export function isBytes(material: unknown): material is Uint8Array {
  // Other views of 32 elements have other bytes than those that are meant.
  return ArrayBuffer.isView(material) && Object.prototype.toString.call(material) === '[object Uint8Array]';
}

/** The bytes of a key, copied: `slice` of a `Buffer` copies nothing. */
export function bytesOf(material: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(material);
}

/** A copy, so that a later change of the caller's bytes has no effect. Throws `rejected` for what is no key. */
function copyOf(id: string, key: KeyMaterial, isCurrent: boolean): NamedKey {
  checkKey(id, key, isCurrent);
  return { id, key: isBytes(key) ? bytesOf(key) : key };
}

function isNamedKey(value: unknown): value is NamedKey {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Partial<NamedKey>).id === 'string' &&
    'key' in value
  );
}

/** True if something is a key, by its shape: bytes, or an object that WebCrypto has made. */
export function isKeyMaterial(value: unknown): value is KeyMaterial {
  const { algorithm, usages } = (typeof value === 'object' && value !== null ? value : {}) as Partial<WebCryptoKey>;
  return isBytes(value) || (typeof algorithm?.name === 'string' && Array.isArray(usages));
}

function checkKey(id: string, key: KeyMaterial, isCurrent: boolean): void {
  if (!isKeyMaterial(key)) {
    throw new StoreError(
      'rejected',
      `the key "${id}" must be ${KEY_BYTES} bytes (a Uint8Array) or a CryptoKey, not ${describe(key)}`,
    );
  }
  const { name, length } = isBytes(key) ? { name: 'AES-GCM', length: 8 * key.length } : key.algorithm;
  if (name !== 'AES-GCM' || length !== 8 * KEY_BYTES) {
    throw new StoreError('rejected', `the key "${id}" is not a key for AES-256-GCM: that has ${KEY_BYTES} bytes`);
  }
  const needed = isBytes(key) ? [] : isCurrent ? ['decrypt', 'encrypt'] : ['decrypt'];
  const missing = needed.find((usage) => !isBytes(key) && !key.usages.includes(usage));
  if (missing !== undefined) {
    throw new StoreError('rejected', `the key "${id}" may not be used to ${missing}`);
  }
}

function currentOf(ids: readonly string[] | undefined, option: string | undefined): string {
  const current = option ?? (ids?.length === 1 ? ids[0] : undefined);
  if (current === undefined) {
    throw new StoreError('rejected', 'current is missing: it names one of the keys');
  }
  const bad = [current, ...(ids ?? [])].find((id) => !KEY_ID.test(id));
  if (bad !== undefined) {
    throw new StoreError(
      'rejected',
      `the key id "${bad}" is not 1 to 64 letters, digits, dots, underscores and hyphens`,
    );
  }
  if (ids !== undefined && (new Set(ids).size < ids.length || !ids.includes(current))) {
    throw new StoreError('rejected', `there must be one key for each id, and one for the current id "${current}"`);
  }
  return current;
}
