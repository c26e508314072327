// Agents that write in one order and have their events appended in another.

import { BaseAgent, Context, createEvent, ParallelAgent } from '@google/adk';
import { gate } from '../support/gate.mjs';

/**
 * An agent that writes once it may and yields the event once it may.
 */
class Writer extends BaseAgent {
  /**
   * @param {string} name @param {{ write: (state: import('@google/adk').State) => unknown, send: () =>
   * unknown }} steps
   */
  constructor(name, steps) {
    super({ name });
    this.steps = steps;
  }

  /** @param {import('@google/adk').InvocationContext} invocationContext */
  async *runAsyncImpl(invocationContext) {
    const context = new Context({ invocationContext });
    await this.steps.write(context.state);
    await this.steps.send();
    yield createEvent({ author: this.name, invocationId: invocationContext.invocationId, actions: context.actions });
  }

  /** @returns {AsyncGenerator<import('@google/adk').Event, void, void>} */
  runLiveImpl() {
    throw new Error('not live');
  }
}

/**
 * Two branches: `early` writes first; `late` writes second and its event is appended first.
 *
 * @param {(state: import('@google/adk').State) => unknown} early
 * @param {(state: import('@google/adk').State) => unknown} late
 */
export function crossed(early, late) {
  const written = gate();
  const appended = gate();
  return new ParallelAgent({
    name: 'crossed',
    subAgents: [
      new Writer('early', {
        async write(state) {
          early(state);
          written.open();
        },
        send: () => appended.opened,
      }),
      new Writer('late', {
        async write(state) {
          await written.opened;
          late(state);
        },
        async send() {
          setImmediate(() => setImmediate(appended.open));
        },
      }),
    ],
  });
}
