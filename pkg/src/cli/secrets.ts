// Texts that must not be printed: passwords and tokens. Errors of drivers are not ours, and may repeat them.

/** Knows secrets, and takes them out of texts. */
export class Secrets {
  readonly #known = new Set<string>();

  /** Hides a text from now on, as it is and as it stands in a URL. */
  hide(secret: string): void {
    for (const form of [secret, decoded(secret), encodeURIComponent(decoded(secret))]) {
      if (form !== '') {
        this.#known.add(form);
      }
    }
  }

  /**
   * Hides the password of a URL, which may have a kind before it as `adk-database:`, and the values of its parameters
   * that may be one.
   */
  hideIn(address: string): void {
    const [, rest = ''] = /^(?:[\w-]+:)?[\w+.-]+:\/\/[^:@/]*:(.*)$/s.exec(address) ?? [];
    // A password may hold an @ that is not escaped, and so may what comes after it.
    for (let at = rest.indexOf('@'); at !== -1; at = rest.indexOf('@', at + 1)) {
      this.hide(rest.slice(0, at));
    }
    for (const [, value = ''] of address.matchAll(/[?&][^=&]*(?:pass|secret|token|key)[^=&]*=([^&#]*)/gi)) {
      this.hide(value);
    }
  }

  /** The text without what is hidden. */
  clean(text: string): string {
    // The longest first: one secret may be a part of another.
    const longestFirst = [...this.#known].sort((a, b) => b.length - a.length);
    return longestFirst.reduce((cleaned, secret) => cleaned.replaceAll(secret, '***'), text);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
