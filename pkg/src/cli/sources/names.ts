// Names of apps, users and sessions on the command line: as they are, or as patterns.

/** A pattern: `*` stands for any text, `\*` for itself. All other characters stand for themselves. */
export class NamePattern {
  /** The only name that it can mean; `undefined` for several. */
  readonly exact: string | undefined;
  readonly #pattern: RegExp;
  readonly #text: string;

  /** `flags` are those of a regular expression: `i` takes capitals for small letters. */
  constructor(text: string, flags = '') {
    this.#text = text;
    const parts: readonly string[] = text.match(/\\\*|[^]/g) ?? [];
    this.exact = parts.includes('*') ? undefined : parts.map(literal).join('');
    const source = parts.map((part) => (part === '*' ? '[^]*' : quoted(literal(part)))).join('');
    this.#pattern = new RegExp(`^${source.replaceAll(/(?:\[\^\]\*){2,}/g, '[^]*')}$`, flags);
  }

  /** True for a name that it means; also for one that is spelled as the pattern itself. */
  matches(name: string): boolean {
    return name === this.#text || this.#pattern.test(name);
  }
}

function literal(part: string): string {
  return part === '\\*' ? '*' : part;
}

function quoted(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** The names that are meant: all of them, without a pattern. */
export class NameFilter {
  /** The only name that it can mean; `undefined` where it may mean several. */
  readonly only: string | undefined;
  /** The patterns, for messages. */
  readonly text: string;
  readonly #patterns: readonly NamePattern[];

  constructor(texts: readonly string[]) {
    this.text = texts.map((text) => JSON.stringify(text)).join(' or ');
    this.#patterns = texts.map((text) => new NamePattern(text));
    const [first, ...others] = this.#patterns;
    this.only = others.length === 0 ? first?.exact : undefined;
  }

  /** True when it means all names. */
  get isOpen(): boolean {
    return this.#patterns.length === 0;
  }

  /** True when a name is meant. */
  matches(name: string): boolean {
    return this.isOpen || this.#patterns.some((pattern) => pattern.matches(name));
  }
}

/** The sessions that are meant, by the names of each level. */
export interface SessionFilter {
  readonly app: NameFilter;
  readonly user: NameFilter;
  readonly session: NameFilter;
}
