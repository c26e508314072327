// Rendering: the values of a compiled template's placeholders. The rules are those of the core (src/template.rs).

import { defined } from '../model/defined.js';
import { isDeleted } from '../model/deletion.js';
import { StatepadError, type Missing } from '../model/errors.js';
import type { CompiledPlaceholder, Segment } from '../engine/template.js';
import { locator } from './locations.js';
import { nearest } from '../checks/nearest.js';

/** The values for a template. */
export interface RenderOptions {
  /** A session's state, or any record of values under full keys. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Returns the text of an artifact, or `undefined` when there is none. It is called once for each. */
  readonly artifact?: ((name: string) => string | undefined) | undefined;
}

/** As {@link RenderOptions}, with artifacts that may be loaded asynchronously. */
export interface RenderAsyncOptions {
  /** A session's state, or any record of values under full keys. */
  readonly state: Readonly<Record<string, unknown>>;
  /** Returns the text of an artifact, or `undefined` when there is none. It is called once for each. */
  readonly artifact?: ((name: string) => string | undefined | Promise<string | undefined>) | undefined;
}

/** Renders with artifacts that are loaded. `text` is the template, for the lines and columns of an error. */
export function render(
  text: string,
  segments: readonly Segment[],
  state: Readonly<Record<string, unknown>>,
  artifacts: ReadonlyMap<string, string | undefined>,
): string {
  let rendered = '';
  let missing: CompiledPlaceholder[] | undefined;
  for (const segment of segments) {
    if (typeof segment === 'string') {
      rendered += segment;
      continue;
    }
    const value = segment.kind === 'artifact' ? artifacts.get(segment.key) : lookup(segment, state);
    if (typeof value === 'string') {
      rendered += value;
    } else if (value !== undefined) {
      rendered += valueText(value);
    } else if (!segment.optional) {
      (missing ??= []).push(segment);
    }
  }
  if (missing !== undefined) {
    throw missingError(text, missing, state);
  }
  return rendered;
}

/** The names of the artifacts that a template needs, each once. */
export function artifactNames(segments: readonly Segment[]): readonly string[] {
  let names: Set<string> | undefined;
  for (const segment of segments) {
    if (typeof segment !== 'string' && segment.kind === 'artifact') {
      (names ??= new Set()).add(segment.key);
    }
  }
  return names === undefined ? NO_NAMES : [...names];
}

const NO_NAMES: readonly never[] = [];

/** The whole key first, then the path; own members only. A key with a pending deletion counts as missing. */
function lookup({ content, key, path }: CompiledPlaceholder, state: Readonly<Record<string, unknown>>): unknown {
  if (Object.hasOwn(state, content)) {
    const value = state[content];
    if (!isDeleted(value)) {
      return value;
    }
  }
  if (path.length === 0 || !has(state, key)) {
    return undefined;
  }
  let value = state[key];
  for (const step of path) {
    const fits = typeof value === 'object' && value !== null && Array.isArray(value) === (typeof step === 'number');
    if (!fits || !Object.hasOwn(value as object, step)) {
      return undefined;
    }
    value = (value as Record<string | number, unknown>)[step];
  }
  return value;
}

function has(state: Readonly<Record<string, unknown>>, key: string): boolean {
  return Object.hasOwn(state, key) && !isDeleted(state[key]);
}

/** `null` is empty; any other value is compact JSON. */
function valueText(value: unknown): string {
  if (value === null) {
    return '';
  }
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) {
    // The same text as in JSON, minus zero included.
    return String(value);
  }
  let cause: unknown;
  try {
    const json = JSON.stringify(value) as string | undefined;
    if (json !== undefined) {
      return json;
    }
  } catch (error) {
    cause = error;
  }
  throw new StatepadError('VALUE_NOT_JSON', `the state has a ${typeof value} that is not JSON`, { cause });
}

/** The largest number of keys with a suggestion, as in the core (src/template/nearest.rs). */
const SUGGESTIONS = 16;

function missingError(
  text: string,
  placeholders: readonly CompiledPlaceholder[],
  state: Readonly<Record<string, unknown>>,
): StatepadError {
  const first = new Map<string, CompiledPlaceholder>();
  for (const placeholder of placeholders) {
    if (!first.has(placeholder.content)) {
      first.set(placeholder.content, placeholder);
    }
  }
  const placeOf = locator(text);
  const keys = Object.keys(state).filter((key) => has(state, key));
  const missing = Array.from(first.values(), ({ content, start }, count): Missing => {
    const similar = count < SUGGESTIONS ? nearest(content, keys) : undefined;
    return { key: content, ...placeOf(start), ...defined({ nearest: similar }) };
  });
  const onlyArtifacts = placeholders.every(({ kind }) => kind === 'artifact');
  const code = onlyArtifacts ? 'ARTIFACT_MISSING' : 'TEMPLATE_KEY_MISSING';
  const message = `values are missing for the template: ${missing.map(describe).join(', ')}`;
  return new StatepadError(code, message, { missing: Object.freeze(missing) });
}

function describe({ key, line, column, nearest }: Missing): string {
  const hint = nearest === undefined ? '' : `, did you mean ${JSON.stringify(nearest)}?`;
  return `${JSON.stringify(key)} (line ${line}, column ${column}${hint})`;
}
