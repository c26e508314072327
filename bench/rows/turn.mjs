/**
 * A whole turn through ADK's Runner on a session of 1,000 events: a router with an instruction template hands over to
 * a sub-agent, which calls a tool and writes its answer to the state. The model is scripted: what takes time is ADK
 * and the service.
 */

import {
  BaseLlm,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  SequentialAgent,
  setLogLevel,
} from '@google/adk';
import { fill, readEvents, stateText } from '../workload.mjs';
import { median } from '../cold.mjs';
import { timeSamples } from '../measure.mjs';

const LENGTH = 1_000;
/** A turn adds six events: after five of them a session has grown by three percent. */
const TURNS = 5;
const keyOf = (index) => ({ appName: 'app', userId: `user-${index}`, sessionId: 'session' });

/** Calls the tool when it was not called yet in this turn, and answers otherwise. */
class ScriptedModel extends BaseLlm {
  #answers;
  #next = 0;

  constructor(answers) {
    super({ model: 'scripted' });
    this.#answers = answers;
  }

  async *generateContentAsync() {
    const part = this.#answers[this.#next % this.#answers.length];
    this.#next += 1;
    yield { content: { role: 'model', parts: [structuredClone(part)] } };
  }

  async connect() {
    throw new Error('a scripted model has no live connection');
  }
}

function agentTree() {
  const tide = new FunctionTool({
    name: 'tide',
    description: 'Tells the height of the tide.',
    execute: (_, context) => {
      context.state.set('user:level', 5);
      return { metres: 4.2 };
    },
  });
  const research = new LlmAgent({
    name: 'research',
    model: new ScriptedModel([
      { functionCall: { name: 'tide', args: {} } },
      { text: 'The tide stands at 4.2 metres.' },
    ]),
    instruction: 'Find out about {topic} for {user:name}.',
    tools: [tide],
    outputKey: 'finding',
  });
  const answer = new LlmAgent({
    name: 'answer',
    model: new ScriptedModel([{ text: 'It is high water.' }]),
    instruction: 'Answer with {finding} in the tone {user:tone}.',
    outputKey: 'answer',
  });
  return new SequentialAgent({ name: 'tutor', subAgents: [research, answer] });
}

async function play(runner, { userId, sessionId }) {
  let events = 0;
  const newMessage = { role: 'user', parts: [{ text: 'How high is the tide?' }] };
  for await (const event of runner.runAsync({ userId, sessionId, newMessage, stateDelta: { 'app:served': 1 } })) {
    events += event.content ? 1 : 0;
  }
  return events;
}

/** The calls of the Runner. It has one in flight at a time, so that their times add up. */
const CALLS = ['createSession', 'getSession', 'appendEvent'];

/** Adds up the time within the calls of a service. The work of a handle that is read is not part of it. */
function watch(service) {
  const spent = { milliseconds: 0 };
  for (const name of CALLS) {
    const call = service[name].bind(service);
    service[name] = async (request) => {
      const started = performance.now();
      try {
        return await call(request);
      } finally {
        spent.milliseconds += performance.now() - started;
      }
    };
  }
  return spent;
}

/** A turn on the service of a side. Of the time, `service` is what its calls took, and the rest is ADK's own. */
export async function turn(_, { quick, side }) {
  setLogLevel(LogLevel.ERROR);
  const service = await services[side]();
  const runner = new Runner({ appName: 'app', agent: agentTree(), sessionService: service });
  const samples = quick ? 20 : 100;
  // The library calls once or twice before it counts.
  const sessions = Math.ceil((samples + 3) / TURNS);
  for (let index = 0; index <= sessions; index += 1) {
    await fill(service, keyOf(index), LENGTH);
  }
  await play(runner, keyOf(sessions));
  const session = await service.getSession(keyOf(sessions));
  const proof = {
    events: session.events.length,
    characters: readEvents({ events: session.events.slice(0, LENGTH) }),
    state: stateText(session.state),
  };

  const spent = watch(service);
  const parts = [];
  let turns = 0;
  const sample = async () => {
    const key = keyOf(Math.floor(turns / TURNS));
    turns += 1;
    spent.milliseconds = 0;
    const started = performance.now();
    const events = await play(runner, key);
    const elapsed = (performance.now() - started) * 1e6;
    parts.push(spent.milliseconds * 1e6);
    if (events === 0) throw new Error('the turn said nothing');
    return elapsed;
  };
  const figure = await timeSamples(sample, samples);
  return { proof, ...figure, service: median(parts) };
}

const services = {
  async statepad() {
    const { StatepadSessionService } = await import('statepad/adk');
    return new StatepadSessionService();
  },
  adk: async () => new InMemorySessionService(),
};
