/**
 * Loaded before a program (`node --import`): every model of ADK answers with the text of the variable `MODEL_SAYS`,
 * or, where that is a JSON object that names the agent, with the agent's text; and no network is used.
 */
import { BaseLlm, LLMRegistry, LogLevel, setLogLevel } from '@google/adk';

setLogLevel(LogLevel.ERROR);

/** The sentence in which ADK names the agent. */
const NAME = /^You are an agent\. Your internal name is "(\w+)"/;

class Model extends BaseLlm {
  async *generateContentAsync({ config }) {
    const says = process.env.MODEL_SAYS;
    const name = NAME.exec(String(config?.systemInstruction))?.[1];
    yield {
      content: { role: 'model', parts: [{ text: says.startsWith('{') ? (JSON.parse(says)[name] ?? says) : says }] },
    };
  }

  async connect() {
    throw new Error('this model has no live connection');
  }
}

LLMRegistry.resolve = () => Model;
