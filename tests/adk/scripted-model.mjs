/**
 * A model without a network: it says the steps that it was given, one per request, and remembers the requests.
 */
import { BaseLlm } from '@google/adk';

/**
 * One step of a model: a text, a part, several parts, a whole response, several responses, or a function of the
 * request that gives one of these.
 *
 * @typedef {import('@google/genai').Part} Part
 * @typedef {import('@google/adk').LlmRequest} LlmRequest
 * @typedef {import('@google/adk').LlmResponse} LlmResponse
 * @typedef {string | Part | Part[] | { responses: LlmResponse[] }} Said
 * @typedef {Said | ((request: LlmRequest) => Said | Promise<Said>)} Step
 */

const IDENTITY = /^You are an agent\. Your internal name is "\w+"\.\s*(?:The description about you is ".*"\s*)?/u;

/** Says its steps in order; after the last one it says nothing. */
export class ScriptedModel extends BaseLlm {
  /** Every request as the model received it. @type {LlmRequest[]} */
  requests = [];
  #steps;

  /** @param {Step[]} steps */
  constructor(...steps) {
    super({ model: 'scripted' });
    this.#steps = steps;
  }

  /** The instructions that the model received, in order, without the sentences in which ADK names the agent. */
  get instructions() {
    return this.requests.map(({ config }) => String(config?.systemInstruction ?? '').replace(IDENTITY, ''));
  }

  /** The texts of the contents of the last request. */
  get heard() {
    const contents = this.requests.at(-1)?.contents ?? [];
    return contents.flatMap((content) => content.parts ?? []).flatMap((part) => part.text ?? []);
  }

  /** @param {LlmRequest} request */
  async *generateContentAsync(request) {
    this.requests.push(request);
    const step = this.#steps.shift();
    if (step === undefined) return;
    const said = typeof step === 'function' ? await step(request) : step;
    if (typeof said === 'object' && 'responses' in said) {
      yield* /** @type {{ responses: LlmResponse[] }} */ (said).responses;
      return;
    }
    const parts = typeof said === 'string' ? [{ text: said }] : /** @type {Part[]} */ ([said].flat());
    yield { content: { role: 'model', parts } };
  }

  /** @returns {Promise<never>} */
  async connect() {
    throw new Error('a scripted model has no live connection');
  }
}

/**
 * A part that calls a tool.
 *
 * @param {string} name
 * @param {Record<string, unknown>} [args]
 * @returns {Part}
 */
export function call(name, args = {}) {
  return { functionCall: { name, args } };
}
