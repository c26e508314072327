// An agent's answer as state: `output_key`.

import { StatepadError } from '../model/errors.js';
import { isFinalResponse, partsOf } from '../input/event.js';
import { checkObject, admitString } from '../checks/arguments.js';
import { isThenable } from '../async/thenable.js';
import type { EventInit } from '../model/types.js';

/** Any validator that follows Standard Schema, such as a Zod, Valibot or ArkType schema. */
export interface StandardSchema {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult | PromiseLike<SchemaResult>;
  };
}

/** The answer of a validator. */
export type SchemaResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] };

/** Options of {@link outputDelta}. */
export interface OutputOptions {
  /** The key of the answer, with its prefix. */
  readonly outputKey: string;
  /** The only author whose answers count; all count when absent. */
  readonly author?: string | undefined;
  /** A schema for the text: it is parsed as JSON and validated, and the result is the value. */
  readonly outputSchema?: StandardSchema | undefined;
  /**
   * The reaction to an invalid text: a function that receives the error, while the text is kept; or `'throw'`
   * (`SCHEMA_INVALID`).
   */
  readonly onInvalid?: 'throw' | ((error: StatepadError) => void) | undefined;
}

/**
 * The delta that stores an agent's answer under a key: the text, without thoughts, of a final response of that
 * author. Empty for every other event and for empty text.
 *
 * Throws `SCHEMA_INVALID` when the text is invalid and `onInvalid` is `'throw'`, and `INVALID_ARGUMENT` for an
 * asynchronous validator ({@link outputDeltaAsync} waits for it), and for anything but an event and a schema.
 */
export function outputDelta(event: EventInit, options: OutputOptions): Record<string, unknown> {
  const text = answerText(event, options);
  if (text === '') {
    return {};
  }
  const result = validate(text, options);
  if (isThenable(result)) {
    throw new StatepadError('INVALID_ARGUMENT', 'the schema is asynchronous: await outputDeltaAsync()', {
      path: 'outputSchema',
    });
  }
  return { [options.outputKey]: settle(text, result, options) };
}

/** As {@link outputDelta}, with a validator that may be asynchronous. */
export async function outputDeltaAsync(event: EventInit, options: OutputOptions): Promise<Record<string, unknown>> {
  const text = answerText(event, options);
  return text === '' ? {} : { [options.outputKey]: settle(text, await validate(text, options), options) };
}

function answerText(event: EventInit, options: OutputOptions): string {
  checkObject(event, 'event');
  checkObject(options, 'options');
  admitString(options.outputKey, 'outputKey');
  const parts = partsOf(event);
  const { author } = options;
  if ((author !== undefined && event.author !== author) || !isFinalResponse(event)) {
    return '';
  }
  return parts.map((part) => (part.thought ? '' : part.text)).join('');
}

function validate(text: string, { outputSchema }: OutputOptions): SchemaResult | PromiseLike<SchemaResult> {
  if (outputSchema === undefined) {
    return { value: text };
  }
  const standard = (outputSchema as Partial<StandardSchema> | null)?.['~standard'];
  if (typeof standard?.validate !== 'function') {
    throw new StatepadError(
      'INVALID_ARGUMENT',
      'outputSchema must be a Standard Schema: it has no ~standard.validate',
      { path: 'outputSchema' },
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(withoutFence(text));
  } catch (error) {
    return { issues: [{ message: (error as Error).message }] };
  }
  return standard.validate(value);
}

/** Models like to put JSON into a fence, with or without the name of a language. */
function withoutFence(text: string): string {
  return FENCED.exec(text.trim())?.[1] ?? text;
}

const FENCED = /^```[^`\n]*\n(.*)```$/s;

function settle(text: string, result: SchemaResult, { outputKey, onInvalid }: OutputOptions): unknown {
  checkObject(result, 'the answer of the schema');
  if (result.issues === undefined) {
    return result.value;
  }
  const reasons = result.issues.map(({ message }) => message).join('; ');
  const error = new StatepadError(
    'SCHEMA_INVALID',
    `the answer for "${outputKey}" does not match the schema: ${reasons}`,
    {
      key: outputKey,
    },
  );
  if (onInvalid === 'throw') {
    throw error;
  }
  onInvalid?.(error);
  return text;
}
