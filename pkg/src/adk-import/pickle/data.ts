// Plain data for the objects that Python would build.

/** A class or a function of Python, by its name alone. */
export class Global {
  readonly module: string;
  readonly name: string;

  constructor(module: string, name: string) {
    this.module = module;
    this.name = name;
  }

  get path(): string {
    return `${this.module}.${this.name}`;
  }
}

/**
 * The object that Python would make by calling `type` with `args`, and then fill with `state`, `entries` and `items`.
 */
export class Instance {
  readonly type: Global;
  readonly args: readonly unknown[];
  state: unknown;
  readonly entries: [unknown, unknown][] = [];
  readonly items: unknown[] = [];

  constructor(type: Global, args: readonly unknown[]) {
    this.type = type;
    this.args = args;
  }
}

/** A `dict`: its keys may be of any kind. */
export class Dict {
  readonly entries: [unknown, unknown][] = [];
}

/** A `set` or `frozenset`. */
export class PythonSet {
  readonly items: unknown[] = [];
}
