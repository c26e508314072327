/**
 * The sides of the comparison behind one shape. Each is imported when asked for: a process that measures one of them
 * never loads the others.
 */

/**
 * @typedef {{ createService(): any, inject(text: string, context: object): Promise<string>, compile(text: string):
 * (state: object) => any }} Side
 */

/** @type {Record<string, () => Promise<Side>>} */
export const sides = {
  async statepad() {
    const { SessionService, Template, injectSessionState } = await import('statepad');
    return {
      createService: () => new SessionService(),
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
    return {
      createService: () => new InMemorySessionService(),
      inject: injectSessionState,
      // ADK has nothing to compile to: this is what its users call, each time.
      compile: (text) => (state) => injectSessionState(text, { invocationContext: { session: { state } } }),
    };
  },

  async pure() {
    const { PureSessionService, compile, inject } = await import('./pure-js.mjs');
    return { createService: () => new PureSessionService(), inject, compile };
  },
};
