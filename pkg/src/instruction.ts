// Our templates as the instruction of an ADK agent.

import type { ReadonlyContext } from '@google/adk';
import { injectSessionState } from './inject.js';
import { Template } from './template.js';
import { ready } from './wasm.js';

/** A template, or a function whose text is used as it is. */
export type Instruction = string | Template | ((context: ReadonlyContext) => string | Promise<string>);

/**
 * An instruction for `LlmAgent` that renders with statepad's templates: literal braces and JSON stay, keys may be in
 * any script, paths lead into values, and `temp:` values that came by an event's delta are there.
 *
 * @example
 * new LlmAgent({ name: 'tutor', model, instruction: instruction('Explain {topic} as {"level": "{user:level?}"}.') });
 */
export function instruction(from: Instruction): (context: ReadonlyContext) => Promise<string> {
  if (typeof from === 'function') {
    return async (context) => await from(context);
  }
  let compiled = from instanceof Template ? from : undefined;
  return async (context) => {
    await ready();
    compiled ??= new Template(from as string);
    return await injectSessionState(compiled, context);
  };
}
