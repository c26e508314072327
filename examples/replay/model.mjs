/**
 * The model: it answers from the conversation instead of calling a service, and tells what it was told.
 */
import { BaseLlm } from '@google/adk';

/**
 * One step of a scripted model: a text, or a call of the tool `note`.
 *
 * @typedef {{ text: string } | { set: Record<string, unknown>, remove: string[] }} Saying
 */

/** A model without a network: asks a function for its next words. */
export class ScriptedModel extends BaseLlm {
  #answer;

  /**
   * @param {string} name
   * @param {(instruction: string) => Saying[]} answer gets the instruction as it was really received
   */
  constructor(name, answer) {
    super({ model: `scripted-${name}` });
    this.#answer = answer;
  }

  /** @param {import('@google/adk').LlmRequest} request */
  async *generateContentAsync(request) {
    const instruction = request.config?.systemInstruction;
    for (const saying of this.#answer(typeof instruction === 'string' ? instruction : '')) {
      yield { content: { role: 'model', parts: [partOf(saying)] } };
    }
  }

  /** @returns {Promise<never>} */
  async connect() {
    throw new Error('a scripted model has no live connection');
  }
}

/** @param {Saying} saying */
function partOf(saying) {
  return 'text' in saying ? { text: saying.text } : { functionCall: { name: 'note', args: { ...saying } } };
}
