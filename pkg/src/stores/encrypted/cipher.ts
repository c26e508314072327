// Texts that cannot be read or changed without the key, nor carried to another place: AES-256-GCM.

import { StoreError } from '../../store/store-error.js';
import { fromBase64, toBase64 } from './base64.js';
import { KEY_ID, type Keyring } from './keys.js';

/** The place that a text belongs to: what is sealed for one place cannot be opened at another. */
export type Binding = readonly (string | null)[];

/** What every sealed text begins with: the number of its {@link Format}. */
const MARK = /^sealed([12]):/;
/** The mark of what is sealed now. */
const CURRENT_MARK = 'sealed2:';

/**
 * How the content of a sealed text is laid out: 2 says more, and 1 is what version 1 has written. It is part of what a
 * text is bound to, so that none passes for one of the other format.
 */
export type Format = 1 | 2;

/** What was sealed. */
export interface OpenedText {
  readonly format: Format;
  readonly text: string;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Whether a text looks like one that has been sealed. */
export function isSealed(text: unknown): text is string {
  return typeof text === 'string' && MARK.test(text);
}

/** Whether a sealed text says that version 1 has sealed it, which is true if it can be opened. */
export function isOfVersion1(text: unknown): boolean {
  return isSealed(text) && text.startsWith('sealed1:');
}

/** Seals texts with the current key and opens them with the key that sealed them. */
export class Cipher {
  readonly #keys: Keyring;

  constructor(keys: Keyring) {
    this.#keys = keys;
  }

  /** Seals well-formed text: `sealed2:<key id>:<nonce, ciphertext and tag in base64>:<key id>`. */
  async seal(text: string, binding: Binding): Promise<string> {
    const { current } = this.#keys;
    const key = await this.#keys.get(current);
    const bytes = await key.encrypt(encoder.encode(text), dataOf(2, binding));
    return `${CURRENT_MARK}${current}:${toBase64(bytes)}:${current}`;
  }

  /**
   * Opens what has been sealed for this place. Throws `corrupt`, naming `what`, for anything else, and `rejected` when
   * the key that sealed it is not there.
   */
  async open(sealed: string, binding: Binding, what: string): Promise<OpenedText> {
    const [mark = '', number] = MARK.exec(sealed) ?? [];
    const format = number === '1' ? 1 : 2;
    const [id = '', base64 = '', again, ...rest] = sealed.slice(mark.length).split(':');
    const bytes = fromBase64(base64);
    // The id stands there twice, so that a damaged one is told from one whose key is missing.
    if (mark === '' || !KEY_ID.test(id) || id !== again || rest.length > 0 || bytes === undefined) {
      throw new StoreError('corrupt', `${what} is not as it was sealed`);
    }
    const key = await this.#keys.get(id);
    try {
      return { format, text: decoder.decode(await key.decrypt(bytes, dataOf(format, binding))) };
    } catch (error) {
      throw new StoreError('corrupt', `${what} is not as it was sealed, or not with this key "${id}"`, {
        cause: error,
      });
    }
  }
}

/** JSON, so that no two places read the same. */
function dataOf(format: Format, binding: Binding): Uint8Array<ArrayBuffer> {
  return encoder.encode(JSON.stringify([format === 1 ? 'statepad' : 'statepad 2', ...binding]));
}
