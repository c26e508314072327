/**
 * The sides of the comparison behind one shape. Each is imported when asked for: a process that measures one of them
 * never loads the others.
 */

import { randomUUID } from 'node:crypto';
import { fill, makeEvent } from './workload.mjs';

/**
 * @typedef {object} Side
 * @property {() => any} createService
 * @property {(text: string, context: object) => Promise<string>} inject
 * @property {(text: string) => (state: object) => any} compile
 * @property {(service: any, session: any, author: string) => any} invocation begins one: a context with `state.set`,
 * `child`, `render`, `append` and `end`
 * @property {(service: any, key: object, length: number) => Promise<any>} [fill] a way to a long history that does not
 * take the square of its length
 */

/** @type {Record<string, () => Promise<Side>>} */
export const sides = {
  async statepad() {
    const { SessionService, Template, injectSessionState } = await import('statepad');
    return {
      createService: () => new SessionService(),
      invocation: (service, session, author) => service.invocation(session, { author }),
      inject: injectSessionState,
      compile(text) {
        const template = new Template(text);
        return (state) => template.render({ state });
      },
    };
  },

  async adk() {
    // The very modules that ADK runs, without the rest that its entry loads; the function is exported nowhere else.
    const module = (path) => import(new URL(path, import.meta.resolve('@google/adk')).href);
    const { InMemorySessionService } = await module('./sessions/in_memory_session_service.js');
    const { injectSessionState } = await module('./agents/instructions.js');
    const { State } = await module('./sessions/state.js');
    return {
      createService: () => new InMemorySessionService(),
      invocation: (service, session, author) =>
        new AdkContext({ service, session, State, injectSessionState }, author, randomUUID()),
      fill: fillAdk,
      inject: injectSessionState,
      // ADK has nothing to compile to: this is what its users call, each time.
      compile: (text) => (state) => injectSessionState(text, { invocationContext: { session: { state } } }),
    };
  },

  async pure() {
    const { PureSessionService } = await import('./pure/service.mjs');
    const { compile, inject } = await import('./pure/template.mjs');
    return {
      createService: () => new PureSessionService(),
      invocation: (service, session, author) => service.invocation(session, { author }),
      inject,
      compile,
    };
  },
};

/** The work of ADK's contexts on a session: a `State` over its values, whose delta goes into the event. */
class AdkContext {
  #adk;
  #stateDelta = {};

  constructor(adk, author, invocationId) {
    this.#adk = adk;
    this.author = author;
    this.invocationId = invocationId;
    this.state = new adk.State(adk.session.state, this.#stateDelta);
  }

  child(author) {
    return new AdkContext(this.#adk, author, this.invocationId);
  }

  async render(text) {
    const { session, injectSessionState } = this.#adk;
    return await injectSessionState(text, { invocationContext: { session } });
  }

  async append(event) {
    const { author, invocationId } = this;
    const { service, session } = this.#adk;
    const actions = { ...event.actions, stateDelta: { ...event.actions.stateDelta, ...this.#stateDelta } };
    return await service.appendEvent({ session, event: { author, ...event, invocationId, actions } });
  }

  end() {
    // Nothing to do.
  }
}

/** ADK looks through all events at each append: all but the first and the last are put where it keeps them. */
async function fillAdk(service, key, length) {
  const session = await fill(service, key, 1);
  const stored = service.sessions[key.appName][key.userId][key.sessionId];
  for (let number = 1; number < length - 1; number += 1) {
    const event = makeEvent(number);
    session.events.push(event);
    stored.events.push(event);
  }
  await service.appendEvent({ session, event: makeEvent(length - 1) });
  return session;
}
