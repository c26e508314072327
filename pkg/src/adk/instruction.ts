// The package's templates as the instruction of an ADK agent.

import type { ReadonlyContext } from '@google/adk';
import { StatepadError } from '../model/errors.js';
import { injectSessionState } from '../template/inject.js';
import { Template } from '../template/template.js';
import { ready } from '../engine/wasm.js';

/** A template, or a function that returns a text, which is used unchanged. */
export type Instruction = string | Template | ((context: ReadonlyContext) => string | PromiseLike<string>);

/**
 * An instruction for `LlmAgent` that renders with statepad's templates: literal braces and JSON stay, keys may be in
 * any script, paths lead into values, and `temp:` values of an event's delta are available.
 *
 * Throws `INVALID_ARGUMENT` for any other type; its answer rejects with it when a function returns no text.
 *
 * @example
 * new LlmAgent({ name: 'tutor', model, instruction: instruction('Explain {topic} as {"level": "{user:level?}"}.') });
 */
export function instruction(from: Instruction): (context: ReadonlyContext) => Promise<string> {
  if (typeof from === 'function') {
    return async (context) => {
      const text: unknown = await from(context);
      if (typeof text !== 'string') {
        throw new StatepadError('INVALID_ARGUMENT', 'the instruction must return a text', { path: 'instruction' });
      }
      return text;
    };
  }
  if (typeof from !== 'string' && !((from as unknown) instanceof Template)) {
    throw new StatepadError('INVALID_ARGUMENT', 'an instruction must be a text, a Template or a function', {
      path: 'instruction',
    });
  }
  let compiled = typeof from === 'string' ? undefined : from;
  return async (context) => {
    await ready();
    compiled ??= new Template(from as string);
    return await injectSessionState(compiled, context);
  };
}
