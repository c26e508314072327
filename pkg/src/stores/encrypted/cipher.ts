// Texts that cannot be read or changed without the key, nor carried to another place: AES-256-GCM.

import { StoreError } from '../../store/store-error.js';
import { fromBase64, toBase64 } from './base64.js';
import { KEY_ID, type Keyring } from './keys.js';
import { hasMark, MARK, otherSeal } from './version.js';

/** The place that a text belongs to: what is sealed for one place cannot be opened at another. */
export type Binding = readonly (string | null)[];

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** True if a text looks like one that has been sealed, by whatever version. */
export function isSealed(text: unknown): text is string {
  return typeof text === 'string' && hasMark(text);
}

/** Seals texts with the current key and opens them with the key that sealed them. */
export class Cipher {
  readonly #keys: Keyring;

  constructor(keys: Keyring) {
    this.#keys = keys;
  }

  /** Seals well-formed text: `<mark><key id>:<nonce, ciphertext and tag in base64>:<key id>`. */
  async seal(text: string, binding: Binding): Promise<string> {
    const { current } = this.#keys;
    const key = await this.#keys.get(current);
    const bytes = await key.encrypt(encoder.encode(text), dataOf(binding));
    return `${MARK}${current}:${toBase64(bytes)}:${current}`;
  }

  /**
   * Opens a text that was sealed for this place. Throws `corrupt`, naming `what`, for anything else, and `rejected`
   * when the key that sealed it is not there, or when another version has sealed it.
   */
  async open(sealed: string, binding: Binding, what: string): Promise<string> {
    if (sealed.startsWith(MARK)) {
      return this.#open(sealed.slice(MARK.length).split(':'), binding, what);
    }
    // Nothing that another version has sealed can be opened: of what can be, the mark alone is damaged.
    const isOurs = await this.#open(sealed.split(':').slice(-3), binding, what).then(
      () => true,
      () => false,
    );
    throw isOurs ? notAsSealed(what) : otherSeal(sealed, what);
  }

  /** Opens the parts of a text behind its mark. */
  async #open(
    [id = '', base64 = '', again, ...rest]: readonly string[],
    binding: Binding,
    what: string,
  ): Promise<string> {
    const bytes = fromBase64(base64);
    // The id stands there twice, so that a damaged one differs from one whose key is missing.
    if (!KEY_ID.test(id) || id !== again || rest.length > 0 || bytes === undefined) {
      throw notAsSealed(what);
    }
    const key = await this.#keys.get(id);
    try {
      return decoder.decode(await key.decrypt(bytes, dataOf(binding)));
    } catch (error) {
      throw new StoreError('corrupt', `${what} was changed, or was not encrypted with this key "${id}"`, {
        cause: error,
      });
    }
  }
}

function notAsSealed(what: string): StoreError {
  return new StoreError('corrupt', `${what} was changed after its encryption`);
}

/** JSON, so that no two places read the same. With the mark: no text passes for one of another version. */
function dataOf(binding: Binding): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify([MARK, ...binding]));
}
