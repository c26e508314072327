// Instruction templates.

import { compile, escape, type Segment } from '../engine/template.js';
import { StatepadError } from '../model/errors.js';
import { describe } from '../model/value-types.js';
import { artifactNames, render, type RenderAsyncOptions, type RenderOptions } from './render.js';
import { locator } from './locations.js';
import { checkFunction, checkObject, checkOptions } from '../checks/arguments.js';
import { OPTIONS } from '../input/requests.js';
import { isThenable } from '../async/thenable.js';
import { requireReady } from '../engine/wasm.js';

/** A place in a template that a value goes into. */
export interface Placeholder {
  /** The source of the value. */
  readonly kind: 'state' | 'artifact';
  /** The state key with its prefix (`user:profile`), or the artifact's name. */
  readonly key: string;
  /** The path into the value: `['city']`, `[0, 'id']`; empty for the whole value. */
  readonly path: readonly (string | number)[];
  /** True when it may be missing. */
  readonly optional: boolean;
  /** The line of its brace, from 1. */
  readonly line: number;
  /** The column of its brace, in characters (code points), from 1. */
  readonly column: number;
}

/**
 * A text with placeholders, compiled once and rendered many times: `{topic}`, `{user:name?}`, `{cart.items[0].id}`,
 * `{artifact.file.txt}`. Everything else is literal text, `{{literal}}` and JSON included.
 *
 * @example
 * const template = new Template('Explain {topic} to {user:name?}.');
 * template.render({ state: session.state });
 */
export class Template {
  /** The text that was compiled. */
  readonly text: string;
  readonly #segments: readonly Segment[];
  readonly #artifacts: readonly string[];
  #placeholders: readonly Placeholder[] | undefined;

  /** Compiles a text. Every text is a valid template. In a browser, throws `NOT_READY` before the module is loaded. */
  constructor(text: string) {
    requireReady('new Template()');
    this.text = checkText(text);
    this.#segments = compile(text);
    this.#artifacts = artifactNames(this.#segments);
  }

  /** The placeholders, in the order of the text. */
  get placeholders(): readonly Placeholder[] {
    return (this.#placeholders ??= placeholdersOf(this.text, this.#segments));
  }

  /**
   * Renders. Strings are inserted unchanged and not scanned again, `null` is empty, any other value is compact JSON.
   *
   * Throws `TEMPLATE_KEY_MISSING` or, when only artifacts are missing, `ARTIFACT_MISSING`, with all `missing`
   * placeholders; `INVALID_ARGUMENT` when `artifact` returns a promise.
   */
  render(options: RenderOptions): string {
    const { state, artifact } = checkRender(options);
    if (artifact === undefined || this.#artifacts.length === 0) {
      return render(this.text, this.#segments, state, NO_ARTIFACTS);
    }
    const texts = this.#artifacts.map((name) => [name, checkArtifact(name, artifact(name))] as const);
    return render(this.text, this.#segments, state, new Map(texts));
  }

  /** As {@link Template.render}, with artifacts that may be loaded asynchronously; all are requested at once. */
  async renderAsync(options: RenderAsyncOptions): Promise<string> {
    const { state, artifact } = checkRender(options);
    const names = artifact === undefined ? [] : this.#artifacts;
    const texts = await Promise.all(
      names.map(async (name) => [name, checkArtifact(name, await artifact?.(name))] as const),
    );
    return render(this.text, this.#segments, state, new Map(texts));
  }

  /** @internal True when rendering may have to wait. */
  get hasArtifacts(): boolean {
    return this.#artifacts.length > 0;
  }

  /** Returns a template that renders to exactly `text`. */
  static escape(text: string): string {
    requireReady('Template.escape()');
    return escape(checkText(text));
  }
}

/** The public form of placeholders: frozen, because the template itself is immutable. */
function placeholdersOf(text: string, segments: readonly Segment[]): readonly Placeholder[] {
  const placeOf = locator(text);
  const placeholders = segments.filter((segment) => typeof segment !== 'string');
  return Object.freeze(
    placeholders.map(({ kind, key, path, optional, start }) => {
      const { line, column } = placeOf(start);
      return Object.freeze({ kind, key, path: Object.freeze([...path]), optional, line, column });
    }),
  );
}

function checkText(text: unknown): string {
  if (typeof text !== 'string') {
    throw new StatepadError('INVALID_ARGUMENT', `a template must be a string, not ${describe(text)}`, {
      path: 'text',
    });
  }
  return text;
}

function checkRender<T extends RenderAsyncOptions>(options: T): T {
  checkObject(options, 'options');
  checkOptions(options, OPTIONS.render);
  checkObject(options.state, 'state');
  if (options.artifact !== undefined) {
    checkFunction(options.artifact, 'artifact');
  }
  return options;
}

const NO_ARTIFACTS: ReadonlyMap<string, string> = new Map();

function checkArtifact(name: string, text: unknown): string | undefined {
  if (text !== undefined && typeof text !== 'string') {
    if (isThenable(text)) {
      // Rendering has failed already: this artifact's own failure is not reported.
      text.then(undefined, () => undefined);
    }
    const what = `the artifact "${name}" must be a string or undefined; await renderAsync() for an asynchronous one`;
    throw new StatepadError('INVALID_ARGUMENT', what, { path: 'artifact' });
  }
  return text;
}
