/**
 * Loaded before a program (`node --import`): every model of ADK answers with the text of the variable `MODEL_SAYS`,
 * and no network is used.
 */
import { BaseLlm, LLMRegistry, LogLevel, setLogLevel } from '@google/adk';

setLogLevel(LogLevel.ERROR);

class Model extends BaseLlm {
  async *generateContentAsync() {
    yield { content: { role: 'model', parts: [{ text: process.env.MODEL_SAYS }] } };
  }

  async connect() {
    throw new Error('this model has no live connection');
  }
}

LLMRegistry.resolve = () => Model;
